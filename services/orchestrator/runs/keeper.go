package runs

import (
	"context"
	"errors"
	"sync"

	"github.com/triplemesh/triplemesh/internal/auth"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// maxWaiting is the length of the queue; beyond it Save blocks.
const maxWaiting = 64

// ErrClosed is the error of a Keeper after Close.
var ErrClosed = errors.New("the run database is closed")

// Keeper writes runs asynchronously, so that an answer does not wait for the disk. Reads see all
// earlier writes, which are on disk when Close returns; a crash loses the queue. Safe for concurrent
// use.
type Keeper struct {
	tenants Tenants
	failed  func(*orchestratorv1.Run, error)
	ended   chan struct{}

	mu     sync.RWMutex // held for reading while something is queued
	closed bool
	queue  chan entry
}

// entry is a run to write, or a reader that waits for those before it.
type entry struct {
	run   *orchestratorv1.Run
	of    auth.Tenant
	store Store
	done  chan struct{}
}

// NewKeeper takes ownership of tenants. failed is called for runs that could not be written; it may
// be nil. The caller must Close the Keeper.
func NewKeeper(tenants Tenants, failed func(*orchestratorv1.Run, error)) *Keeper {
	k := &Keeper{tenants: tenants, failed: failed, queue: make(chan entry, maxWaiting), ended: make(chan struct{})}
	go k.work()
	return k
}

// work writes the queue in batches, one write for each tenant: else the disk's writes per second
// would limit the questions per second.
func (k *Keeper) work() {
	defer close(k.ended)
	for first := range k.queue {
		waiting := []entry{first}
		for len(waiting) < maxWaiting && len(k.queue) > 0 {
			waiting = append(waiting, <-k.queue)
		}
		k.keep(waiting)
	}
}

func (k *Keeper) keep(waiting []entry) {
	stores := map[auth.Tenant]Store{}
	together := map[auth.Tenant][]*orchestratorv1.Run{}
	for _, e := range waiting {
		if e.done == nil {
			stores[e.of] = e.store
			together[e.of] = append(together[e.of], e.run)
		}
	}
	for of, all := range together {
		if stores[of].Save(all...) == nil {
			continue
		}
		// A run that cannot be written must not fail the others.
		for _, run := range all {
			if err := stores[of].Save(run); err != nil && k.failed != nil {
				k.failed(run, err)
			}
		}
	}
	for _, e := range waiting {
		if e.done != nil {
			close(e.done)
		}
	}
}

// Tenant implements Tenants.
func (k *Keeper) Tenant(id auth.Tenant) (Store, error) {
	store, err := k.tenants.Tenant(id)
	if err != nil {
		return nil, err
	}
	return keptStore{k, id, store}, nil
}

func (k *Keeper) add(e entry) error {
	k.mu.RLock()
	defer k.mu.RUnlock()
	if k.closed {
		return ErrClosed
	}
	k.queue <- e
	return nil
}

// settle returns once all queued runs are on disk.
func (k *Keeper) settle() error {
	done := make(chan struct{})
	if err := k.add(entry{done: done}); err != nil {
		return err
	}
	<-done
	return nil
}

// Close writes the queue and closes the database.
func (k *Keeper) Close() error {
	k.mu.Lock()
	if k.closed {
		k.mu.Unlock()
		return nil
	}
	k.closed = true
	close(k.queue)
	k.mu.Unlock()
	<-k.ended
	return k.tenants.Close()
}

// keptStore is one tenant's store behind a Keeper.
type keptStore struct {
	keeper *Keeper
	of     auth.Tenant
	store  Store
}

// Save queues runs, which must not be modified afterwards. It does not wait for the disk.
func (s keptStore) Save(all ...*orchestratorv1.Run) error {
	for _, run := range all {
		if err := s.keeper.add(entry{run: run, of: s.of, store: s.store}); err != nil {
			return err
		}
	}
	return nil
}

// Get implements Store.
func (s keptStore) Get(id string) (*orchestratorv1.Run, error) {
	if err := s.keeper.settle(); err != nil {
		return nil, err
	}
	return s.store.Get(id)
}

// List implements Store.
func (s keptStore) List(ctx context.Context, size int, before string,
	filter Filter) ([]*orchestratorv1.Run, string, error) {
	if err := s.keeper.settle(); err != nil {
		return nil, "", err
	}
	return s.store.List(ctx, size, before, filter)
}
