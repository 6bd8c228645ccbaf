package align_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	"github.com/triplemesh/triplemesh/services/verifier/align"
)

func fact(s, r, o, start string) *graphv1.ScoredTriple {
	t := &graphv1.Triple{Subject: s, Relation: r, Object: o}
	if start != "" {
		t.Validity = &graphv1.ValidityInterval{Start: start}
	}
	return &graphv1.ScoredTriple{Triple: t}
}

func subject(triples ...*graphv1.ScoredTriple) *graphv1.SubjectEvidence {
	return &graphv1.SubjectEvidence{Triples: triples}
}

func TestOrder(t *testing.T) {
	for _, c := range []struct {
		name     string
		subjects []*graphv1.SubjectEvidence
		limit    int
		want     []string
	}{
		{"the subject of highest confidence stands last, nearest to the draft",
			[]*graphv1.SubjectEvidence{subject(fact("A", "r", "1", ""), fact("A", "r", "2", "")),
				subject(fact("B", "r", "3", ""))}, 9,
			[]string{"B | r | 3", "A | r | 1", "A | r | 2"}},
		{"what changes over time is in chronological order, at the places it had",
			[]*graphv1.SubjectEvidence{subject(fact("A", "m", "late", "2006"), fact("A", "r", "x", ""),
				fact("A", "m", "early", "1998"), fact("A", "m", "first", "1990"))}, 9,
			[]string{"A | m | first (since 1990)", "A | r | x", "A | m | early (since 1998)",
				"A | m | late (since 2006)"}},
		{"another relation has a time of its own",
			[]*graphv1.SubjectEvidence{subject(fact("A", "m", "x", "2006"), fact("A", "n", "y", "1998"))}, 9,
			[]string{"A | m | x (since 2006)", "A | n | y (since 1998)"}},
		{"the limit takes the best of the best subject first",
			[]*graphv1.SubjectEvidence{subject(fact("A", "r", "1", ""), fact("A", "r", "2", "")),
				subject(fact("B", "r", "3", ""), fact("B", "r", "4", ""))}, 3,
			[]string{"B | r | 3", "A | r | 1", "A | r | 2"}},
		{"no subject, no evidence", nil, 9, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := align.EvidenceLines(align.OrderEvidence(&graphv1.GroundGraph{Subjects: c.subjects}, c.limit))
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestOrderLeavesTheGroundGraphAsItIs(t *testing.T) {
	s := subject(fact("A", "m", "late", "2006"), fact("A", "m", "early", "1998"))
	align.OrderEvidence(&graphv1.GroundGraph{Subjects: []*graphv1.SubjectEvidence{s}}, 9)
	if s.Triples[0].GetTriple().GetObject() != "late" {
		t.Error("the ground graph was sorted in place")
	}
}

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
				e := &graphv1.ScoredTriple{Triple: &graphv1.Triple{Relation: rapid.SampledFrom([]string{"mayor",
					"area"}).Draw(r, "relation")}}
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
		ordered := align.OrderEvidence(ground, limit)
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
