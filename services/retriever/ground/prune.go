package ground

import (
	"cmp"
	"slices"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// subjectHit is a distinct triple of G_t: its subject and its best cosine to any query, -1 to 1.
type subjectHit struct {
	Subject store.EntityID
	Score   float32
}

// rankedSubject is a subject of hits with its confidence.
type rankedSubject struct {
	Entity store.EntityID
	// Confidence is the mean or the best cosine of its hits, depending on the rule.
	Confidence float32
	// Hits counts the hits with this subject.
	Hits int
}

// DropReason is the pruning step that removed a subject.
type DropReason uint8

const (
	// OutsideSelection means that the subject is not among the first k subjects (step 1).
	OutsideSelection DropReason = iota + 1
	// LowConfidence means that its confidence is below the threshold (step 2).
	LowConfidence
)

// droppedSubject is a subject that pruning removed.
type droppedSubject struct {
	rankedSubject
	Reason DropReason
}

// prunePaper prunes as published (PG&AKV §III-B): it keeps the k subjects with most hits (k is the
// number of distinct subjects of G_p), then of these those whose mean cosine is at least
// minConfidence. Both results are ordered by falling confidence.
func prunePaper(hits []subjectHit, k int, minConfidence float32) ([]rankedSubject, []droppedSubject) {
	subjects := rankSubjects(hits, mean)
	slices.SortStableFunc(subjects, func(a, b rankedSubject) int {
		return cmp.Or(cmp.Compare(b.Hits, a.Hits), compareSubjects(a, b))
	})
	return splitRanked(subjects, k, minConfidence)
}

// pruneBest prunes by each subject's best hit: one close triple shows that a subject is meant,
// however many distant ones it has. At most k subjects stay, each with at least minConfidence.
func pruneBest(hits []subjectHit, k int, minConfidence float32) ([]rankedSubject, []droppedSubject) {
	subjects := rankSubjects(hits, slices.Max[[]float32])
	slices.SortStableFunc(subjects, compareSubjects)
	return splitRanked(subjects, k, minConfidence)
}

// splitRanked keeps those of the first k that reach the threshold. The first step that removes a
// subject is the reason.
func splitRanked(ranked []rankedSubject, k int,
	minConfidence float32) (kept []rankedSubject, dropped []droppedSubject) {
	for i, s := range ranked {
		switch {
		case i >= k:
			dropped = append(dropped, droppedSubject{s, OutsideSelection})
		case s.Confidence < minConfidence:
			dropped = append(dropped, droppedSubject{s, LowConfidence})
		default:
			kept = append(kept, s)
		}
	}
	slices.SortStableFunc(kept, compareSubjects)
	slices.SortStableFunc(dropped, func(a, b droppedSubject) int {
		return compareSubjects(a.rankedSubject, b.rankedSubject)
	})
	return kept, dropped
}

func rankSubjects(hits []subjectHit, confidence func([]float32) float32) []rankedSubject {
	scores := map[store.EntityID][]float32{}
	for _, h := range hits {
		scores[h.Subject] = append(scores[h.Subject], h.Score)
	}
	subjects := make([]rankedSubject, 0, len(scores))
	for entity, list := range scores {
		subjects = append(subjects, rankedSubject{Entity: entity, Confidence: confidence(list), Hits: len(list)})
	}
	slices.SortFunc(subjects, func(a, b rankedSubject) int { return cmp.Compare(a.Entity, b.Entity) })
	return subjects
}

func mean(scores []float32) float32 {
	var sum float64
	for _, s := range scores {
		sum += float64(s)
	}
	return float32(sum / float64(len(scores)))
}

// compareSubjects orders by falling confidence, then falling hits, then entity, so that the order
// is deterministic.
func compareSubjects(a, b rankedSubject) int {
	return cmp.Or(
		cmp.Compare(b.Confidence, a.Confidence),
		cmp.Compare(b.Hits, a.Hits),
		cmp.Compare(a.Entity, b.Entity),
	)
}
