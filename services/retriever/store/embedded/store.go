// Package embedded keeps knowledge graphs in a directory of this machine:
//
//	DIR/<kg>/<number>/   an immutable snapshot: its files, their checksums
//	DIR/<kg>/CURRENT     which snapshot is active, which were before
//	DIR/@<tenant>/       the same of another tenant than the default one
//
// A snapshot is whole, or a delta of the one before. Snapshots are
// memory-mapped; opening one reads its manifest and the checksums of its pages,
// and each page is compared with its own when it is first read, and again when
// a file's size or time has changed since. So a snapshot of any size opens at
// once, and a cut or flipped file is never served.
package embedded

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
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
	// memory is how much each sorter of a build may hold.
	memory int

	// changing serialises what moves snapshots or CURRENT in this process;
	// the lock file does it between processes.
	changing sync.Mutex

	mutex  sync.Mutex
	opened map[name]*entry

	manifests manifests
}

var _ store.Store = (*Store)(nil)

// name is a snapshot's name.
type name struct {
	kg     string
	number uint64
}

// New opens a directory, which is made by the first Write.
func New(dir string) *Store {
	return &Store{dir: dir, disk: osDisk{}, now: time.Now, memory: sortMemory, opened: map[name]*entry{}}
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
	snap, err := s.open(ctx, kg, number)
	if err != nil {
		return nil, err
	}
	return snap, nil
}

func (s *Store) open(ctx context.Context, kg string, number uint64) (*snapshot, error) {
	for {
		resolved, err := s.resolve(kg, number)
		if err != nil {
			return nil, wrap("open", kg, resolved, err)
		}
		snap, err := s.openChain(ctx, kg, resolved)
		if errors.Is(err, errForgotten) {
			continue // dropped meanwhile; look again
		}
		return snap, wrap("open", kg, resolved, err)
	}
}

// resolve checks that a snapshot exists; number 0 becomes the active one.
func (s *Store) resolve(kg string, number uint64) (uint64, error) {
	if err := store.CheckName(kg); err != nil {
		return number, err
	}
	if number == 0 {
		current, err := s.readCurrent(kg)
		if err != nil || current.Active != 0 {
			return current.Active, err
		}
	}
	if _, err := os.Stat(s.kgDir(kg)); errors.Is(err, os.ErrNotExist) {
		return number, fmt.Errorf("%w; `triplemesh kg list` names what there is", store.ErrNotFound)
	} else if err != nil || number == 0 {
		return 0, errors.Join(err, store.ErrNoActive)
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

// wrap says what was being done to which snapshot; it keeps an error that
// already does.
func wrap(op, kg string, number uint64, err error) error {
	var known *store.Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	return &store.Error{Op: op, KG: kg, Number: number, Err: err}
}
