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

// entry is a line of the journal; one of its parts is set.
type entry struct {
	Load  *loadEntry  `json:"load,omitempty"`
	File  *fileEntry  `json:"file,omitempty"`
	Done  *doneEntry  `json:"done,omitempty"`
	Batch *batchEntry `json:"batch,omitempty"`
}

// loadEntry says what is loaded; a load with another one does not go on.
type loadEntry struct {
	Version  int    `json:"version"`
	KG       string `json:"kg"`
	Language string `json:"language,omitempty"`
	Mode     Mode   `json:"mode,omitempty"`
	Strict   bool   `json:"strict,omitempty"`
}

// fileEntry is a file whose reading began.
type fileEntry struct {
	Number int `json:"number"`
	identity
}

// identity tells one file from another: by its size and the time of its last
// change, or where these are not known by its first bytes.
type identity struct {
	Name     string `json:"name"`
	Format   string `json:"format"`
	Size     int64  `json:"size,omitempty"`
	Modified int64  `json:"modified,omitempty"`
	Head     uint64 `json:"head,omitempty"`
}

// doneEntry is a file that was read to its end.
type doneEntry struct {
	Number   int         `json:"number"`
	Lines    uint64      `json:"lines"`
	BadLines uint64      `json:"bad_lines,omitempty"`
	Errors   []badPlace  `json:"errors,omitempty"`
	Sum      *sumOfBytes `json:"sum,omitempty"`
}

// sumOfBytes is what a stream was whose time of last change is not known.
type sumOfBytes struct {
	Bytes int64  `json:"bytes"`
	CRC   uint32 `json:"crc"`
}

// badPlace is a source.PlaceError.
type badPlace struct {
	File string `json:"file"`
	Line uint64 `json:"line,omitempty"`
	Byte uint64 `json:"byte,omitempty"`
	Says string `json:"says"`
}

func badPlaces(of []*LineError) []badPlace {
	var places []badPlace
	for _, e := range of {
		places = append(places, badPlace{e.File, e.Line, e.Byte, e.Err.Error()})
	}
	return places
}

func lineErrors(of []badPlace) []*LineError {
	var errs []*LineError
	for _, b := range of {
		errs = append(errs, &LineError{File: b.File, Line: b.Line, Byte: b.Byte, Err: errors.New(b.Says)})
	}
	return errs
}

// batchEntry is a batch that is whole in scratch files, and how far the files
// were read with it.
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

// journal says what a load has done, so that it can go on after it was killed.
// Nothing is written before there is a batch to keep. It is safe for
// concurrent use.
type journal struct {
	scratch *scratch
	mu      sync.Mutex
	waiting bytes.Buffer
	path    string
	lock    *os.File
}

// note adds an entry that says nothing about scratch files.
func (j *journal) note(e entry) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := json.NewEncoder(&j.waiting).Encode(e); err != nil {
		return err
	}
	if j.path == "" {
		return nil
	}
	return j.write()
}

// batch adds a batch, and with it what waited.
func (j *journal) batch(e batchEntry) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := json.NewEncoder(&j.waiting).Encode(entry{Batch: &e}); err != nil {
		return err
	}
	return j.write()
}

func (j *journal) write() (err error) {
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
		return full(fmt.Errorf("write the journal of the load: %w", err))
	}
	return nil
}

// history is what a journal tells of a load that was interrupted.
type history struct {
	load    loadEntry
	files   map[int]fileEntry
	done    map[int]doneEntry
	batches []batchEntry
	// whole is how many bytes of the journal are whole lines.
	whole int64
}

// at is where the load goes on.
func (h *history) at() position {
	if len(h.batches) == 0 {
		return position{}
	}
	return h.batches[len(h.batches)-1].position
}

// readJournal reads what there is; a last line that is not whole was being
// written when the load ended and does not count. Where there is no other, or no
// journal, it returns nil.
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
		h.whole += int64(len(line))
		var e entry
		if err := json.Unmarshal(line, &e); err != nil || first && e.Load == nil {
			return nil, fmt.Errorf("the journal in %s is damaged; load without resume to begin anew: %w", dir, store.ErrInvalid)
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

// parts returns the batches as they lie in scratch files, and removes all else
// that the load has left.
func (h *history) parts(s *scratch) ([]*partial, error) {
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
		p := &partial{vocabulary: s.spool("vocabulary", 0), facts: s.spool("facts", 0), keys: e.Keys, rows: e.Rows, kept: true}
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
				return nil, fmt.Errorf("scratch file %s is not what the journal says (error %v); load without resume to begin anew: %w", path, err, store.ErrInvalid)
			}
			file.spool.path, file.spool.size = path, file.size
		}
		parts = append(parts, p)
	}
	return parts, nil
}

// hold keeps other processes out of a directory for scratch files.
func (j *journal) hold(dir string) error {
	if err := j.scratch.disk.MkdirAll(filepath.Dir(dir)); err != nil {
		return full(fmt.Errorf("make the directory for scratch files: %w", err))
	}
	for {
		f, err := os.OpenFile(dir+".lock", os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return full(fmt.Errorf("lock the directory for scratch files: %w", err))
		}
		if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
			_ = f.Close() // Nothing was written.
			return fmt.Errorf("%s: %w", dir, ErrBusy)
		}
		// Who held the lock before may have removed its file in between.
		mine, err := f.Stat()
		there, statErr := os.Stat(f.Name())
		if err == nil && statErr == nil && os.SameFile(mine, there) {
			j.lock = f
			return nil
		}
		_ = f.Close()
	}
}

// ErrBusy says that another load uses the directory for scratch files.
var ErrBusy = errors.New("another load of the knowledge graph is under way; wait for its end")

// release lets others in.
func (j *journal) release() {
	if j.lock != nil {
		_ = os.Remove(j.lock.Name())
		_ = j.lock.Close()
		j.lock = nil
	}
}
