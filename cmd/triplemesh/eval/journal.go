package eval

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

const runsName = "runs.jsonl"

// journal keeps the records of an evaluation, in memory and, where it has a
// directory, in a file to which each question adds one line.
type journal struct {
	dir      string
	manifest Manifest
	records  map[string]Record
	file     journalFile // nil where nothing is written
	size     int64       // of the file's whole lines
}

// journalFile is what the journal needs of a file.
type journalFile interface {
	io.WriteCloser
	Truncate(size int64) error
	Sync() error
}

// openJournal opens the results in a directory, which is made if need be, and
// reads what is there. With no directory the results are kept in memory alone.
//
// A last line that was cut short is dropped: its question is asked again.
// Results of another evaluation, a line that is no result, and a directory
// that another process writes to are errors.
func openJournal(dir string, here Manifest) (*journal, error) {
	j := &journal{dir: dir, manifest: here, records: make(map[string]Record)}
	if dir == "" {
		return j, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make results directory: %w", err)
	}
	file, err := os.OpenFile(filepath.Join(dir, runsName), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open results: %w", err)
	}
	if err := j.open(file, here); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	j.file = file
	return j, nil
}

func (j *journal) open(file *os.File, here Manifest) (err error) {
	if err := lock(file); err != nil {
		return fmt.Errorf("open results: %s is in use by another evaluation (%w); wait for it, or choose another --out", j.dir, err)
	}
	if j.manifest, err = reconcile(j.dir, here); err != nil {
		return err
	}
	if err := j.read(file); err != nil {
		return fmt.Errorf("read results %s: %w", file.Name(), err)
	}
	if err := file.Truncate(j.size); err != nil {
		return fmt.Errorf("drop the unfinished last line of %s: %w", file.Name(), err)
	}
	return nil
}

// read takes in every whole line. Of several lines on one question the last
// one counts: a question that failed may have been asked again.
func (j *journal) read(r io.Reader) error {
	lines := bufio.NewReader(r)
	for number := 1; ; number++ {
		text, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		var record Record
		if err := json.Unmarshal(text, &record); err != nil {
			return fmt.Errorf("line %d is no result: %w; remove the line to have its question asked again", number, err)
		}
		if record.ID == "" || (record.Measures == nil) == (record.Failure == nil) {
			return fmt.Errorf("line %d is no result: it needs an id, and either measures or a failure; remove the line to have its question asked again", number)
		}
		j.records[record.ID] = record
		j.size += int64(len(text))
	}
}

// answered says whether a question need not be asked.
func (j *journal) answered(id string) bool { return j.records[id].Measures != nil }

// add keeps a line. A line that cannot be written whole is not written at all.
func (j *journal) add(l line) error {
	if j.file != nil {
		var text bytes.Buffer
		encoder := json.NewEncoder(&text)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(l); err != nil {
			return fmt.Errorf("write results: question %s: %w", l.ID, err)
		}
		if _, err := j.file.Write(text.Bytes()); err != nil {
			return errors.Join(fmt.Errorf("write results to %s: %w", j.dir, err), j.file.Truncate(j.size))
		}
		j.size += int64(text.Len())
	}
	j.records[l.ID] = l.Record
	return nil
}

// pin settles the snapshot that the evaluation reads.
func (j *journal) pin(snapshot uint64) error {
	j.manifest.Snapshot = snapshot
	if j.file == nil {
		return nil
	}
	return writeManifest(j.dir, j.manifest)
}

func (j *journal) close() error {
	if j.file == nil {
		return nil
	}
	if err := errors.Join(j.file.Sync(), j.file.Close()); err != nil {
		return fmt.Errorf("write results to %s: %w", j.dir, err)
	}
	return nil
}
