package retriever

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/triplemesh/triplemesh/internal/auth"
)

// buildQueue lets one snapshot be built at a time, since a build may take all memory and cores. A
// tenant has at most one build in the queue, so that each tenant waits for at most one build of
// every other.
type buildQueue struct {
	// building has room for one build; waiters get it in the order they came.
	building chan struct{}
	// waiting counts the builds that wait.
	waiting atomic.Int64

	mutex sync.Mutex
	// slots has the queue slot of each tenant with builds.
	slots map[auth.Tenant]*queueSlot
}

// queueSlot is a tenant's place in the queue.
type queueSlot struct {
	taken chan struct{}
	// wanted counts the builds that hold it or wait for it.
	wanted int
}

func newBuildQueue() *buildQueue {
	return &buildQueue{building: make(chan struct{}, 1), slots: map[auth.Tenant]*queueSlot{}}
}

// acquire waits until no other snapshot is built. The caller must call release.
func (t *buildQueue) acquire(ctx context.Context) (release func(), err error) {
	id, err := auth.TenantFrom(ctx)
	if err != nil {
		return nil, err
	}
	t.waiting.Add(1)
	defer t.waiting.Add(-1)
	own := t.join(id)
	if err := enter(ctx, own.taken); err != nil {
		t.leave(id)
		return nil, err
	}
	if err := enter(ctx, t.building); err != nil {
		<-own.taken
		t.leave(id)
		return nil, err
	}
	return func() {
		<-t.building
		<-own.taken
		t.leave(id)
	}, nil
}

func enter(ctx context.Context, room chan struct{}) error {
	select {
	case room <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (t *buildQueue) join(id auth.Tenant) *queueSlot {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	p := t.slots[id]
	if p == nil {
		p = &queueSlot{taken: make(chan struct{}, 1)}
		t.slots[id] = p
	}
	p.wanted++
	return p
}

func (t *buildQueue) leave(id auth.Tenant) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.slots[id].wanted--; t.slots[id].wanted == 0 {
		delete(t.slots, id)
	}
}
