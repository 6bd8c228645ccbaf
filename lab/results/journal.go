package results

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

const runsName = "runs.jsonl"

// Journal keeps the records of an evaluation under way, in memory and, where it
// has a directory, in a file to which each question adds one line.
type Journal struct {
	dir      string
	manifest Manifest
	records  map[string]Record
	file     journalFile // nil if nothing is written
	size     int64       // of the file's whole lines
}

// journalFile is what the journal needs of a file.
type journalFile interface {
	io.WriteCloser
	Truncate(size int64) error
	Sync() error
}

// Resume opens the results in a directory to add to them; it is made if need
// be. What is there is read. With no directory the results are kept in memory
// alone.
//
// A last line that was cut short is dropped: its question is asked again.
// Results of another evaluation, a line that is no result, and a directory
// that another process writes to are errors.
func Resume(dir string, here Manifest) (*Journal, error) {
	j := &Journal{dir: dir, manifest: here, records: make(map[string]Record)}
	if dir == "" {
		return j, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make results directory: %w", err)
	}
	if _, err := os.Stat(filepath.Join(dir, packedName)); err == nil {
		return nil, fmt.Errorf("open results: %s are packed; choose another --out, or unpack them with gunzip",
			filepath.Join(dir, packedName))
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

func (j *Journal) open(file *os.File, here Manifest) (err error) {
	if err := lock(file); err != nil {
		return fmt.Errorf("open results: %s is in use by another evaluation (%w); wait for it, or choose another --out",
			j.dir, err)
	}
	if j.manifest, err = reconcile(j.dir, here); err != nil {
		return err
	}
	if err := j.load(file); err != nil {
		return fmt.Errorf("read results %s: %w", file.Name(), err)
	}
	if err := file.Truncate(j.size); err != nil {
		return fmt.Errorf("drop the unfinished last line of %s: %w", file.Name(), err)
	}
	return nil
}

// load takes in every whole line.
func (j *Journal) load(r io.Reader) error {
	return eachLine(r, func(text []byte, _ span, record Record) error {
		j.records[record.ID] = record
		j.size += int64(len(text))
		return nil
	})
}

// Dir returns the directory; empty if there is none.
func (j *Journal) Dir() string { return j.dir }

// Manifest returns what the results are of, as far as it is known by now.
func (j *Journal) Manifest() Manifest { return j.manifest }

// Record returns what is kept of a question; false if it was not asked yet.
func (j *Journal) Record(id string) (Record, bool) {
	record, asked := j.records[id]
	return record, asked
}

// IsAnswered reports whether a question need not be asked.
func (j *Journal) IsAnswered(id string) bool { return j.records[id].Measures != nil }

// Add keeps a line. A line that cannot be written whole is not written at all.
func (j *Journal) Add(l Line) error {
	if j.file != nil {
		text, err := l.encode()
		if err != nil {
			return fmt.Errorf("write results: question %s: %w", l.ID, err)
		}
		if _, err := j.file.Write(text); err != nil {
			return errors.Join(fmt.Errorf("write results to %s: %w", j.dir, err), j.file.Truncate(j.size))
		}
		j.size += int64(len(text))
	}
	j.records[l.ID] = l.Record
	return nil
}

// Settle keeps what an answer has told of the evaluation: its snapshots, its
// models.
func (j *Journal) Settle(m Manifest) error {
	if j.file != nil {
		if err := writeManifest(j.dir, m); err != nil {
			return err
		}
	}
	j.manifest = m
	return nil
}

// Close writes out what is not yet on the disk.
func (j *Journal) Close() error {
	if j.file == nil {
		return nil
	}
	if err := errors.Join(j.file.Sync(), j.file.Close()); err != nil {
		return fmt.Errorf("write results to %s: %w", j.dir, err)
	}
	return nil
}
