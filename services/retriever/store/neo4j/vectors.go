package neo4j

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// vectors are triples' vectors in nodes of Neo4j, isolated ones of a label of
// their own, so that one index holds those of all types: an index on
// relationships would be one for each type, and each would have to be asked.
type vectors struct {
	*snapshot
}

const (
	// overFetch is how many times k are asked for: a vector index is approximate,
	// and finds nearly all of the k best among more.
	overFetch = 10
	// leastFetch are asked for at least.
	leastFetch = 100
)

// SearchTriples implements store.Searcher within the recall of the index.
func (v *vectors) SearchTriples(ctx context.Context, queries [][]float32, k int, filter store.Filter) ([][]store.Hit, error) {
	hits := make([][]store.Hit, len(queries))
	if err := v.check(ctx, queries); err != nil || len(queries) == 0 || k <= 0 {
		return hits, err
	}
	if filter.Subjects != nil {
		return v.among(ctx, queries, k, filter)
	}
	passes := filter.Passes(v.local)
	for n := max(overFetch*k, leastFetch); ; n *= 4 {
		rows, err := v.graph.reader.read(ctx, queryVectors, map[string]any{
			"index": v.Vectors + vectorSuffix, "n": min(n, v.info.Triples), "queries": queries,
		})
		if err != nil {
			return nil, err
		}
		for q := range hits {
			hits[q] = hits[q][:0]
		}
		for _, row := range rows {
			id := store.TripleID(number(row[1]))
			if q := number(row[0]); int(id) < v.info.Triples && (passes == nil || passes(id)) {
				hits[q] = append(hits[q], store.Hit{Triple: id, Score: cosine(row[2])})
			}
		}
		if n >= v.info.Triples || !slices.ContainsFunc(hits, func(of []store.Hit) bool { return len(of) < k }) {
			best(hits, k)
			return hits, nil
		}
	}
}

// among compares the triples of some subjects, exactly.
func (v *vectors) among(ctx context.Context, queries [][]float32, k int, filter store.Filter) ([][]store.Hit, error) {
	hits := make([][]store.Hit, len(queries))
	known := slices.DeleteFunc(slices.Clone(filter.Subjects), func(e store.EntityID) bool { return !v.known(e) })
	lists, err := v.local.Edges(ctx, slices.Compact(slices.Sorted(slices.Values(known))), store.Out, nil)
	if err != nil {
		return nil, err
	}
	passes := filter.Passes(v.local)
	var ids []store.TripleID
	for _, edges := range lists {
		for _, e := range edges {
			if passes(e.Triple) {
				ids = append(ids, e.Triple)
			}
		}
	}
	scores, err := v.ScoreTriples(ctx, queries, ids)
	if err != nil {
		return nil, err
	}
	for q := range hits {
		for i, id := range ids {
			hits[q] = append(hits[q], store.Hit{Triple: id, Score: scores[q][i]})
		}
	}
	best(hits, k)
	return hits, nil
}

// best puts hits in order and keeps k of each query.
func best(hits [][]store.Hit, k int) {
	for q := range hits {
		slices.SortFunc(hits[q], func(a, b store.Hit) int {
			return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Triple, b.Triple))
		})
		hits[q] = hits[q][:min(k, len(hits[q]))]
	}
}

// ScoreTriples implements store.Searcher. Neo4j compares; no vector is read.
func (v *vectors) ScoreTriples(ctx context.Context, queries [][]float32, triples []store.TripleID) ([][]float32, error) {
	scores := make([][]float32, len(queries))
	for q := range scores {
		scores[q] = make([]float32, len(triples))
	}
	if err := v.check(ctx, queries); err != nil || len(queries) == 0 {
		return scores, err
	}
	places := map[int64][]int{}
	for i, t := range triples {
		places[int64(t)] = append(places[int64(t)], i)
	}
	ids := make([]int64, 0, len(places))
	for id := range places {
		ids = append(ids, id)
	}
	for some := range slices.Chunk(ids, confirmed) {
		rows, err := v.graph.reader.read(ctx, fmt.Sprintf(scoreVectors, "`"+v.Vectors+"`"), map[string]any{"ids": some, "queries": queries})
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			for q, score := range list(row[1]) {
				for _, i := range places[number(row[0])] {
					scores[q][i] = cosine(score)
				}
			}
		}
	}
	return scores, nil
}

// check refuses queries that cannot be compared.
func (v *vectors) check(ctx context.Context, queries [][]float32) error {
	for i, q := range queries {
		if len(q) != v.info.Dims {
			return fmt.Errorf("query %d has %d dimensions, the snapshot's encoder %s makes %d: %w", i, len(q), v.info.Encoder, v.info.Dims, store.ErrInvalid)
		}
	}
	return ctx.Err()
}

// cosine reads a similarity of Neo4j's, which is 0 to 1.
func cosine(similarity any) float32 {
	f, _ := similarity.(float64)
	return float32(2*f - 1)
}
