package load

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// journalVersion is that of the journal and of the scratch files beside it.
const journalVersion = 1

const journalName = "journal"

// journalEntry is a line of the journal; one of its parts is set.
type journalEntry struct {
	Load  *loadEntry  `json:"load,omitempty"`
	File  *fileEntry  `json:"file,omitempty"`
	Done  *doneEntry  `json:"done,omitempty"`
	Batch *batchEntry `json:"batch,omitempty"`
}

// loadEntry says what is loaded; a load with another one does not continue.
type loadEntry struct {
	Version  int    `json:"version"`
	KG       string `json:"kg"`
	Language string `json:"language,omitempty"`
	Mode     Mode   `json:"mode,omitempty"`
	Strict   bool   `json:"strict,omitempty"`
	// Provenance is that of the options.
	Provenance bool `json:"provenance,omitempty"`
}

// fileEntry is a file whose reading began.
type fileEntry struct {
	Number int `json:"number"`
	identity
}

// identity identifies a file, by its first bytes too.
type identity struct {
	Name   string `json:"name"`
	Format string `json:"format"`
	Head   uint64 `json:"head,omitempty"`
}

// doneEntry is a file that was read to the end.
type doneEntry struct {
	Number   int        `json:"number"`
	Lines    uint64     `json:"lines"`
	BadLines uint64     `json:"bad_lines,omitempty"`
	Errors   []badPlace `json:"errors,omitempty"`
	Sum      *streamSum `json:"sum,omitempty"`
}

// streamSum identifies the content of a stream, which has no modification time.
type streamSum struct {
	Bytes int64  `json:"bytes"`
	CRC   uint32 `json:"crc"`
}

// badPlace is a source.PlaceError.
type badPlace struct {
	File    string `json:"file"`
	Line    uint64 `json:"line,omitempty"`
	Byte    uint64 `json:"byte,omitempty"`
	Message string `json:"says"`
}

func toBadPlaces(of []*LineError) []badPlace {
	var places []badPlace
	for _, e := range of {
		places = append(places, badPlace{e.File, e.Line, e.Byte, e.Err.Error()})
	}
	return places
}

func toLineErrors(of []badPlace) []*LineError {
	var errs []*LineError
	for _, b := range of {
		errs = append(errs, &LineError{File: b.File, Line: b.Line, Byte: b.Byte, Err: errors.New(b.Message)})
	}
	return errs
}

// batchEntry is a batch that is whole in scratch files, and how far the files were read with it.
type batchEntry struct {
	Number     int   `json:"number"`
	Keys       int   `json:"keys"`
	Rows       int   `json:"rows"`
	Vocabulary int64 `json:"vocabulary"`
	Facts      int64 `json:"facts"`
	position
}

// position is how far the files were read: File by its number, in it a mark
// and what was bad before that, and how many statements after the mark.
type position struct {
	File       int        `json:"at_file"`
	Bytes      int64      `json:"bytes,omitempty"`
	Lines      uint64     `json:"lines,omitempty"`
	BadLines   uint64     `json:"bad_lines,omitempty"`
	Errors     []badPlace `json:"errors,omitempty"`
	Statements uint64     `json:"statements,omitempty"`
}

// journal says what a load has done, so that it can continue after it was killed. Nothing is
// written before there is a batch to keep. It is safe for concurrent use.
type journal struct {
	scratch *scratch
	mu      sync.Mutex
	waiting bytes.Buffer
	path    string
	lock    *os.File
}

// record adds an entry that says nothing about scratch files.
func (j *journal) record(e journalEntry) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := json.NewEncoder(&j.waiting).Encode(e); err != nil {
		return err
	}
	if j.path == "" {
		return nil
	}
	return j.flush()
}

// recordBatch adds a batch, and with it what waited.
func (j *journal) recordBatch(e batchEntry) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := json.NewEncoder(&j.waiting).Encode(journalEntry{Batch: &e}); err != nil {
		return err
	}
	return j.flush()
}

func (j *journal) flush() (err error) {
	if j.path, err = j.scratch.path(journalName); err != nil {
		return err
	}
	f, err := j.scratch.disk.Append(j.path)
	if err == nil {
		_, err = f.Write(j.waiting.Bytes())
		if closeErr := f.Close(); err == nil {
			err = closeErr
		}
	}
	j.waiting.Reset()
	if err != nil {
		return markDiskFull(fmt.Errorf("write the journal of the load: %w", err))
	}
	return nil
}

// history is the journal of an interrupted load.
type history struct {
	load    loadEntry
	files   map[int]fileEntry
	done    map[int]doneEntry
	batches []batchEntry
	// validBytes is the number of bytes of the journal are whole lines.
	validBytes int64
}

// resumePoint is where the load continues.
func (h *history) resumePoint() position {
	if len(h.batches) == 0 {
		return position{}
	}
	return h.batches[len(h.batches)-1].position
}

// readJournal reads what there is; a last line that is not whole was being written when the load
// ended and does not count. If there is no other, or no journal, it returns nil.
func readJournal(dir string) (*history, error) {
	f, err := os.Open(filepath.Join(dir, journalName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h := &history{files: map[int]fileEntry{}, done: map[int]doneEntry{}}
	in := bufio.NewReader(f)
	for first := true; ; first = false {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			if first { // cut off before it said anything: nothing was begun
				return nil, nil
			}
			return h, nil
		}
		if err != nil {
			return nil, err
		}
		h.validBytes += int64(len(line))
		var e journalEntry
		if err := json.Unmarshal(line, &e); err != nil || first && e.Load == nil {
			return nil, store.Invalidf("the journal in %s is corrupt; load without resume to start over", dir)
		}
		switch {
		case e.Load != nil:
			h.load = *e.Load
		case e.File != nil:
			h.files[e.File.Number] = *e.File
			delete(h.done, e.File.Number)
		case e.Done != nil:
			h.done[e.Done.Number] = *e.Done
		case e.Batch != nil && e.Batch.Number == len(h.batches):
			h.batches = append(h.batches, *e.Batch)
		}
	}
}

// openBatches returns the batches as they lie in scratch files, and removes all else
// that the load has left.
func (h *history) openBatches(s *scratch) ([]*partial, error) {
	found, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, err
	}
	for _, f := range found {
		if f.Name() == journalName || strings.HasPrefix(f.Name(), batchPrefix) {
			continue
		}
		if err := s.disk.Remove(filepath.Join(s.dir, f.Name())); err != nil {
			return nil, err
		}
	}
	var parts []*partial
	for _, e := range h.batches {
		p := &partial{vocabulary: s.spool("vocabulary", 0), facts: s.spool("facts", 0), keys: e.Keys,
			rows: e.Rows, keepFiles: true}
		for _, file := range []struct {
			spool  *spool
			ending string
			size   int64
		}{{p.vocabulary, ".vocabulary", e.Vocabulary}, {p.facts, ".facts", e.Facts}} {
			path, err := s.path(batchName(e.Number) + file.ending)
			if err != nil {
				return nil, err
			}
			info, err := os.Stat(path)
			if err != nil || info.Size() != file.size {
				return nil, store.Invalidf("scratch file %s does not match the journal (error %v); load without "+
					"resume to start over", path, err)
			}
			file.spool.path, file.spool.size = path, file.size
		}
		parts = append(parts, p)
	}
	return parts, nil
}

// acquire keeps other processes out of a directory for scratch files.
func (j *journal) acquire(dir string) error {
	if err := j.scratch.disk.MkdirAll(filepath.Dir(dir)); err != nil {
		return markDiskFull(fmt.Errorf("create the scratch directory: %w", err))
	}
	for {
		f, err := os.OpenFile(dir+".lock", os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return markDiskFull(fmt.Errorf("lock the scratch directory: %w", err))
		}
		if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
			_ = f.Close() // Nothing was written.
			return fmt.Errorf("%s: %w", dir, ErrBusy)
		}
		// The previous holder may have removed the lock file in between.
		mine, err := f.Stat()
		there, statErr := os.Stat(f.Name())
		if err == nil && statErr == nil && os.SameFile(mine, there) {
			j.lock = f
			return nil
		}
		_ = f.Close()
	}
}

// ErrBusy means that another load uses the directory for scratch files.
var ErrBusy = errors.New("another load of the knowledge graph is running; wait until it ends")

// release unlocks the directory.
func (j *journal) release() {
	if j.lock != nil {
		_ = os.Remove(j.lock.Name())
		_ = j.lock.Close()
		j.lock = nil
	}
}
