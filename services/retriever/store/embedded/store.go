// Package embedded keeps knowledge graphs in a directory of this machine:
//
//	DIR/<kg>/<number>/   an immutable snapshot: its files, their checksums
//	DIR/<kg>/CURRENT     which snapshot is active, which were before
//
// Snapshots are memory-mapped. Every checksum is compared when a snapshot is
// first opened, and again when a file's size or time has changed since, so
// that a cut or flipped file is never served.
package embedded

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"time"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// Store is a directory of knowledge graphs. Several processes may share it.
type Store struct {
	dir  string
	disk disk
	now  func() time.Time

	// changing serialises what moves snapshots or CURRENT in this process;
	// the lock file does it between processes.
	changing sync.Mutex

	mutex  sync.Mutex
	opened map[name]*entry
}

var _ store.Store = (*Store)(nil)

// name is a snapshot's name.
type name struct {
	kg     string
	number uint64
}

// entry is a snapshot that is mapped or about to be: whoever comes second
// waits for the first.
type entry struct {
	mutex     sync.Mutex
	forgotten bool
	mapping   *mapping
	layout    layout
}

// New opens a directory, which is made by the first Write.
func New(dir string) *Store {
	return &Store{dir: dir, disk: osDisk{}, now: time.Now, opened: map[name]*entry{}}
}

// Close lets go of the mapped snapshots. Those that are in use stay readable
// until they are released.
func (s *Store) Close() error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for n, e := range s.opened {
		e.forget()
		delete(s.opened, n)
	}
	return nil
}

// Open implements store.Opener.
func (s *Store) Open(ctx context.Context, kg string, number uint64) (store.Snapshot, error) {
	for {
		resolved, err := s.resolve(kg, number)
		if err != nil {
			return nil, wrap("open", kg, resolved, err)
		}
		m, l, err := s.entry(kg, resolved).use(ctx, s.snapshotDir(kg, resolved))
		if errors.Is(err, errForgotten) {
			continue // dropped meanwhile; look again
		}
		if err != nil {
			return nil, wrap("open", kg, resolved, err)
		}
		return &snapshot{layout: l, mapping: m, info: m.manifest.info()}, nil
	}
}

func (s *Store) entry(kg string, number uint64) *entry {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	e, ok := s.opened[name{kg, number}]
	if !ok {
		e = &entry{}
		s.opened[name{kg, number}] = e
	}
	return e
}

// errForgotten says that an entry left the store after it was looked up.
var errForgotten = errors.New("snapshot was let go")

// use returns the mapping with one more user; it maps the files where that was
// not yet done or where they changed since.
func (e *entry) use(ctx context.Context, dir string) (*mapping, layout, error) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if e.forgotten {
		return nil, layout{}, errForgotten
	}
	if e.mapping != nil && e.mapping.touched() {
		e.mapping.release()
		e.mapping = nil
	}
	if e.mapping == nil {
		m, err := mapFiles(ctx, dir)
		if err != nil {
			return nil, layout{}, err
		}
		l, err := m.view()
		if err != nil {
			m.release()
			return nil, layout{}, err
		}
		e.mapping, e.layout = m, l
	}
	// The entry's own use keeps the mapping alive under its lock.
	e.mapping.retain()
	return e.mapping, e.layout, nil
}

func (e *entry) forget() {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.forgotten = true
	if e.mapping != nil {
		e.mapping.release()
		e.mapping = nil
	}
}

// resolve checks that a snapshot exists; number 0 becomes the active one.
func (s *Store) resolve(kg string, number uint64) (uint64, error) {
	if err := checkName(kg); err != nil {
		return number, err
	}
	if _, err := os.Stat(s.kgDir(kg)); errors.Is(err, os.ErrNotExist) {
		return number, fmt.Errorf("%w; `triplemesh kg list` names what there is", store.ErrNotFound)
	} else if err != nil {
		return number, err
	}
	if number == 0 {
		current, err := s.readCurrent(kg)
		if err != nil {
			return 0, err
		}
		if current.Active == 0 {
			return 0, store.ErrNoActive
		}
		return current.Active, nil
	}
	if _, err := os.Stat(s.snapshotDir(kg, number)); errors.Is(err, os.ErrNotExist) {
		return number, store.ErrNotFound
	} else if err != nil {
		return number, err
	}
	return number, nil
}

func (s *Store) kgDir(kg string) string { return filepath.Join(s.dir, kg) }

func (s *Store) snapshotDir(kg string, number uint64) string {
	return filepath.Join(s.dir, kg, strconv.FormatUint(number, 10))
}

// names are those of the contract; they also keep paths within the directory.
var names = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,62}$`)

func checkName(kg string) error {
	if !names.MatchString(kg) {
		return fmt.Errorf("a name is a lower-case letter and up to 62 of a-z, 0-9, _ and -: %w", store.ErrInvalid)
	}
	return nil
}

// wrap says what was being done to which snapshot; it keeps an error that
// already does.
func wrap(op, kg string, number uint64, err error) error {
	var known *store.Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	return &store.Error{Op: op, KG: kg, Number: number, Err: err}
}
