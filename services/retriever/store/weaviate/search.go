package weaviate

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	pb "github.com/weaviate/weaviate/grpc/generated/protocol/v1"
	"golang.org/x/sync/errgroup"

	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/vector"
)

// extraNeighbours is how many more neighbours than wanted are asked for, so that it is
// seen whether others are as near as the last one.
const extraNeighbours = 8

// SearchTriples implements store.Searcher. The index chooses, the scores are
// computed here from the stored vectors.
func (s *snapshot) SearchTriples(ctx context.Context, queries [][]float32, k int,
	filter store.Filter) ([][]store.Hit, error) {
	if err := s.checkQueries(queries); err != nil {
		return nil, s.wrap("search", err)
	}
	if err := ctx.Err(); err != nil {
		return nil, s.wrap("search", err)
	}
	hits := make([][]store.Hit, len(queries))
	if k <= 0 || filter.Subjects != nil && len(filter.Subjects) == 0 || filter.Relations != nil &&
		len(filter.Relations) == 0 {
		return hits, nil
	}
	if wanted := min(k, s.graph.entry.Triples); wanted > maxRows {
		return nil, s.wrap("search",
			store.Invalidf("%d nearest triples requested, a Weaviate cluster returns at most %d", wanted, maxRows))
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(maxParallel)
	passes := filter.Matcher(s)
	for q, query := range queries {
		group.Go(func() error {
			return store.Guard(func() (err error) {
				hits[q], err = s.graph.searchNearest(ctx, query, k, s.graph.serverFilter(filter), passes)
				return err
			})
		})
	}
	if err := group.Wait(); err != nil {
		return nil, s.wrap("search", err)
	}
	return hits, nil
}

// serverFilter is what of a filter the server applies: all of it, except that two
// dates may be nearer to one another than days tell.
func (g *graph) serverFilter(f store.Filter) *pb.Filters {
	var all []*pb.Filters
	if f.Subjects != nil {
		all = append(all, anyOf(propSubject, f.Subjects))
	}
	if f.Relations != nil {
		all = append(all, anyOf(propRelation, f.Relations))
	}
	if first, last, ok := dateRange(f.At); ok && g.entry.Dated {
		all = append(all, compareFilter(propFrom, pb.Filters_OPERATOR_LESS_THAN_EQUAL, last),
			compareFilter(propTo, pb.Filters_OPERATOR_GREATER_THAN_EQUAL, first))
	}
	return allOf(all)
}

// searchNearest asks for more neighbours while those that come leave it open which the best are.
func (g *graph) searchNearest(ctx context.Context, query []float32, k int, filter *pb.Filters,
	passes func(store.TripleID) bool) ([]store.Hit, error) {
	for limit := min(k+extraNeighbours, maxRows); ; limit = min(4*limit, maxRows) {
		rows, err := g.query(ctx, vectorsPart, nil, &pb.SearchRequest{
			Filters: filter, Limit: uint32(limit),
			NearVector: &pb.NearVector{Vectors: []*pb.Vectors{{VectorBytes: vectorBytes(query),
				Type: pb.Vectors_VECTOR_TYPE_SINGLE_FP32}}},
		})
		if err != nil {
			return nil, err
		}
		hits := make([]store.Hit, 0, len(rows))
		last := float32(1)
		for _, r := range rows {
			id, v, err := g.readVector(r)
			if err != nil {
				return nil, fmt.Errorf("search collection %s: %w", g.collection(vectorsPart), err)
			}
			score := vector.Dot(query, v)
			last = min(last, score)
			if passes == nil || passes(id) {
				hits = append(hits, store.Hit{Triple: id, Score: score})
			}
		}
		slices.SortFunc(hits, func(a, b store.Hit) int {
			return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Triple, b.Triple))
		})
		whole := len(rows) < limit || limit == maxRows || limit >= g.entry.Triples
		if whole || len(hits) >= k && hits[k-1].Score > last {
			return slices.Clip(hits[:min(k, len(hits))]), nil
		}
	}
}

// ScoreTriples implements store.Searcher.
func (s *snapshot) ScoreTriples(ctx context.Context, queries [][]float32,
	triples []store.TripleID) ([][]float32, error) {
	if err := s.checkQueries(queries); err != nil {
		return nil, s.wrap("score triples of", err)
	}
	if err := ctx.Err(); err != nil {
		return nil, s.wrap("score triples of", err)
	}
	vectors, err := s.graph.readVectors(ctx, triples)
	if err != nil {
		return nil, s.wrap("score triples of", err)
	}
	scores := make([][]float32, len(queries))
	for q, query := range queries {
		scores[q] = make([]float32, len(triples))
		for i, id := range triples {
			scores[q][i] = vector.Dot(query, vectors[id])
		}
	}
	return scores, nil
}

// readVectors returns the vectors of triples.
func (g *graph) readVectors(ctx context.Context, ids []store.TripleID) (map[store.TripleID][]float32, error) {
	found := make(map[store.TripleID][]float32, len(ids))
	var missing []uint32
	for _, id := range ids {
		if _, again := found[id]; again {
			continue
		}
		v, ok := g.vectors.Get(id)
		if !ok {
			missing = append(missing, uint32(id))
		}
		found[id] = v
	}
	err := g.readRows(ctx, vectorsPart, nil, missing, func(r row) error {
		id, v, err := g.readVector(r)
		found[id] = v
		return err
	})
	return found, err
}

// readVector reads the row of a triple's vector, and remembers it.
func (g *graph) readVector(r row) (store.TripleID, []float32, error) {
	id := store.TripleID(r.number)
	if int64(id) >= int64(g.entry.Triples) {
		return 0, nil, fmt.Errorf("a vector of triple %d, there are %d: %w", id, g.entry.Triples, store.ErrCorrupt)
	}
	v, err := r.vector(g.entry.Dims)
	if err == nil {
		g.vectors.Add(id, v)
	}
	return id, v, err
}

// checkQueries refuses queries that cannot be compared with what there is.
func (s *snapshot) checkQueries(queries [][]float32) error {
	e := s.graph.entry
	if !e.TripleVectors {
		return store.ErrNoVectors
	}
	for i, q := range queries {
		if len(q) != e.Dims {
			return store.Invalidf("query %d has %d dimensions, the snapshot's encoder %s makes %d", i, len(q),
				e.Encoder, e.Dims)
		}
	}
	return nil
}
