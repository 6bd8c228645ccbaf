package neo4j

import (
	"context"
	"slices"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// rounds is how often a search asks for more where hits are gone.
const rounds = 4

// SearchTriples implements store.Searcher, among the triples that were indexed
// and that Neo4j still holds.
func (s *snapshot) SearchTriples(ctx context.Context, queries [][]float32, k int, filter store.Filter) ([][]store.Hit, error) {
	hits, err := s.search(ctx, queries, k, filter)
	return hits, s.wrap("search", err)
}

func (s *snapshot) search(ctx context.Context, queries [][]float32, k int, filter store.Filter) ([][]store.Hit, error) {
	for ask, round := k, 1; ; ask, round = 2*ask, round+1 {
		hits, err := s.vectors.SearchTriples(ctx, queries, ask, filter)
		if err != nil {
			return nil, err
		}
		var ids []store.TripleID
		for _, of := range hits {
			for _, h := range of {
				ids = append(ids, h.Triple)
			}
		}
		there, err := s.confirm(ctx, ids)
		if err != nil {
			return nil, err
		}
		short := false
		for q, of := range hits {
			full := len(of) == ask
			hits[q] = slices.DeleteFunc(of, func(h store.Hit) bool { return !there[h.Triple] })
			short = short || full && len(hits[q]) < k
			hits[q] = hits[q][:min(k, len(hits[q]))]
		}
		if !short || round == rounds {
			return hits, nil
		}
	}
}

// ScoreTriples implements store.Searcher. A triple that was not indexed has no
// vector: its score is 0, as of one that has nothing to do with the query.
func (s *snapshot) ScoreTriples(ctx context.Context, queries [][]float32, triples []store.TripleID) ([][]float32, error) {
	indexed := make([]store.TripleID, 0, len(triples))
	for _, t := range triples {
		if s.indexedTriple(t) {
			indexed = append(indexed, t)
		}
	}
	scores, err := s.vectors.ScoreTriples(ctx, queries, indexed)
	if err != nil || len(indexed) == len(triples) {
		return scores, s.wrap("score triples of", err)
	}
	all := make([][]float32, len(scores))
	for q := range scores {
		all[q] = make([]float32, len(triples))
		next := 0
		for i, t := range triples {
			if s.indexedTriple(t) {
				all[q][i] = scores[q][next]
				next++
			}
		}
	}
	return all, nil
}

// SearchRelations implements store.Searcher.
func (s *snapshot) SearchRelations(ctx context.Context, queries [][]float32, k int) ([][]store.RelationHit, error) {
	return s.local.SearchRelations(ctx, queries, k)
}

// RelationVector implements store.Searcher.
func (s *snapshot) RelationVector(r store.RelationID) []float32 { return s.local.RelationVector(r) }
