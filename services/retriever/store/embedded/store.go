// Package embedded keeps knowledge graphs in a directory of this machine:
//
//	DIR/<kg>/<number>/   an immutable snapshot: its files, their checksums
//	DIR/<kg>/CURRENT     which snapshot is active, which were before
//	DIR/@<tenant>/       the same of another tenant than the default one
//
// A snapshot is whole, or a delta of the one before. Snapshots are memory-mapped; opening one reads
// its manifest and the checksums of its pages, and each page is compared with its own when it is
// first read, and again when a file's size or time has changed since. So a snapshot of any size
// opens at once, and a cut or flipped file is never served.
package embedded

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/triplemesh/triplemesh/internal/auth"
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
	opened map[name]*cachedLayer

	manifests manifestCache
}

var _ store.Store = (*Store)(nil)

// name is a snapshot's name.
type name struct {
	kg     string
	number uint64
}

// New opens a directory, which is made by the first Write.
func New(dir string) *Store {
	return &Store{dir: dir, disk: osDisk{}, now: time.Now, memory: sortMemory, opened: map[name]*cachedLayer{}}
}

// Close releases the mapped snapshots. Those that are in use stay readable until they are released.
func (s *Store) Close() error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for n, e := range s.opened {
		e.evict()
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
			return nil, store.WrapError("open", kg, resolved, err)
		}
		snap, err := s.openChain(ctx, kg, resolved)
		if errors.Is(err, errEvicted) {
			continue // dropped meanwhile; look again
		}
		return snap, store.WrapError("open", kg, resolved, err)
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
		return number, fmt.Errorf("%w; list knowledge graphs with `triplemesh kg list`", store.ErrNotFound)
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

const (
	// maxResidentBytes is about how much of a column may stay mapped in memory by
	// searches that look up single rows. Other pages stay in the page cache and are mapped
	// again when they are needed.
	maxResidentBytes = 384 << 20
	// faultAroundBytes is what the system maps at a time around what is read.
	faultAroundBytes = 64 << 10
)

// residency counts what reading a mapped column has brought into memory, and unmaps it from time to
// time: a search by one bit looks up rows all over columns that are larger than memory should hold.
type residency struct {
	data  []byte
	bytes atomic.Int64
}

// touch counts a range that is about to be read.
func (h *residency) touch(from, to int64) {
	if len(h.data) <= maxResidentBytes || h.bytes.Add(to-from+faultAroundBytes) <= maxResidentBytes {
		return
	}
	h.bytes.Store(0)
	// A concurrent reader maps the page again. If madvise fails the pages stay mapped.
	_ = unix.Madvise(h.data, unix.MADV_DONTNEED)
}

// maxCachedManifests bounds how many manifests are remembered.
const maxCachedManifests = 1 << 12

// manifestCache remembers what manifests say, as each question lists its knowledge
// graph to know which snapshot is active.
type manifestCache struct {
	mu    sync.Mutex
	byDir map[string]cachedManifest
}

type cachedManifest struct {
	stamp stamp
	info  store.Info
}

// info is what the manifest in a directory says. It is read where it changed
// since it was read last.
func (m *manifestCache) info(dir string) (store.Info, error) {
	var now unix.Stat_t
	if err := unix.Stat(filepath.Join(dir, manifestName), &now); err != nil {
		return store.Info{}, err
	}
	current := stampOf(&now)
	m.mu.Lock()
	known, ok := m.byDir[dir]
	m.mu.Unlock()
	if ok && known.stamp == current {
		return known.info, nil
	}
	read, _, err := readManifest(dir)
	if err != nil {
		return store.Info{}, err
	}
	known = cachedManifest{current, read.info()}
	m.mu.Lock()
	defer m.mu.Unlock()
	// Those of snapshots that were dropped go too.
	if m.byDir == nil || len(m.byDir) >= maxCachedManifests {
		m.byDir = map[string]cachedManifest{}
	}
	m.byDir[dir] = known
	return known.info, nil
}

// Tenants is a directory that holds a Store for each tenant: the default
// tenant's is the directory itself, another's DIR/@<tenant>. No knowledge graph
// can have such a name, and no tenant one that leads elsewhere.
type Tenants struct {
	dir  string
	disk disk

	mutex  sync.RWMutex
	stores map[auth.Tenant]*Store
	closed bool
}

var _ store.Tenants = (*Tenants)(nil)

// NewTenants opens a directory. It and those of tenants are made by the first Write.
func NewTenants(dir string) *Tenants {
	return &Tenants{dir: dir, disk: osDisk{}, stores: map[auth.Tenant]*Store{}}
}

var errClosed = errors.New("the store is closed")

// ForTenant implements store.Tenants.
func (t *Tenants) ForTenant(id auth.Tenant) (store.Store, error) {
	if id.IsZero() {
		return nil, store.Invalidf("open the knowledge graphs of no tenant")
	}
	t.mutex.RLock()
	s, closed := t.stores[id], t.closed
	t.mutex.RUnlock()
	switch {
	case closed:
		return nil, errClosed
	case s != nil:
		return s, nil
	}
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.closed {
		return nil, errClosed
	}
	if s := t.stores[id]; s != nil {
		return s, nil
	}
	s = New(t.tenantDir(id))
	s.disk = t.disk
	t.stores[id] = s
	return s, nil
}

func (t *Tenants) tenantDir(id auth.Tenant) string {
	if id.IsDefault() {
		return t.dir
	}
	return filepath.Join(t.dir, "@"+id.String())
}

// Close releases the mapped snapshots of all tenants; see Store.Close.
func (t *Tenants) Close() error {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.closed = true
	var errs []error
	for _, s := range t.stores {
		errs = append(errs, s.Close())
	}
	clear(t.stores)
	return errors.Join(errs...)
}
