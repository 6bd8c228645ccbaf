package ground

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

type rule func([]subjectHit, int, float32) ([]rankedSubject, []droppedSubject)

var rules = map[string]rule{"paper": prunePaper, "best": pruneBest}

// drawHits draws hits of few subjects, many of them with equal scores.
func drawHits(r *rapid.T) []subjectHit {
	return rapid.SliceOfN(rapid.Custom(drawHit), 0, 30).Draw(r, "hits")
}

func drawHit(r *rapid.T) subjectHit {
	return subjectHit{store.EntityID(rapid.IntRange(0, 7).Draw(r, "subject")),
		float32(rapid.IntRange(-10, 10).Draw(r, "tenths")) / 10}
}

func drawThreshold(r *rapid.T) float32 {
	return float32(rapid.IntRange(-10, 11).Draw(r, "threshold in tenths")) / 10
}

func checkBothRules(t *testing.T, check func(*rapid.T, rule)) {
	for name, prune := range rules {
		t.Run(name, func(t *testing.T) { rapid.Check(t, func(r *rapid.T) { check(r, prune) }) })
	}
}

func TestEveryHitIsAccountedForInAnyOrder(t *testing.T) {
	checkBothRules(t, func(r *rapid.T, prune rule) {
		hits, k, threshold := drawHits(r), rapid.IntRange(0, 9).Draw(r, "k"), drawThreshold(r)
		kept, dropped := prune(hits, k, threshold)
		again, droppedAgain := prune(rapid.Permutation(hits).Draw(r, "shuffled"), k, threshold)
		if !slices.Equal(kept, again) || !slices.Equal(dropped, droppedAgain) {
			r.Fatalf("kept %v, dropped %v; of shuffled hits %v, %v", kept, dropped, again, droppedAgain)
		}
		if len(kept) > k {
			r.Fatalf("%d subjects are kept of at most %d", len(kept), k)
		}
		counts := map[store.EntityID]int{}
		for _, h := range hits {
			counts[h.Subject]++
		}
		all := slices.Clone(kept)
		for _, d := range dropped {
			all = append(all, d.rankedSubject)
			if (d.Reason == LowConfidence) != (d.Confidence < threshold) && d.Reason != OutsideSelection {
				r.Fatalf("%+v is dropped for reason %d, the threshold is %v", d.rankedSubject, d.Reason, threshold)
			}
		}
		for _, s := range all {
			if counts[s.Entity] != s.Hits || s.Hits == 0 {
				r.Fatalf("%+v has %d hits", s, counts[s.Entity])
			}
			delete(counts, s.Entity)
		}
		if len(counts) > 0 {
			r.Fatalf("subjects neither kept nor dropped: %v", counts)
		}
		for _, s := range kept {
			if s.Confidence < threshold {
				r.Fatalf("%+v is kept under %v", s, threshold)
			}
		}
	})
}

// A higher threshold and a smaller k keep a subset in the same order.
func TestStricterRulesKeepASubset(t *testing.T) {
	checkBothRules(t, func(r *rapid.T, prune rule) {
		hits, k, threshold := drawHits(r), rapid.IntRange(0, 9).Draw(r, "k"), drawThreshold(r)
		kept, _ := prune(hits, k, threshold)
		stricter, _ := prune(hits, rapid.IntRange(0, k).Draw(r, "smaller k"), max(threshold, drawThreshold(r)))
		at := 0
		for _, s := range stricter {
			place := slices.Index(kept[at:], s)
			if place < 0 {
				r.Fatalf("stricter rules keep %v, looser ones %v", stricter, kept)
			}
			at += place + 1
		}
	})
}

// Another hit of a kept subject that is no worse than its confidence keeps it.
func TestOneMoreGoodHitNeverDropsItsSubject(t *testing.T) {
	checkBothRules(t, func(r *rapid.T, prune rule) {
		hits, k, threshold := drawHits(r), rapid.IntRange(1, 9).Draw(r, "k"), drawThreshold(r)
		kept, _ := prune(hits, k, threshold)
		if len(kept) == 0 {
			return
		}
		s := rapid.SampledFrom(kept).Draw(r, "kept")
		better, _ := prune(append(hits, subjectHit{s.Entity, rapid.Float32Range(s.Confidence, 1).Draw(r, "score")}), k,
			threshold)
		if !slices.ContainsFunc(better, func(b rankedSubject) bool { return b.Entity == s.Entity }) {
			r.Fatalf("%+v is kept, but with one more hit it is not: %v", s, better)
		}
	})
}
