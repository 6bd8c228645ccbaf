package propose

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// record is the file of processed passages: a line holds the passage's key and its source file. An
// incomplete last line, left by a crash, is skipped and its passage processed again.
type record struct {
	file *os.File
	keys map[string]bool
}

// recordPath returns the path of a sheet's record.
func recordPath(sheet string) string { return sheet + ".asked" }

// openRecord reads the record of a sheet. If the sheet was removed, the record is truncated.
func openRecord(sheet string) (*record, error) {
	r := &record{keys: map[string]bool{}}
	flags := os.O_RDWR | os.O_CREATE | os.O_APPEND
	if _, err := os.Stat(sheet); errors.Is(err, fs.ErrNotExist) {
		flags |= os.O_TRUNC
	}
	var err error
	if r.file, err = os.OpenFile(recordPath(sheet), flags, 0o644); err != nil {
		return nil, fmt.Errorf("open the record of what was asked: %w", err)
	}
	lines := bufio.NewScanner(r.file)
	for lines.Scan() {
		if key, _, whole := strings.Cut(lines.Text(), "\t"); whole {
			r.keys[key] = true
		}
	}
	if err := lines.Err(); err != nil {
		return nil, errors.Join(fmt.Errorf("read the record of what was asked: %w", err), r.file.Close())
	}
	return r, nil
}

// has reports whether a passage is processed or scheduled.
func (r *record) has(key string) bool { return r.keys[key] }

// expect marks a passage as scheduled in this run.
func (r *record) expect(key string) { r.keys[key] = true }

// add records that the proposals of a passage are in the sheet.
func (r *record) add(key, file string) error {
	if _, err := fmt.Fprintf(r.file, "%s\t%s\n", key, strings.Map(oneLine, file)); err != nil {
		return fmt.Errorf("write the record of what was asked: %w", err)
	}
	return nil
}

func (r *record) close() { _ = r.file.Close() }
