package embedded

import (
	"cmp"
	"context"
	"slices"

	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/vector"
)

func (s *snapshot) SearchTriples(ctx context.Context, queries [][]float32, k int,
	filter store.Filter) (hits [][]store.Hit, err error) {
	err = store.Guard(func() error {
		if err := s.checkQueries(queries, s.info.TripleVectors); err != nil {
			return err
		}
		hits = make([][]store.Hit, len(queries))
		for _, l := range s.layers {
			if err := s.searchLayer(ctx, l, queries, k, filter, hits); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, s.wrap("search", err)
	}
	if !s.isWhole() {
		for q := range hits {
			slices.SortFunc(hits[q], byScore)
			hits[q] = hits[q][:min(k, len(hits[q]))]
		}
	}
	return hits, nil
}

func byScore(a, b store.Hit) int {
	if a.Score != b.Score {
		return cmp.Compare(b.Score, a.Score)
	}
	return cmp.Compare(a.Triple, b.Triple)
}

// searchLayer appends the best hits of a layer.
func (s *snapshot) searchLayer(ctx context.Context, l *layer, queries [][]float32, k int, filter store.Filter,
	hits [][]store.Hit) error {
	best, err := l.vectors.Search(ctx, queries, k, vector.Options{Rows: l.ranges(filter.Subjects),
		Passes: s.rowFilter(l, filter)})
	if err != nil {
		return err
	}
	for q, top := range best {
		hits[q] = slices.Grow(hits[q], len(top))
		for _, h := range top {
			hits[q] = append(hits[q], store.Hit{Triple: store.TripleID(l.first.FirstTriple + int(h.Row)),
				Score: h.Score})
		}
	}
	return nil
}

// ranges are where the triples of some subjects lie, ascending; nil for all subjects.
func (l *layer) ranges(subjects []store.EntityID) [][2]uint32 {
	if subjects == nil {
		return nil
	}
	ranges := [][2]uint32{}
	for _, e := range slices.Compact(slices.Sorted(slices.Values(subjects))) {
		row, ok := l.row(int(e))
		if !ok {
			continue
		}
		at := l.graph.row(row, store.Out)
		switch last := len(ranges) - 1; {
		case at.from == at.to:
		case last >= 0 && ranges[last][1] == uint32(at.from):
			ranges[last][1] = uint32(at.to)
		default:
			ranges = append(ranges, [2]uint32{uint32(at.from), uint32(at.to)})
		}
	}
	return ranges
}

// rowFilter returns a predicate for the rows of a layer that a filter matches, its subjects
// aside; nil if it matches all.
func (s *snapshot) rowFilter(l *layer, filter store.Filter) func(uint32) bool {
	removable := slices.ContainsFunc(s.layers, func(above *layer) bool {
		return above.own.Removed > 0 && above.first.FirstTriple > l.first.FirstTriple
	})
	if filter.Relations == nil && filter.At == "" && !removable {
		return nil
	}
	relations := make([]bool, s.info.Relations)
	for _, r := range filter.Relations {
		if int(r) < len(relations) {
			relations[r] = true
		}
	}
	return func(row uint32) bool {
		id := l.first.FirstTriple + int(row)
		return (filter.Relations == nil || relations[l.graph.relations.Get(int(row))]) &&
			!(removable && s.isRemoved(id)) && (filter.At == "" || s.Validity(store.TripleID(id)).Covers(filter.At))
	}
}

func (s *snapshot) ScoreTriples(ctx context.Context, queries [][]float32,
	triples []store.TripleID) (scores [][]float32, err error) {
	err = store.Guard(func() error {
		if err := s.checkQueries(queries, s.info.TripleVectors); err != nil {
			return err
		}
		if s.isWhole() {
			rows := make([]uint32, len(triples))
			for i, id := range triples {
				rows[i] = uint32(id)
			}
			scores, err = s.layers[0].vectors.Score(ctx, queries, rows)
			return err
		}
		scores = make([][]float32, len(queries))
		for q := range scores {
			scores[q] = make([]float32, len(triples))
		}
		for _, l := range s.layers {
			if err := s.scoreLayer(ctx, l, queries, triples, scores); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, s.wrap("score triples of", err)
	}
	return scores, nil
}

// scoreLayer fills in the scores of the triples that a layer holds.
func (s *snapshot) scoreLayer(ctx context.Context, l *layer, queries [][]float32, triples []store.TripleID,
	scores [][]float32) error {
	var rows []uint32
	var places []int
	for i, id := range triples {
		if s.layerOf(int(id), firstTriple) == l {
			rows = append(rows, uint32(int(id)-l.first.FirstTriple))
			places = append(places, i)
		}
	}
	some, err := l.vectors.Score(ctx, queries, rows)
	if err != nil {
		return err
	}
	for q := range some {
		for i, place := range places {
			scores[q][place] = some[q][i]
		}
	}
	return nil
}

// checkQueries refuses queries that cannot be compared with what there is.
func (s *snapshot) checkQueries(queries [][]float32, there bool) error {
	if !there {
		return store.ErrNoVectors
	}
	for i, q := range queries {
		if len(q) != s.info.Dims {
			return store.Invalidf("query %d has %d dimensions, the snapshot's encoder %s makes %d", i, len(q),
				s.info.Encoder, s.info.Dims)
		}
	}
	return nil
}
