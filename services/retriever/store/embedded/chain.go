package embedded

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// openChain opens a snapshot with all that it is based on.
func (s *Store) openChain(ctx context.Context, kg string, number uint64) (*snapshot, error) {
	snap := &snapshot{}
	for at, want := number, ""; ; {
		if err := ctx.Err(); err != nil {
			snap.Release()
			return nil, err
		}
		l, err := s.entry(kg, at).use(s.snapshotDir(kg, at))
		if err == nil && want != "" && l.mapping.sum != want {
			l.mapping.release()
			err = fmt.Errorf("it is not the snapshot it was: %w", store.ErrCorrupt)
		}
		if err != nil {
			snap.Release()
			if at != number && !errors.Is(err, errForgotten) {
				err = fmt.Errorf("its base %d: %w", at, err)
			}
			return nil, err
		}
		snap.layers = append(snap.layers, l)
		below := l.mapping.manifest.Base
		if below == nil {
			break
		}
		if below.Number >= at || len(snap.layers) > maxDepth {
			snap.Release()
			return nil, fmt.Errorf("its base %d: it is based on itself or on too many: %w", below.Number, store.ErrCorrupt)
		}
		at, want = below.Number, below.SHA256
	}
	slices.Reverse(snap.layers)
	snap.info = snap.layers[len(snap.layers)-1].mapping.manifest.info()
	return snap, snap.fits()
}

// fits checks that the numbers of each layer go on from those below.
func (s *snapshot) fits() error {
	var next base
	for i, l := range s.layers {
		first := l.first
		if first.FirstEntity != next.FirstEntity || first.FirstRelation != next.FirstRelation || first.FirstTriple != next.FirstTriple || first.Depth != i {
			s.Release()
			return fmt.Errorf("its numbers do not go on from those of its base: %w", store.ErrCorrupt)
		}
		next = base{FirstEntity: next.FirstEntity + l.own.Entities, FirstRelation: next.FirstRelation + l.own.Relations, FirstTriple: next.FirstTriple + l.own.Triples}
	}
	return nil
}
