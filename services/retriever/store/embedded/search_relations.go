package embedded

import (
	"context"

	"github.com/triplemesh/triplemesh/services/retriever/dot"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// RelationVector implements store.Searcher; nil in a snapshot without any
// vectors.
func (s *snapshot) RelationVector(id store.RelationID) []float32 {
	l := s.layerOf(int(id), firstRelation)
	if l.relationVectors == nil {
		return nil
	}
	size := s.info.Dims * 4
	row := int(id) - l.first.FirstRelation
	return floats(l.relationVectors.Bytes(row*size, (row+1)*size))
}

// SearchRelations implements store.Searcher. Relations are so few that they
// are compared one after another.
func (s *snapshot) SearchRelations(ctx context.Context, queries [][]float32, k int) (hits [][]store.RelationHit, err error) {
	err = store.Guard(func() error {
		if err := s.checkQueries(queries, s.info.Dims > 0); err != nil {
			return err
		}
		hits = make([][]store.RelationHit, len(queries))
		for from := 0; from < len(queries); from += dot.Queries {
			to := min(from+dot.Queries, len(queries))
			if err := s.searchRelations(ctx, queries[from:to], k, hits[from:to]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, s.wrap("search relations of", err)
	}
	return hits, nil
}

// searchRelations takes as many queries as the kernel does.
func (s *snapshot) searchRelations(ctx context.Context, queries [][]float32, k int, hits [][]store.RelationHit) error {
	k = min(k, s.info.Relations)
	if k <= 0 {
		return ctx.Err()
	}
	best := newTops(len(queries), k)
	block := dot.NewBlock(queries)
	var out [2 * dot.Queries]float32
	for r := range s.info.Relations {
		if r%256 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		// One whose triples were all removed is no longer there.
		if !s.plain() && s.RelationTriples(store.RelationID(r)) == 0 {
			continue
		}
		v := s.RelationVector(store.RelationID(r))
		block.Products(v, v, &out)
		for q := range best {
			if out[q] > best[q].floor {
				best[q].add(candidate{uint32(r), out[q]})
			}
		}
	}
	for q, found := range merge([][]top{best}, k) {
		hits[q] = make([]store.RelationHit, len(found))
		for i, c := range found {
			hits[q][i] = store.RelationHit{Relation: store.RelationID(c.row), Score: c.score}
		}
	}
	return nil
}
