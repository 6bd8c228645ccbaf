// Package prune decides which subjects of the hits G_t stay in the ground
// graph G_g (PG&AKV §III-B).
package prune

import (
	"cmp"
	"slices"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// Hit is a distinct triple of G_t: who it is about, and its best cosine to any
// query, -1 to 1.
type Hit struct {
	Subject store.EntityID
	Score   float32
}

// Subject is an entity with its standing among the hits.
type Subject struct {
	Entity store.EntityID
	// Confidence is the mean or the best cosine of its hits, by the rule.
	Confidence float32
	// Hits counts the hits with this subject.
	Hits int
}

// Reason says which step removed a subject.
type Reason uint8

const (
	// Selection: outside the first subjects (step 1).
	Selection Reason = iota + 1
	// Confidence: under the threshold (step 2).
	Confidence
)

// Dropped is a subject that was removed, and why.
type Dropped struct {
	Subject
	Reason Reason
}

// Paper prunes as published: the k subjects with most hits stay (k is the
// number of distinct subjects of G_p), then those whose mean cosine is at
// least minConfidence. Both lists come with the highest confidence first.
func Paper(hits []Hit, k int, minConfidence float32) ([]Subject, []Dropped) {
	subjects := standings(hits, mean)
	slices.SortStableFunc(subjects, func(a, b Subject) int {
		return cmp.Or(cmp.Compare(b.Hits, a.Hits), compare(a, b))
	})
	return split(subjects, k, minConfidence)
}

// Best prunes by each subject's best hit: one close triple is enough to show
// that a subject is meant, however many distant ones there are beside it. At
// most k subjects stay, each with at least minConfidence.
func Best(hits []Hit, k int, minConfidence float32) ([]Subject, []Dropped) {
	subjects := standings(hits, slices.Max[[]float32])
	slices.SortStableFunc(subjects, compare)
	return split(subjects, k, minConfidence)
}

// split keeps the first k that reach the threshold. The step that comes first
// names the reason, as in the paper.
func split(ranked []Subject, k int, minConfidence float32) (kept []Subject, dropped []Dropped) {
	for i, s := range ranked {
		switch {
		case i >= k:
			dropped = append(dropped, Dropped{s, Selection})
		case s.Confidence < minConfidence:
			dropped = append(dropped, Dropped{s, Confidence})
		default:
			kept = append(kept, s)
		}
	}
	slices.SortStableFunc(kept, compare)
	slices.SortStableFunc(dropped, func(a, b Dropped) int { return compare(a.Subject, b.Subject) })
	return kept, dropped
}

func standings(hits []Hit, confidence func([]float32) float32) []Subject {
	scores := map[store.EntityID][]float32{}
	for _, h := range hits {
		scores[h.Subject] = append(scores[h.Subject], h.Score)
	}
	subjects := make([]Subject, 0, len(scores))
	for entity, of := range scores {
		subjects = append(subjects, Subject{Entity: entity, Confidence: confidence(of), Hits: len(of)})
	}
	slices.SortFunc(subjects, func(a, b Subject) int { return cmp.Compare(a.Entity, b.Entity) })
	return subjects
}

func mean(scores []float32) float32 {
	var sum float64
	for _, s := range scores {
		sum += float64(s)
	}
	return float32(sum / float64(len(scores)))
}

// compare puts the higher confidence first, then more hits, then the lower
// number, so that the order never depends on chance.
func compare(a, b Subject) int {
	return cmp.Or(
		cmp.Compare(b.Confidence, a.Confidence),
		cmp.Compare(b.Hits, a.Hits),
		cmp.Compare(a.Entity, b.Entity),
	)
}
