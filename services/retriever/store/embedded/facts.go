package embedded

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/vector"
)

func (s *snapshot) Triple(id store.TripleID) store.Triple {
	l := s.layerOf(int(id), firstTriple)
	return l.triple(int(id) - l.first.FirstTriple)
}

func (l *layer) triple(place int) store.Triple {
	return store.Triple{
		Subject:  l.entity(l.graph.subject(place)),
		Relation: store.RelationID(l.graph.relations.Get(place)),
		Object:   l.entity(int(l.graph.objects.Get(place))),
	}
}

func (s *snapshot) Validity(id store.TripleID) store.Validity {
	l := s.layerOf(int(id), firstTriple)
	if l.own.Dated == 0 {
		return store.Validity{}
	}
	i, ok := l.dated.Find(uint64(int(id) - l.first.FirstTriple))
	if !ok {
		return store.Validity{}
	}
	return store.Validity{Start: l.intervals.get(2 * i), End: l.intervals.get(2*i + 1)}
}

func (s *snapshot) Provenance(id store.TripleID) string {
	l := s.layerOf(int(id), firstTriple)
	if l.provenance.n == 0 {
		return ""
	}
	return l.provenance.get(int(id) - l.first.FirstTriple)
}

// Entities implements store.Names: it merges the layers, each of which is in the order of names.
func (s *snapshot) Entities() iter.Seq[store.EntityID] {
	return func(yield func(store.EntityID) bool) {
		next := make([]int, len(s.layers))
		for {
			least := -1
			var name string
			for i, l := range s.layers {
				if next[i] == l.own.Entities {
					continue
				}
				if s.isWhole() {
					least = i
				} else if n := l.entities.view(next[i]); least < 0 || n < name {
					least, name = i, n
				}
			}
			if least < 0 {
				return
			}
			id := store.EntityID(s.layers[least].first.FirstEntity + next[least])
			next[least]++
			if s.isVisible(id) && !yield(id) {
				return
			}
		}
	}
}

// isVisible reports whether any triple names an entity; in a snapshot with deltas
// all may have been removed.
func (s *snapshot) isVisible(id store.EntityID) bool {
	return s.isWhole() || s.Degree(id, store.Out) > 0 || s.Degree(id, store.In) > 0
}

// RelationVector implements store.Searcher; nil in a snapshot without any vectors.
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

func (s *snapshot) SearchRelations(ctx context.Context, queries [][]float32,
	k int) (hits [][]store.RelationHit, err error) {
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
	if !s.isWhole() {
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
func (s *snapshot) searchRelations(ctx context.Context, l *layer, queries [][]float32, k int,
	hits [][]store.RelationHit) error {
	id := func(row uint32) store.RelationID { return store.RelationID(l.first.FirstRelation + int(row)) }
	options := vector.Options{}
	if !s.isWhole() {
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
