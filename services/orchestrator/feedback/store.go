// Package feedback stores what callers say about the answers of runs, separated by tenant, in a
// directory that several orchestrators may share. It does not depend on how long runs are kept.
package feedback

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"google.golang.org/protobuf/proto"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/internal/config"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/runs"
)

var (
	// ErrNotFound is the error of an id that the tenant has no feedback of, whether or not another
	// tenant has.
	ErrNotFound = errors.New("feedback not found")
	// ErrFull is the error of a tenant that has stored as many marks as it may.
	ErrFull = errors.New("the tenant has as many marks as it may store")
	// ErrDamaged is the error of a mark whose checksum does not match.
	ErrDamaged = runs.ErrDamaged
)

// format is written to the file "format"; a directory of a later format is rejected.
const format = "1"

// Dir stores each mark as a file, @TENANT/DAY/ID.pb. The id of a mark follows from run, caller and
// item (see ID), so that a later mark replaces the earlier one by a rename, without coordination
// between the orchestrators that share the directory.
type Dir struct {
	path  string
	limit int
	// reportOnce reports a file that cannot be read.
	reportOnce func(path string, err error)

	mu     sync.Mutex
	counts map[string]*markCount // by the tenant's path
}

// markCount is the number of marks of a tenant, as far as this process knows.
type markCount struct {
	marks int
	// sinceRead are the marks added since the directory was read.
	sinceRead int
}

// Open opens or creates the directory. A tenant may store limit marks, within one percent for each
// orchestrator that shares the directory; 0 is unlimited. report is called once for each file that
// cannot be read; it may be nil.
func Open(path string, limit int, report func(path string, err error)) (*Dir, error) {
	if err := runs.PrepareDir(path, format); err != nil {
		return nil, fmt.Errorf("open feedback directory %s: %w", path, err)
	}
	return &Dir{path: path, limit: limit, reportOnce: runs.ReportOnce(report), counts: map[string]*markCount{}}, nil
}

// Tenant returns the store of one tenant, or auth.ErrNoTenant for the zero value.
func (d *Dir) Tenant(id auth.Tenant) (*Store, error) {
	if id.IsZero() {
		return nil, auth.ErrNoTenant
	}
	return &Store{d, filepath.Join(d.path, "@"+id.String())}, nil
}

// Store holds one tenant's marks by id. Safe for concurrent use.
type Store struct {
	dir  *Dir
	path string // created with the first mark
}

// file returns the path of a mark; false for an invalid id, which might name any file.
func (s *Store) file(id string) (string, bool) {
	day, ok := dayOf(id)
	return filepath.Join(s.path, day, id+runs.RecordSuffix), ok
}

// Save writes marks. They are on disk when Save returns; if it fails, some of them may be. It returns
// ErrFull, and writes none, if the marks that are new do not fit.
func (s *Store) Save(marks ...*orchestratorv1.Feedback) error {
	added := 0
	for _, m := range marks {
		path, ok := s.file(m.GetId())
		if !ok {
			return fmt.Errorf("store feedback %q: it is no id", m.GetId())
		}
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			added++
		}
	}
	if err := s.reserve(added); err != nil {
		return err
	}
	for _, m := range marks {
		if err := s.write(m); err != nil {
			return fmt.Errorf("store feedback %s: %w", m.GetId(), err)
		}
	}
	return nil
}

// reserve counts new marks, or returns ErrFull.
func (s *Store) reserve(added int) error {
	if s.dir.limit == 0 || added == 0 {
		return nil
	}
	s.dir.mu.Lock()
	defer s.dir.mu.Unlock()
	count := s.dir.counts[s.path]
	// Other orchestrators add and remove marks too.
	if count == nil || count.sinceRead >= s.dir.limit/100 || count.marks+added > s.dir.limit {
		n, err := s.count()
		if err != nil {
			return err
		}
		count = &markCount{marks: n}
		s.dir.counts[s.path] = count
	}
	if count.marks+added > s.dir.limit {
		return fmt.Errorf("%w: %d of %d", ErrFull, count.marks, s.dir.limit)
	}
	count.marks += added
	count.sinceRead += added
	return nil
}

// count returns the number of marks on disk.
func (s *Store) count() (n int, err error) {
	days, err := runs.ListDays(s.path)
	for _, day := range days {
		ids, err := runs.ListIDs(s.path, day, dayOf)
		if err != nil {
			return 0, err
		}
		n += len(ids)
	}
	return n, err
}

func (s *Store) write(m *orchestratorv1.Feedback) error {
	data, err := runs.EncodeRecord(m)
	if err != nil {
		return err
	}
	path, _ := s.file(m.GetId())
	// A concurrent Delete may remove the empty directory before the file is in it.
	for range 100 {
		if err = os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err = config.ReplaceFile(path, 0o600, data); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return err
}

// Get reads a mark, or returns ErrNotFound.
func (s *Store) Get(id string) (*orchestratorv1.Feedback, error) {
	path, ok := s.file(id)
	if !ok {
		return nil, fmt.Errorf("read feedback %q: %w", id, ErrNotFound)
	}
	m, err := s.readMark(path, id)
	if errors.Is(err, fs.ErrNotExist) {
		err = ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("read feedback %s: %w", id, err)
	}
	return m, nil
}

func (s *Store) readMark(path, id string) (*orchestratorv1.Feedback, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	m, err := decode(data, id)
	if err != nil {
		s.dir.reportOnce(path, err)
	}
	return m, err
}

// decode decodes the record of a mark. The error is runs.ErrDamaged.
func decode(data []byte, id string) (*orchestratorv1.Feedback, error) {
	message, err := runs.VerifyRecord(data)
	if err != nil {
		return nil, err
	}
	m := &orchestratorv1.Feedback{}
	if err := proto.Unmarshal(message, m); err != nil {
		return nil, fmt.Errorf("%w: %w", runs.ErrDamaged, err)
	}
	if m.GetId() != id {
		return nil, fmt.Errorf("%w: it is of the feedback %q", runs.ErrDamaged, m.GetId())
	}
	return m, nil
}

// Delete removes a mark, or returns ErrNotFound.
func (s *Store) Delete(id string) error {
	path, ok := s.file(id)
	if !ok {
		return fmt.Errorf("remove feedback %q: %w", id, ErrNotFound)
	}
	err := os.Remove(path)
	if errors.Is(err, fs.ErrNotExist) {
		err = ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("remove feedback %s: %w", id, err)
	}
	_ = os.Remove(filepath.Dir(path)) // if it is empty
	s.dir.mu.Lock()
	defer s.dir.mu.Unlock()
	if count := s.dir.counts[s.path]; count != nil {
		count.marks--
	}
	return nil
}

// Filter narrows a list; empty fields match all.
type Filter struct {
	// Run selects marks of one run.
	Run string
	// KG selects marks of runs that read a knowledge graph.
	KG string
	// Subject selects marks of one caller; nil selects those of all.
	Subject *string
}

func (f Filter) matches(m *orchestratorv1.Feedback) bool {
	if f.Run != "" && m.GetRunId() != f.Run || f.Subject != nil && m.GetSubject() != *f.Subject {
		return false
	}
	return f.KG == "" || m.GetKg().GetName() == f.KG || slices.ContainsFunc(m.GetOtherKgs(),
		func(kg *graphv1.KnowledgeGraphRef) bool { return kg.GetName() == f.KG })
}

// List returns up to size marks with ids below before (empty starts with the newest run), in
// descending order of ids: that of the newest run first. next is the cursor of the next page; empty
// on the last. Files that cannot be read are skipped.
func (s *Store) List(ctx context.Context, size int, before string, filter Filter) (page []*orchestratorv1.Feedback,
	next string, err error) {
	err = s.walk(ctx, before, filter.Run, func(m *orchestratorv1.Feedback) bool {
		switch {
		case !filter.matches(m):
			return true
		case len(page) == size:
			next = page[size-1].GetId()
			return false
		}
		page = append(page, m)
		return true
	})
	if err != nil {
		return nil, "", fmt.Errorf("list feedback: %w", err)
	}
	return page, next, nil
}

// walk calls do with the marks below before, until it returns false; with those of one run unless
// run is empty.
func (s *Store) walk(ctx context.Context, before, run string, do func(*orchestratorv1.Feedback) bool) error {
	days, err := runs.ListDays(s.path)
	if err != nil {
		return err
	}
	if run != "" {
		day, ok := runs.DayOfRun(run)
		if !ok {
			return nil
		}
		days = []string{day}
	}
	for _, day := range slices.Backward(days) {
		ids, err := runs.ListIDs(s.path, day, dayOf)
		if err != nil {
			return err
		}
		for _, id := range slices.Backward(ids) {
			if before != "" && id >= before || run != "" && !strings.HasPrefix(id, run) {
				continue
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			path, _ := s.file(id)
			m, err := s.readMark(path, id)
			if err == nil && !do(m) {
				return nil
			}
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				s.dir.reportOnce(path, err)
			}
		}
	}
	return nil
}
