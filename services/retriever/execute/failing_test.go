package execute_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/triplemesh/triplemesh/services/retriever/execute"
	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
)

var errStoreDown = errors.New("the store is down")

// failingStore answers the first reads, then none.
type failingStore struct {
	store.Snapshot
	answers int
}

func (s *failingStore) err() error {
	if s.answers--; s.answers < 0 {
		return errStoreDown
	}
	return nil
}

func (s *failingStore) Edges(ctx context.Context, entities []store.EntityID, dir store.Direction,
	relations []store.RelationID) ([][]store.Edge, error) {
	if err := s.err(); err != nil {
		return nil, err
	}
	return s.Snapshot.Edges(ctx, entities, dir, relations)
}

func (s *failingStore) Entity(ctx context.Context, name string) (store.EntityID, bool, error) {
	if err := s.err(); err != nil {
		return 0, false, err
	}
	return s.Snapshot.Entity(ctx, name)
}

func (s *failingStore) EntityByKey(ctx context.Context, key string) (store.EntityID, bool, error) {
	if err := s.err(); err != nil {
		return 0, false, err
	}
	return s.Snapshot.EntityByKey(ctx, key)
}

func (s *failingStore) Relation(ctx context.Context, name string) (store.RelationID, bool, error) {
	if err := s.err(); err != nil {
		return 0, false, err
	}
	return s.Snapshot.Relation(ctx, name)
}

func (s *failingStore) Match(ctx context.Context, key string) ([]store.EntityID, error) {
	if err := s.err(); err != nil {
		return nil, err
	}
	return s.Snapshot.Match(ctx, key)
}

func TestAStoreThatFailsAtAnyReadEndsThePlanWithItsError(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(20, 1))
	s := newStore(t)
	whole := storetest.Open(t, s, "facts", writeFacts(t, s, "facts", randomFacts(random, 120)))
	failures := 0
	for range 100 {
		p := randomPlan(random)
		for answers := 0; ; answers++ {
			failing := &failingStore{whole, answers}
			got, err := execute.Run(t.Context(), failing, p, 1000, execute.Limits{})
			if failing.answers >= 0 {
				if err != nil {
					t.Errorf("%v: %v", p, err)
				}
				break
			}
			failures++
			if !errors.Is(err, errStoreDown) || got != nil {
				t.Errorf("%v: after %d reads: got %+v, error %v", p, answers, got, err)
			}
		}
	}
	if failures < 200 {
		t.Errorf("only %d reads failed", failures)
	}
}
