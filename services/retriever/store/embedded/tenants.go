package embedded

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/triplemesh/triplemesh/internal/tenant"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// Tenants is a directory that holds a Store for each tenant: the default
// tenant's is the directory itself, another's DIR/@<tenant>. No knowledge graph
// can have such a name, and no tenant one that leads elsewhere.
type Tenants struct {
	dir  string
	disk disk

	mutex  sync.RWMutex
	stores map[tenant.ID]*Store
	closed bool
}

var _ store.Tenants = (*Tenants)(nil)

// NewTenants opens a directory. It and those of tenants are made by the first
// Write.
func NewTenants(dir string) *Tenants {
	return &Tenants{dir: dir, disk: osDisk{}, stores: map[tenant.ID]*Store{}}
}

var errClosed = errors.New("the store is closed")

// Of implements store.Tenants.
func (t *Tenants) Of(id tenant.ID) (store.Store, error) {
	if id.IsZero() {
		return nil, fmt.Errorf("open the knowledge graphs of no tenant: %w", store.ErrInvalid)
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
	s = New(t.dirOf(id))
	s.disk = t.disk
	t.stores[id] = s
	return s, nil
}

func (t *Tenants) dirOf(id tenant.ID) string {
	if id.IsDefault() {
		return t.dir
	}
	return filepath.Join(t.dir, "@"+id.String())
}

// Close lets go of the mapped snapshots of all tenants; see Store.Close.
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
