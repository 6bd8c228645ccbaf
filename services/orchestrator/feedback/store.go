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
	"sync"

	"google.golang.org/protobuf/proto"

	"github.com/triplemesh/triplemesh/internal/auth"
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
	return &Store{d, runs.Folder[*orchestratorv1.Feedback]{Path: filepath.Join(d.path, "@"+id.String()), DayOf: dayOf,
		Report: d.reportOnce}}, nil
}

// Store holds one tenant's marks by id. Safe for concurrent use.
type Store struct {
	dir     *Dir
	records runs.Folder[*orchestratorv1.Feedback]
}

// Save writes marks. They are on disk when Save returns; if it fails, some of them may be. It returns
// ErrFull, and writes none, if the marks that are new do not fit.
func (s *Store) Save(marks ...*orchestratorv1.Feedback) error {
	added := 0
	for _, m := range marks {
		path, ok := s.records.File(m.GetId())
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
		if err := s.records.Write(m.GetId(), m); err != nil {
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
	count := s.dir.counts[s.records.Path]
	// Other orchestrators add and remove marks too.
	if count == nil || count.sinceRead >= s.dir.limit/100 || count.marks+added > s.dir.limit {
		n, err := s.count()
		if err != nil {
			return err
		}
		count = &markCount{marks: n}
		s.dir.counts[s.records.Path] = count
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
	days, err := s.records.Days()
	for _, day := range days {
		ids, err := s.records.IDs(day)
		if err != nil {
			return 0, err
		}
		n += len(ids)
	}
	return n, err
}

// Get reads a mark, or returns ErrNotFound.
func (s *Store) Get(id string) (*orchestratorv1.Feedback, error) {
	m, err := s.records.Read(id, decode)
	if errors.Is(err, fs.ErrNotExist) {
		err = ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("read feedback %s: %w", id, err)
	}
	return m, nil
}

func decode(message []byte) (*orchestratorv1.Feedback, error) {
	m := &orchestratorv1.Feedback{}
	return m, proto.Unmarshal(message, m)
}

// Delete removes a mark, or returns ErrNotFound.
func (s *Store) Delete(id string) error {
	path, ok := s.records.File(id)
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
	if count := s.dir.counts[s.records.Path]; count != nil {
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
	err = s.records.Walk(ctx, before, filter.Run, decode, func(m *orchestratorv1.Feedback) bool {
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
