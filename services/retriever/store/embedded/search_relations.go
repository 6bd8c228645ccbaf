package embedded

import (
	"cmp"
	"context"
	"slices"

	"github.com/triplemesh/triplemesh/services/retriever/scan"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// RelationVector implements store.Searcher; nil in a snapshot without any
// vectors.
func (s *snapshot) RelationVector(id store.RelationID) []float32 {
	l := s.layerOf(int(id), firstRelation)
	if l.relationVectors == nil {
		return nil
	}
	v, err := l.relationVectors.Row(uint32(int(id) - l.first.FirstRelation))
	if err != nil {
		panic(&store.Fault{Err: err})
	}
	return v
}

// SearchRelations implements store.Searcher.
func (s *snapshot) SearchRelations(ctx context.Context, queries [][]float32, k int) (hits [][]store.RelationHit, err error) {
	err = store.Guard(func() error {
		if err := s.checkQueries(queries, s.info.Dims > 0); err != nil {
			return err
		}
		hits = make([][]store.RelationHit, len(queries))
		for _, l := range s.layers {
			if err := s.searchRelations(ctx, l, queries, k, hits); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, s.wrap("search relations of", err)
	}
	if !s.plain() {
		for q := range hits {
			slices.SortFunc(hits[q], func(a, b store.RelationHit) int {
				return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Relation, b.Relation))
			})
			hits[q] = hits[q][:min(k, len(hits[q]))]
		}
	}
	return hits, nil
}

// searchRelations appends the best hits of a layer. A relation whose triples
// were all removed is no longer there.
func (s *snapshot) searchRelations(ctx context.Context, l *layer, queries [][]float32, k int, hits [][]store.RelationHit) error {
	id := func(row uint32) store.RelationID { return store.RelationID(l.first.FirstRelation + int(row)) }
	options := scan.Options{}
	if !s.plain() {
		options.Passes = func(row uint32) bool { return s.RelationTriples(id(row)) > 0 }
	}
	best, err := l.relationVectors.Search(ctx, queries, k, options)
	if err != nil {
		return err
	}
	for q, top := range best {
		for _, h := range top {
			hits[q] = append(hits[q], store.RelationHit{Relation: id(h.Row), Score: h.Score})
		}
	}
	return nil
}
