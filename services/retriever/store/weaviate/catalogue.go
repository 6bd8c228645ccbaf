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
func (s *Store) List(ctx context.Context, kg string) ([]store.ListedSnapshot, error) {
	var records []catalogueRecord
	if kg != "" {
		r, err := s.current(ctx, kg)
		if err == nil && len(r.Snapshots) == 0 {
			err = store.ErrNotFound
		}
		if err != nil {
			return nil, store.WrapError("list", kg, 0, err)
		}
		records = []catalogueRecord{r}
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
			records = append(records, s.remember(r))
		}
		slices.SortFunc(records, func(a, b catalogueRecord) int { return cmp.Compare(a.KG, b.KG) })
	}
	var listed []store.ListedSnapshot
	for _, r := range records {
		for _, n := range r.numbers() {
			e, _ := r.find(n)
			listed = append(listed, store.ListedSnapshot{Info: e.Info, Active: n == r.Active})
		}
	}
	return listed, nil
}

// Activate implements store.Catalogue. It opens the snapshot first: one that
// cannot be read never replaces one that can.
func (s *Store) Activate(ctx context.Context, kg string, number uint64) (store.Info, error) {
	if number == 0 {
		return store.Info{}, store.WrapError("activate", kg, 0,
			store.Invalidf("no snapshot number; name the snapshot to activate"))
	}
	snap, err := s.Open(ctx, kg, number)
	if err != nil {
		return store.Info{}, withOp("activate", err)
	}
	defer snap.Release()
	_, err = s.change(ctx, kg, func(r *catalogueRecord) error {
		if _, ok := r.find(number); !ok {
			return store.ErrNotFound
		}
		r.activate(number)
		return nil
	})
	if err != nil {
		return store.Info{}, store.WrapError("activate", kg, number, err)
	}
	return snap.Info(), nil
}

// Rollback implements store.Catalogue.
func (s *Store) Rollback(ctx context.Context, kg string) (store.Info, error) {
	if _, err := s.List(ctx, kg); err != nil {
		return store.Info{}, withOp("roll back", err)
	}
	var to entry
	_, err := s.change(ctx, kg, func(r *catalogueRecord) error {
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
		return store.Info{}, store.WrapError("roll back", kg, 0, err)
	}
	return to.Info, nil
}

// Drop implements store.Catalogue. What is dropped is hidden at once and deleted later, by the next
// load or drop, so that questions under way, here and in other retrievers, read to their end.
func (s *Store) Drop(ctx context.Context, kg string, number uint64) ([]uint64, error) {
	if _, err := s.List(ctx, kg); err != nil {
		return nil, withOp("drop", err)
	}
	var gone []uint64
	_, err := s.change(ctx, kg, func(r *catalogueRecord) error {
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
			r.Dropped = append(r.Dropped, droppedSnapshot{n, time.Now().UTC()})
		}
		return nil
	})
	if err != nil {
		return nil, store.WrapError("drop", kg, number, err)
	}
	return gone, store.WrapError("drop", kg, number, s.clean(ctx, kg, 0))
}

// Verify implements store.Catalogue. It fetches the structure again, which compares its checksums, and
// reads the vector of every triple.
func (s *Store) Verify(ctx context.Context, kg string, number uint64) (store.Info, int64, error) {
	e, err := s.resolve(ctx, kg, number)
	if err != nil {
		return store.Info{}, 0, store.WrapError("verify", kg, number, err)
	}
	g := newGraph(s.cluster, s.home, e)
	g.refetch = true
	g.use()
	var bytes int64
	err = store.Guard(func() (err error) {
		bytes, err = g.verify(ctx)
		return err
	})
	if err := errors.Join(err, g.release()); err != nil {
		return store.Info{}, 0, store.WrapError("verify", kg, e.Number, err)
	}
	return e.Info, bytes, nil
}

// clean deletes what was dropped long enough ago, and what loads left that
// are abandoned, except the load of the given number.
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
		if time.Since(p.Beat) > s.loadTimeout && p.Number != but {
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
	_, err = s.change(ctx, kg, func(r *catalogueRecord) error {
		r.Dropped = slices.DeleteFunc(r.Dropped, func(d droppedSnapshot) bool { return done[d.Number] })
		r.Pending = slices.DeleteFunc(r.Pending, func(p pendingLoad) bool { return done[p.Number] })
		return nil
	})
	return err
}

// inUse reports whether this process still reads a snapshot.
func (s *Store) inUse(kg string, number uint64) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for g := range s.draining {
		if g.users.Load() == 0 {
			delete(s.draining, g)
		} else if g.entry.KG == kg && g.entry.Number == number {
			return true
		}
	}
	return false
}

// deleteParts deletes the collections of a snapshot.
func (s *Store) deleteParts(ctx context.Context, kg string, number uint64) error {
	there, err := s.cluster.classes(ctx, collection(s.home, kg, number, ""))
	if err != nil {
		return err
	}
	for _, def := range there {
		if err := s.cluster.deleteClass(ctx, fmt.Sprint(def["class"])); err != nil {
			return err
		}
	}
	return nil
}

// withOp gives an error of a step the name of what it was a step of.
func withOp(op string, err error) error {
	if known, ok := errors.AsType[*store.Error](err); ok {
		return &store.Error{Op: op, KG: known.KG, Number: known.Number, Err: known.Err}
	}
	return err
}

func (g *graph) verify(ctx context.Context) (bytes int64, err error) {
	structure, err := g.open(ctx)
	if err != nil || !g.entry.TripleVectors {
		return g.entry.StructureBytes, err
	}
	const step = maxParallel * rowsPerRequest
	for from := 0; from < g.entry.Triples; from += step {
		numbers := numberRange(uint32(from), uint32(min(from+step, g.entry.Triples)))
		if err := g.readRows(ctx, vectorsPart, []string{propSubject, propRelation}, numbers, func(r row) error {
			t := structure.Triple(store.TripleID(r.number))
			for property, want := range map[string]uint32{propSubject: uint32(t.Subject),
				propRelation: uint32(t.Relation)} {
				if got := r.property(property).GetIntValue(); got != int64(want) {
					return fmt.Errorf("%q is %d, want %d: %w", property, got, want, store.ErrCorrupt)
				}
			}
			_, err := r.vector(g.entry.Dims)
			return err
		}); err != nil {
			return 0, err
		}
	}
	return g.entry.StructureBytes + int64(g.entry.Triples)*int64(4*g.entry.Dims), nil
}
