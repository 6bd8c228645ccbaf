package weaviate

import (
	"cmp"
	"context"
	"encoding/binary"
	"math"
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
	if err := s.checkQueries(queries, s.graph.entry.TripleVectors); err != nil {
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
	passes := filter.Matcher(cachedFacts{s.graph})
	for q, query := range queries {
		group.Go(func() (err error) {
			hits[q], err = s.graph.searchNearest(ctx, query, k, s.graph.serverFilter(filter), passes)
			return err
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
		all = append(all, anyOf(propSubject, slices.Compact(slices.Sorted(slices.Values(f.Subjects)))))
	}
	if f.Relations != nil {
		all = append(all, anyOf(propRelation, sortedDistinct(f.Relations)))
	}
	if first, last, ok := dateRange(f.At); ok && g.entry.Dated {
		all = append(all, compareFilter(propFrom, pb.Filters_OPERATOR_LESS_THAN_EQUAL, last),
			compareFilter(propTo, pb.Filters_OPERATOR_GREATER_THAN_EQUAL, first))
	}
	return allOf(all...)
}

// cachedFacts are the facts that a reply has just brought: a filter looks at no others.
type cachedFacts struct{ *graph }

func (h cachedFacts) Triple(id store.TripleID) store.Triple {
	f, _ := h.facts.Get(id)
	return f.Triple
}

func (h cachedFacts) Validity(id store.TripleID) store.Validity {
	f, _ := h.facts.Get(id)
	return f.validity
}

func (h cachedFacts) Provenance(id store.TripleID) string {
	f, _ := h.facts.Get(id)
	return f.provenance
}

// searchNearest asks for more neighbours while those that come leave it open which the best are.
func (g *graph) searchNearest(ctx context.Context, query []float32, k int, filter *pb.Filters,
	passes func(store.TripleID) bool) ([]store.Hit, error) {
	bytes := make([]byte, 0, 4*len(query))
	for _, x := range query {
		bytes = binary.LittleEndian.AppendUint32(bytes, math.Float32bits(x))
	}
	for limit := min(k+extraNeighbours, maxRows); ; limit = min(4*limit, maxRows) {
		rows, err := g.query(ctx, factsPart, &pb.SearchRequest{
			Filters: filter, Limit: uint32(limit),
			Metadata: &pb.MetadataRequest{Uuid: true, Vector: true},
			NearVector: &pb.NearVector{Vectors: []*pb.Vectors{{VectorBytes: bytes,
				Type: pb.Vectors_VECTOR_TYPE_SINGLE_FP32}}},
		})
		if err != nil {
			return nil, err
		}
		hits := make([]store.Hit, 0, len(rows))
		last := float32(1)
		for _, r := range rows {
			id, _, err := g.readFact(r)
			v := r.vector(g.entry.Dims)
			if err := cmp.Or(err, r.err); err != nil {
				return nil, err
			}
			g.vectors.Add(id, v)
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

func (s *snapshot) ScoreTriples(ctx context.Context, queries [][]float32,
	triples []store.TripleID) ([][]float32, error) {
	if err := s.checkQueries(queries, s.graph.entry.TripleVectors); err != nil {
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

func (g *graph) readVectors(ctx context.Context, ids []store.TripleID) (map[store.TripleID][]float32, error) {
	found, missing := splitCached(g.vectors, ids)
	err := forEachRow(ctx, g, factsPart, propTriple, missing, scoreBatch, true,
		func(id store.TripleID, r *resultRow) error {
			found[id] = r.vector(g.entry.Dims)
			if _, _, err := g.readFact(r); err != nil {
				return err
			}
			g.vectors.Add(id, found[id])
			return r.err
		})
	return found, err
}

func (s *snapshot) SearchRelations(ctx context.Context, queries [][]float32, k int) ([][]store.RelationHit, error) {
	if err := s.checkQueries(queries, s.graph.entry.Dims > 0); err != nil {
		return nil, s.wrap("search relations of", err)
	}
	hits := make([][]store.RelationHit, len(queries))
	for q, query := range queries {
		if err := ctx.Err(); err != nil {
			return nil, s.wrap("search relations of", err)
		}
		all := make([]store.RelationHit, len(s.graph.relations))
		for i, r := range s.graph.relations {
			all[i] = store.RelationHit{Relation: store.RelationID(i), Score: vector.Dot(query, r.vector)}
		}
		slices.SortFunc(all, func(a, b store.RelationHit) int {
			return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Relation, b.Relation))
		})
		hits[q] = slices.Clip(all[:max(0, min(k, len(all)))])
	}
	return hits, nil
}

// checkQueries refuses queries that cannot be compared with what there is.
func (s *snapshot) checkQueries(queries [][]float32, there bool) error {
	if !there {
		return store.ErrNoVectors
	}
	e := s.graph.entry
	for i, q := range queries {
		if len(q) != e.Dims {
			return store.Invalidf("query %d has %d dimensions, the snapshot's encoder %s makes %d", i, len(q),
				e.Encoder, e.Dims)
		}
	}
	return nil
}
