package runs

import (
	"context"
	"errors"
	"sync"

	"github.com/triplemesh/triplemesh/internal/tenant"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// maxWaiting is how many runs may wait for the disk before Put waits too.
const maxWaiting = 64

// ErrClosed is what a Keeper says after Close.
var ErrClosed = errors.New("the run database is closed")

// Keeper writes runs behind the caller's back, since an answer should not wait
// for the disk. What was put is read back at once, and is on disk when Close
// returns; only a crash loses the runs of its last moment. Safe for concurrent
// use.
type Keeper struct {
	tenants Tenants
	failed  func(*orchestratorv1.Run, error)
	ended   chan struct{}

	mu     sync.RWMutex // held for reading while something is queued
	closed bool
	queue  chan entry
}

// entry is a run to keep, or a reader that waits for those before it.
type entry struct {
	run   *orchestratorv1.Run
	of    tenant.ID
	store Store
	done  chan struct{}
}

// NewKeeper takes the runs of all tenants over. failed is told of runs that
// could not be kept; it may be nil. The caller must Close the Keeper and leave
// tenants to it.
func NewKeeper(tenants Tenants, failed func(*orchestratorv1.Run, error)) *Keeper {
	k := &Keeper{tenants: tenants, failed: failed, queue: make(chan entry, maxWaiting), ended: make(chan struct{})}
	go k.work()
	return k
}

// work keeps what waits together, a tenant's runs with one write to the disk:
// else no more questions could be answered a second than the disk has writes.
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
	stores := map[tenant.ID]Store{}
	together := map[tenant.ID][]*orchestratorv1.Run{}
	for _, e := range waiting {
		if e.done == nil {
			stores[e.of] = e.store
			together[e.of] = append(together[e.of], e.run)
		}
	}
	for of, all := range together {
		if stores[of].Put(all...) == nil {
			continue
		}
		// One that cannot be kept does not take the others with it.
		for _, run := range all {
			if err := stores[of].Put(run); err != nil && k.failed != nil {
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

// Of implements Tenants.
func (k *Keeper) Of(id tenant.ID) (Store, error) {
	store, err := k.tenants.Of(id)
	if err != nil {
		return nil, err
	}
	return kept{k, id, store}, nil
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

// settle returns once every run put before it is on disk.
func (k *Keeper) settle() error {
	done := make(chan struct{})
	if err := k.add(entry{done: done}); err != nil {
		return err
	}
	<-done
	return nil
}

// Close writes what waits and closes the database.
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

// kept is one tenant's store behind a Keeper.
type kept struct {
	keeper *Keeper
	of     tenant.ID
	store  Store
}

// Put keeps runs, which must not be changed any more. It does not wait for the
// disk.
func (s kept) Put(all ...*orchestratorv1.Run) error {
	for _, run := range all {
		if err := s.keeper.add(entry{run: run, of: s.of, store: s.store}); err != nil {
			return err
		}
	}
	return nil
}

// Get implements Store.
func (s kept) Get(id string) (*orchestratorv1.Run, error) {
	if err := s.keeper.settle(); err != nil {
		return nil, err
	}
	return s.store.Get(id)
}

// List implements Store.
func (s kept) List(ctx context.Context, size int, before string, filter Filter) ([]*orchestratorv1.Run, string, error) {
	if err := s.keeper.settle(); err != nil {
		return nil, "", err
	}
	return s.store.List(ctx, size, before, filter)
}
