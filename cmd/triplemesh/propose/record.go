package propose

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// record knows which passages were asked about. It is a file of lines, a key and
// the file it came from; a line that was cut short when the process died is
// passed over, and its passage asked about again.
type record struct {
	file *os.File
	keys map[string]bool
}

// recordOf is where the record of a sheet lies.
func recordOf(sheet string) string { return sheet + ".asked" }

// openRecord reads the record of a sheet. That of a sheet which is gone counts
// no longer: who removes the sheet begins anew.
func openRecord(sheet string) (*record, error) {
	r := &record{keys: map[string]bool{}}
	flags := os.O_RDWR | os.O_CREATE | os.O_APPEND
	if _, err := os.Stat(sheet); errors.Is(err, fs.ErrNotExist) {
		flags |= os.O_TRUNC
	}
	var err error
	if r.file, err = os.OpenFile(recordOf(sheet), flags, 0o644); err != nil {
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

// has tells whether a passage was asked about, or will be.
func (r *record) has(key string) bool { return r.keys[key] }

// expect tells that a passage will be asked about in this run.
func (r *record) expect(key string) { r.keys[key] = true }

// add tells that a passage was asked about and its proposals are in the sheet.
func (r *record) add(key, file string) error {
	if _, err := fmt.Fprintf(r.file, "%s\t%s\n", key, strings.Map(oneLine, file)); err != nil {
		return fmt.Errorf("write the record of what was asked: %w", err)
	}
	return nil
}

func (r *record) close() { _ = r.file.Close() }
