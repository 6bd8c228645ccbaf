package link

import (
	"context"
	"slices"

	"github.com/triplemesh/triplemesh/services/retriever/dot"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// meaning is how near a text is to what a graph says of an entity: the best
// cosine to any relation of it, and the mean of the best three.
type meaning struct{ best, mean float32 }

// unknownMeaning stands for the meaning where the graph has no vectors: what
// topic entities have on average.
var unknownMeaning = meaning{0.41, 0.34}

// compare finds the meaning of the text for each candidate: "who wrote" is near
// to the relations of a book and far from those of a river of the same name.
func (q *question) compare(ctx context.Context, encoder Encoder) ([]meaning, error) {
	meanings := make([]meaning, len(q.candidates))
	for i := range meanings {
		meanings[i] = unknownMeaning
	}
	if q.snap.Info().Dims == 0 {
		return meanings, nil
	}
	vectors, err := encoder.Encode(ctx, []string{q.text})
	if err != nil {
		return nil, err
	}
	entities := make([]store.EntityID, len(q.candidates))
	for i, c := range q.candidates {
		entities[i] = c.entity
	}
	cosines := map[store.RelationID]float32{}
	around := make([][]float32, len(entities))
	for _, dir := range []store.Direction{store.Out, store.In} {
		lists, err := q.snap.Edges(ctx, entities, dir, nil)
		if err != nil {
			return nil, err
		}
		for i, edges := range lists {
			for relation := range relations(edges) {
				cosine, ok := cosines[relation]
				if !ok {
					cosine = dot.Product(vectors[0], q.snap.RelationVector(relation))
					cosines[relation] = cosine
				}
				around[i] = append(around[i], cosine)
			}
		}
	}
	for i, a := range around {
		if len(a) > 0 {
			meanings[i] = meaningOf(a)
		}
	}
	return meanings, nil
}

// relations hands out the distinct relations of edges, which are ordered by
// them: a country has a hundred thousand edges and a hundred relations.
func relations(edges []store.Edge) func(yield func(store.RelationID) bool) {
	return func(yield func(store.RelationID) bool) {
		for len(edges) > 0 && yield(edges[0].Relation) {
			next, _ := slices.BinarySearchFunc(edges, edges[0].Relation, func(e store.Edge, r store.RelationID) int {
				if e.Relation <= r {
					return -1
				}
				return 1
			})
			edges = edges[next:]
		}
	}
}

func meaningOf(cosines []float32) meaning {
	slices.Sort(cosines)
	slices.Reverse(cosines)
	top := cosines[:min(3, len(cosines))]
	sum := float32(0)
	for _, c := range top {
		sum += c
	}
	return meaning{top[0], sum / float32(len(top))}
}
