package propose

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/triplemesh/triplemesh/internal/config"
)

// Sheet is a file of proposals. It is written as a whole after each change, so
// that it is whole whenever the process ends. What somebody else changed in it
// meanwhile is read again first and stays.
type Sheet struct {
	path string
	rows []Row
	// size and changed are those of the file as it was last read or written.
	size    int64
	changed time.Time
}

// OpenSheet reads a sheet; one that is not there is empty.
func OpenSheet(path string) (*Sheet, error) {
	s := &Sheet{path: path}
	return s, s.refresh()
}

// Rows returns all proposals in the order of the sheet.
func (s *Sheet) Rows() []Row { return slices.Clone(s.rows) }

// Add puts proposals at the end and returns how many were not there before.
// What is there already gains another place.
func (s *Sheet) Add(rows []Row) (added int, err error) {
	if err := s.refresh(); err != nil {
		return 0, err
	}
	places, facts := map[string]int{}, map[string]int{}
	for i, row := range s.rows {
		places[row.ID], facts[row.fact()] = i, i
	}
	for _, row := range rows {
		row.tidy()
		if row.Subject == "" || row.Relation == "" || row.Object == "" {
			continue
		}
		i, there := places[row.ID]
		if !there && row.From == "" && row.To == "" {
			i, there = facts[row.fact()] // with the time at which it held, it says more
		}
		if there {
			s.rows[i].gain(row.Place())
			continue
		}
		places[row.ID], facts[row.fact()] = len(s.rows), len(s.rows)
		s.rows = append(s.rows, row)
		added++
	}
	return added, s.save()
}

// fact returns what the row says, whatever the case of its letters and whenever it
// held.
func (r *Row) fact() string {
	return strings.ToLower(r.Subject + "\t" + r.Relation + "\t" + r.Object)
}

// mostAlso is how many other places a row names.
const mostAlso = 20

// gain adds another place that says the same.
func (r *Row) gain(place string) {
	others := strings.Fields(r.Also)
	place = strings.ReplaceAll(place, " ", "%20")
	if place == strings.ReplaceAll(r.Place(), " ", "%20") || slices.Contains(others, place) || len(others) >= mostAlso {
		return
	}
	r.Also = strings.Join(append(others, place), " ")
}

// Suggest fills in, for the rows that nobody decided on, the names that theirs
// may be other spellings of.
func (s *Sheet) Suggest() error {
	if err := s.refresh(); err != nil {
		return err
	}
	var names []string
	for _, row := range s.rows {
		if row.Mark == Rejected {
			continue
		}
		subject, object := row.Names()
		names = append(names, subject, object)
	}
	like := Alike(names)
	for i, row := range s.rows {
		if row.Mark == Open {
			s.rows[i].SubjectLike, s.rows[i].ObjectLike = like[row.Subject], like[row.Object]
		}
	}
	return s.save()
}

// Replace replaces the i-th row.
func (s *Sheet) Replace(i int, row Row) error {
	s.rows[i] = row
	return s.save()
}

// refresh reads the file where it is another than the one that was last read or
// written.
func (s *Sheet) refresh() error {
	info, err := os.Stat(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the sheet: %w", err)
	}
	if info.Size() == s.size && info.ModTime().Equal(s.changed) {
		return nil
	}
	f, err := os.Open(s.path)
	if err != nil {
		return fmt.Errorf("read the sheet: %w", err)
	}
	defer f.Close()
	if s.rows, err = readRows(s.path, f); err != nil {
		return err
	}
	s.size, s.changed = info.Size(), info.ModTime()
	return nil
}

func (s *Sheet) save() error {
	if _, err := config.ReplaceFileFunc(s.path, 0o644,
		func(w io.Writer) error { return write(w, s.rows) }); err != nil {
		return fmt.Errorf("write the sheet: %w", err)
	}
	info, err := os.Stat(s.path)
	if err != nil {
		return fmt.Errorf("write the sheet: %w", err)
	}
	s.size, s.changed = info.Size(), info.ModTime()
	return nil
}
