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
	cosines := map[store.RelationID]float32{}
	around := make([][]float32, len(q.candidates))
	for i, c := range q.candidates {
		for _, dir := range []store.Direction{store.Out, store.In} {
			// A country has a hundred thousand edges and a hundred relations.
			relations, err := q.snap.Relations(ctx, c.entity, dir)
			if err != nil {
				return nil, err
			}
			for _, r := range relations {
				cosine, ok := cosines[r.Relation]
				if !ok {
					cosine = dot.Product(vectors[0], q.snap.RelationVector(r.Relation))
					cosines[r.Relation] = cosine
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
