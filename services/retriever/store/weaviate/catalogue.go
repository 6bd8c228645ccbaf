package weaviate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// List implements store.Catalogue.
func (s *Store) List(ctx context.Context, kg string) ([]store.Listed, error) {
	var records []record
	if kg != "" {
		r, err := s.current(ctx, kg)
		if err == nil && len(r.Snapshots) == 0 {
			err = store.ErrNotFound
		}
		if err != nil {
			return nil, wrap("list", kg, 0, err)
		}
		records = []record{r}
	} else {
		classes, err := s.cluster.classes(ctx, s.home)
		if err != nil {
			return nil, fmt.Errorf("list knowledge graphs: %w", err)
		}
		for _, def := range classes {
			name, _ := def["class"].(string)
			if !strings.HasSuffix(name, separator+"record") {
				continue
			}
			r, err := parseRecord(def)
			if err != nil {
				return nil, fmt.Errorf("list knowledge graphs: %w", err)
			}
			records = append(records, s.saw(r))
		}
		slices.SortFunc(records, func(a, b record) int { return cmp.Compare(a.KG, b.KG) })
	}
	var listed []store.Listed
	for _, r := range records {
		for _, n := range r.numbers() {
			e, _ := r.find(n)
			listed = append(listed, store.Listed{Info: e.Info, Active: n == r.Active})
		}
	}
	return listed, nil
}

// Activate implements store.Catalogue. It opens the snapshot first: one that
// cannot be read never replaces one that can.
func (s *Store) Activate(ctx context.Context, kg string, number uint64) (store.Info, error) {
	if number == 0 {
		return store.Info{}, wrap("activate", kg, 0, fmt.Errorf("which snapshot is not said: %w", store.ErrInvalid))
	}
	snap, err := s.Open(ctx, kg, number)
	if err != nil {
		return store.Info{}, rename("activate", err)
	}
	defer snap.Release()
	_, err = s.change(ctx, kg, func(r *record) error {
		if _, ok := r.find(number); !ok {
			return store.ErrNotFound
		}
		r.activate(number)
		return nil
	})
	if err != nil {
		return store.Info{}, wrap("activate", kg, number, err)
	}
	return snap.Info(), nil
}

// Rollback implements store.Catalogue.
func (s *Store) Rollback(ctx context.Context, kg string) (store.Info, error) {
	if _, err := s.List(ctx, kg); err != nil {
		return store.Info{}, rename("roll back", err)
	}
	var to entry
	_, err := s.change(ctx, kg, func(r *record) error {
		last := len(r.Previous) - 1
		if last < 0 {
			return store.ErrNoPrevious
		}
		var ok bool
		if to, ok = r.find(r.Previous[last]); !ok {
			return fmt.Errorf("snapshot %d, which was active before, is gone: %w", r.Previous[last], store.ErrCorrupt)
		}
		r.Active, r.Previous = r.Previous[last], r.Previous[:last]
		return nil
	})
	if err != nil {
		return store.Info{}, wrap("roll back", kg, 0, err)
	}
	return to.Info, nil
}

// Drop implements store.Catalogue. What is dropped is hidden at once and
// deleted later, by the next load or drop, so that questions under way, here
// and in other retrievers, read to their end.
func (s *Store) Drop(ctx context.Context, kg string, number uint64) ([]uint64, error) {
	if _, err := s.List(ctx, kg); err != nil {
		return nil, rename("drop", err)
	}
	var gone []uint64
	_, err := s.change(ctx, kg, func(r *record) error {
		switch _, ok := r.find(number); {
		case len(r.Snapshots) == 0, number != 0 && !ok:
			return store.ErrNotFound
		case number != 0 && r.Active == number:
			return store.ErrActive
		case number == 0:
			gone, r.Active, r.Previous = r.numbers(), 0, nil
		default:
			gone = []uint64{number}
		}
		isGone := func(n uint64) bool { return slices.Contains(gone, n) }
		r.Previous = slices.DeleteFunc(r.Previous, isGone)
		r.Snapshots = slices.DeleteFunc(r.Snapshots, func(e entry) bool { return isGone(e.Number) })
		for _, n := range gone {
			r.Dropped = append(r.Dropped, dropped{n, time.Now().UTC()})
		}
		return nil
	})
	if err != nil {
		return nil, wrap("drop", kg, number, err)
	}
	if err := s.closeGraphs(kg, gone); err != nil {
		return gone, wrap("drop", kg, number, err)
	}
	return gone, wrap("drop", kg, number, s.clean(ctx, kg, 0))
}

// Verify implements store.Catalogue. It reads all rows of a snapshot and looks
// whether they add up; the name index is compared with its checksum.
func (s *Store) Verify(ctx context.Context, kg string, number uint64) (store.Info, int64, error) {
	e, err := s.resolve(ctx, kg, number)
	if err != nil {
		return store.Info{}, 0, wrap("verify", kg, number, err)
	}
	g := newGraph(s.cluster, s.home, e)
	g.anew = true
	g.use()
	bytes, err := g.verify(ctx)
	if err := errors.Join(err, g.release()); err != nil {
		return store.Info{}, 0, wrap("verify", kg, e.Number, err)
	}
	return e.Info, bytes, nil
}

// clean deletes what was dropped long enough ago, and what loads left that
// nobody works on any more, but for the load of a number.
func (s *Store) clean(ctx context.Context, kg string, but uint64) error {
	r, _, err := s.readRecord(ctx, kg, true)
	if err != nil {
		return err
	}
	done := map[uint64]bool{}
	for _, d := range r.Dropped {
		if time.Since(d.At) > s.cluster.config.Grace && !s.inUse(kg, d.Number) {
			done[d.Number] = true
		}
	}
	for _, p := range r.Pending {
		if time.Since(p.Beat) > s.abandoned && p.Number != but {
			done[p.Number] = true
		}
	}
	if len(done) == 0 {
		return nil
	}
	for n := range done {
		if err := s.deleteParts(ctx, kg, n); err != nil {
			return err
		}
	}
	_, err = s.change(ctx, kg, func(r *record) error {
		r.Dropped = slices.DeleteFunc(r.Dropped, func(d dropped) bool { return done[d.Number] })
		r.Pending = slices.DeleteFunc(r.Pending, func(p pending) bool { return done[p.Number] })
		return nil
	})
	return err
}

// inUse says whether somebody in this process still reads a snapshot.
func (s *Store) inUse(kg string, number uint64) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for g := range s.closing {
		if g.users.Load() == 0 {
			delete(s.closing, g)
		} else if g.entry.KG == kg && g.entry.Number == number {
			return true
		}
	}
	return false
}

func (s *Store) deleteParts(ctx context.Context, kg string, number uint64) error {
	for _, part := range parts {
		if err := s.cluster.deleteClass(ctx, collection(s.home, kg, number, part)); err != nil {
			return err
		}
	}
	return nil
}

// rename gives an error of a step the name of what it was a step of.
func rename(op string, err error) error {
	var known *store.Error
	if errors.As(err, &known) {
		return &store.Error{Op: op, KG: known.KG, Number: known.Number, Err: known.Err}
	}
	return err
}
