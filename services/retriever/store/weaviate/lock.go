package weaviate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// A lock is a collection without rows: raft lets only one process make it. It
// is held for as long as a change of a record takes, well under a second; one
// that is older than its lease was left by a process that ended.
const (
	leaseTime = time.Minute
	// lockTimeout is how long a lock is waited for: longer than a new raft leader takes.
	lockTimeout = 90 * time.Second
)

type lease struct {
	Owner string
	Until time.Time
}

// lock waits for the lock of a knowledge graph's record.
func (s *Store) lock(ctx context.Context, kg string) (unlock func(), err error) {
	local := s.localLock(kg)
	select {
	case local <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() {
		if err != nil {
			<-local
		}
	}()
	name := lockName(s.home, kg)
	text, err := json.Marshal(lease{Owner: s.owner, Until: time.Now().Add(leaseTime)})
	if err != nil {
		return nil, err
	}
	end := time.Now().Add(lockTimeout)
	for i := 1; ; i++ {
		err := s.cluster.createClass(ctx, descriptionClass(name, string(text)))
		if err == nil {
			break
		}
		if !errors.Is(err, errClassThere) {
			// Whether it was made is not known.
			return nil, errors.Join(err, s.unlock(ctx, name))
		}
		if s.expired(ctx, name) {
			if err := s.cluster.deleteClass(ctx, name); err != nil {
				return nil, err
			}
		}
		if time.Now().After(end) {
			return nil, fmt.Errorf("collection %s is locked by another process: %w", name, store.ErrBusy)
		}
		if err := sleep(ctx, backoff(min(i, 4))); err != nil {
			return nil, err
		}
	}
	var once sync.Once
	return func() {
		once.Do(func() {
			// One that stays is taken for left when its lease is over.
			_ = s.unlock(ctx, name)
			<-local
		})
	}, nil
}

// unlock removes a lock of this process, also when its caller is gone.
func (s *Store) unlock(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), schemaTimeout)
	defer cancel()
	def, err := s.cluster.readClass(ctx, name, true)
	if errors.Is(err, errNoClass) {
		return nil
	}
	if err != nil {
		return err
	}
	if held, ok := parseLease(def); ok && held.Owner == s.owner {
		return s.cluster.deleteClass(ctx, name)
	}
	return nil
}

func (s *Store) expired(ctx context.Context, name string) bool {
	def, err := s.cluster.readClass(ctx, name, true)
	if err != nil {
		return false
	}
	held, ok := parseLease(def)
	return ok && time.Now().After(held.Until)
}

func parseLease(def class) (lease, bool) {
	var held lease
	text, _ := def["description"].(string)
	err := json.Unmarshal([]byte(text), &held)
	return held, err == nil
}

// localLock keeps the goroutines of this process in line.
func (s *Store) localLock(kg string) chan struct{} {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.locks[kg] == nil {
		s.locks[kg] = make(chan struct{}, 1)
	}
	return s.locks[kg]
}
