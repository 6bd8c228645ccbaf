package weaviate

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	pb "github.com/weaviate/weaviate/grpc/generated/protocol/v1"
	"golang.org/x/sync/errgroup"

	"github.com/triplemesh/triplemesh/services/retriever/dot"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// beyond is how many more neighbours than wanted are asked for, so that it is
// seen whether others are as near as the last one.
const beyond = 8

// SearchTriples implements store.Searcher. The index chooses, the scores are
// computed here from the stored vectors.
func (s *snapshot) SearchTriples(ctx context.Context, queries [][]float32, k int, filter store.Filter) ([][]store.Hit, error) {
	if err := s.checkQueries(queries, s.graph.entry.TripleVectors); err != nil {
		return nil, s.wrap("search", err)
	}
	if err := ctx.Err(); err != nil {
		return nil, s.wrap("search", err)
	}
	hits := make([][]store.Hit, len(queries))
	if k <= 0 || filter.Subjects != nil && len(filter.Subjects) == 0 || filter.Relations != nil && len(filter.Relations) == 0 {
		return hits, nil
	}
	if wanted := min(k, s.graph.entry.Triples); wanted > most {
		return nil, s.wrap("search", fmt.Errorf("the %d nearest of a Weaviate cluster, which hands out %d at most: %w", wanted, most, store.ErrInvalid))
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(abreast)
	passes := filter.Passes(held{s.graph})
	for q, query := range queries {
		group.Go(func() (err error) {
			hits[q], err = s.graph.nearest(ctx, query, k, s.graph.served(filter), passes)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, s.wrap("search", err)
	}
	return hits, nil
}

// served is what of a filter the server applies: all of it, except that two
// dates may be nearer to one another than days tell.
func (g *graph) served(f store.Filter) *pb.Filters {
	var all []*pb.Filters
	if f.Subjects != nil {
		all = append(all, anyOf(propSubject, slices.Compact(slices.Sorted(slices.Values(f.Subjects)))))
	}
	if f.Relations != nil {
		all = append(all, anyOf(propRelation, distinct(f.Relations)))
	}
	if first, last, ok := days(f.At); ok && g.entry.Dated {
		all = append(all,
			compared(propFrom, pb.Filters_OPERATOR_LESS_THAN_EQUAL, last),
			compared(propTo, pb.Filters_OPERATOR_GREATER_THAN_EQUAL, first))
	}
	return both(all...)
}

// held are the facts that a reply has just brought: a filter looks at no
// others.
type held struct{ *graph }

func (h held) Triple(id store.TripleID) store.Triple {
	f, _ := h.facts.Get(id)
	return f.Triple
}

func (h held) Validity(id store.TripleID) store.Validity {
	f, _ := h.facts.Get(id)
	return f.validity
}

// nearest asks for more neighbours while those that come leave it open which
// the best are.
func (g *graph) nearest(ctx context.Context, query []float32, k int, filter *pb.Filters, passes func(store.TripleID) bool) ([]store.Hit, error) {
	bytes := make([]byte, 0, 4*len(query))
	for _, x := range query {
		bytes = binary.LittleEndian.AppendUint32(bytes, math.Float32bits(x))
	}
	for limit := min(k+beyond, most); ; limit = min(4*limit, most) {
		rows, err := g.ask(ctx, factsPart, &pb.SearchRequest{
			Filters: filter, Limit: uint32(limit),
			Metadata:   &pb.MetadataRequest{Uuid: true, Vector: true},
			NearVector: &pb.NearVector{Vectors: []*pb.Vectors{{VectorBytes: bytes, Type: pb.Vectors_VECTOR_TYPE_SINGLE_FP32}}},
		})
		if err != nil {
			return nil, err
		}
		hits := make([]store.Hit, 0, len(rows))
		last := float32(1)
		for _, r := range rows {
			id, _, err := g.factOf(r)
			vector := r.vector(g.entry.Dims)
			if err := cmp.Or(err, r.err); err != nil {
				return nil, err
			}
			g.vectors.Add(id, vector)
			score := dot.Product(query, vector)
			last = min(last, score)
			if passes == nil || passes(id) {
				hits = append(hits, store.Hit{Triple: id, Score: score})
			}
		}
		slices.SortFunc(hits, func(a, b store.Hit) int {
			return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Triple, b.Triple))
		})
		whole := len(rows) < limit || limit == most || limit >= g.entry.Triples
		if whole || len(hits) >= k && hits[k-1].Score > last {
			return slices.Clip(hits[:min(k, len(hits))]), nil
		}
	}
}

// ScoreTriples implements store.Searcher.
func (s *snapshot) ScoreTriples(ctx context.Context, queries [][]float32, triples []store.TripleID) ([][]float32, error) {
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
			scores[q][i] = dot.Product(query, vectors[id])
		}
	}
	return scores, nil
}

func (g *graph) readVectors(ctx context.Context, ids []store.TripleID) (map[store.TripleID][]float32, error) {
	found, missing := recall(g.vectors, ids)
	err := each(ctx, g, factsPart, propTriple, missing, scored, true, func(id store.TripleID, r *row) error {
		found[id] = r.vector(g.entry.Dims)
		if _, _, err := g.factOf(r); err != nil {
			return err
		}
		g.vectors.Add(id, found[id])
		return r.err
	})
	return found, err
}

// SearchRelations implements store.Searcher.
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
			all[i] = store.RelationHit{Relation: store.RelationID(i), Score: dot.Product(query, r.vector)}
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
			return fmt.Errorf("query %d has %d dimensions, the snapshot's encoder %s makes %d: %w", i, len(q), e.Encoder, e.Dims, store.ErrInvalid)
		}
	}
	return nil
}
