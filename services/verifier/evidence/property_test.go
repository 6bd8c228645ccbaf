package evidence_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	"github.com/triplemesh/triplemesh/services/verifier/evidence"
)

// TestOrderKeepsWhatFitsAndPutsTimeInOrder orders any ground graph: no more than
// the limit is listed, each triple once, the subjects of higher confidence later,
// and of one subject and relation what has a time in its order.
func TestOrderKeepsWhatFitsAndPutsTimeInOrder(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		ground := &graphv1.GroundGraph{}
		subject := map[*graphv1.ScoredTriple]int{}
		all := 0
		for n := range rapid.IntRange(0, 4).Draw(r, "subjects") {
			s := &graphv1.SubjectEvidence{}
			for range rapid.IntRange(0, 6).Draw(r, "triples") {
				e := &graphv1.ScoredTriple{Triple: &graphv1.Triple{Relation: rapid.SampledFrom([]string{"mayor", "area"}).Draw(r, "relation")}}
				if start := rapid.SampledFrom([]string{"", "1998", "2006", "2010-03"}).Draw(r, "start"); start != "" {
					e.Triple.Validity = &graphv1.ValidityInterval{Start: start}
				}
				s.Triples = append(s.Triples, e)
				subject[e] = n
				all++
			}
			ground.Subjects = append(ground.Subjects, s)
		}
		limit := rapid.IntRange(0, 15).Draw(r, "limit")
		before := map[int][]*graphv1.ScoredTriple{}
		for n, s := range ground.GetSubjects() {
			before[n] = slices.Clone(s.GetTriples())
		}
		ordered := evidence.Order(ground, limit)
		if len(ordered) != min(all, limit) {
			r.Fatalf("%d of %d triples are listed, the limit is %d", len(ordered), all, limit)
		}
		seen := map[*graphv1.ScoredTriple]bool{}
		last := len(ground.GetSubjects())
		latest := map[string]string{}
		for _, e := range ordered {
			if n := subject[e]; seen[e] || n > last {
				r.Fatalf("%v is listed twice, or its subject is out of order", e)
			} else if n < last {
				last, latest = n, map[string]string{}
			}
			seen[e] = true
			start, relation := e.GetTriple().GetValidity().GetStart(), e.GetTriple().GetRelation()
			if start != "" && start < latest[relation] {
				r.Fatalf("%s comes after %s of one fact", start, latest[relation])
			}
			latest[relation] = max(latest[relation], start)
		}
		for n, s := range ground.GetSubjects() {
			if !slices.Equal(s.GetTriples(), before[n]) {
				r.Fatal("the ground graph was changed")
			}
		}
	})
}
