package runs

import (
	"errors"
	"sync"

	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// maxWaiting is how many runs may wait for the disk before Put waits too.
const maxWaiting = 64

// ErrClosed is what a Keeper says after Close.
var ErrClosed = errors.New("the run database is closed")

// Keeper writes runs to a DB behind the caller's back, since an answer should
// not wait for the disk. What was put is read back at once, and is on disk when
// Close returns; only a crash loses the runs of its last moment. Safe for
// concurrent use.
type Keeper struct {
	db     *DB
	failed func(*orchestratorv1.Run, error)
	ended  chan struct{}

	mu     sync.RWMutex // held for reading while something is queued
	closed bool
	queue  chan entry
}

// entry is a run to keep, or a reader that waits for those before it.
type entry struct {
	run  *orchestratorv1.Run
	done chan struct{}
}

// NewKeeper takes a database over. failed is told of runs that could not be
// kept; it may be nil. The caller must Close the Keeper and leave the DB to it.
func NewKeeper(db *DB, failed func(*orchestratorv1.Run, error)) *Keeper {
	k := &Keeper{db: db, failed: failed, queue: make(chan entry, maxWaiting), ended: make(chan struct{})}
	go k.work()
	return k
}

func (k *Keeper) work() {
	defer close(k.ended)
	for e := range k.queue {
		if e.done != nil {
			close(e.done)
		} else if err := k.db.Put(e.run); err != nil && k.failed != nil {
			k.failed(e.run, err)
		}
	}
}

// Put keeps a run, which must not be changed any more.
func (k *Keeper) Put(run *orchestratorv1.Run) error { return k.add(entry{run: run}) }

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

// Get is DB.Get.
func (k *Keeper) Get(id string) (*orchestratorv1.Run, error) {
	if err := k.settle(); err != nil {
		return nil, err
	}
	return k.db.Get(id)
}

// List is DB.List.
func (k *Keeper) List(size int, before string, filter Filter) (page []*orchestratorv1.Run, next string, err error) {
	if err := k.settle(); err != nil {
		return nil, "", err
	}
	return k.db.List(size, before, filter)
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
	return k.db.Close()
}
