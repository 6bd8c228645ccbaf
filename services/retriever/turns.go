package retriever

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/triplemesh/triplemesh/internal/tenant"
)

// turns let one build of a snapshot go on at a time: it takes all the memory
// and cores it may. A tenant has one build in the queue, whatever it has asked
// for, so that each waits for at most one of every other tenant.
type turns struct {
	// building has room for one; whoever waits gets it in the order they came.
	building chan struct{}
	// waiting counts those who have no turn yet.
	waiting atomic.Int64

	mutex sync.Mutex
	// queued has, for each tenant with builds, who may stand in the queue.
	queued map[tenant.ID]*place
}

// place is a tenant's place in the queue.
type place struct {
	taken chan struct{}
	// wanted counts those who hold it or wait for it.
	wanted int
}

func newTurns() *turns {
	return &turns{building: make(chan struct{}, 1), queued: map[tenant.ID]*place{}}
}

// take waits until nobody else builds a snapshot; release ends the turn.
func (t *turns) take(ctx context.Context) (release func(), err error) {
	id, err := tenant.From(ctx)
	if err != nil {
		return nil, err
	}
	t.waiting.Add(1)
	defer t.waiting.Add(-1)
	own := t.want(id)
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

func (t *turns) want(id tenant.ID) *place {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	p := t.queued[id]
	if p == nil {
		p = &place{taken: make(chan struct{}, 1)}
		t.queued[id] = p
	}
	p.wanted++
	return p
}

func (t *turns) leave(id tenant.ID) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.queued[id].wanted--; t.queued[id].wanted == 0 {
		delete(t.queued, id)
	}
}
