package evidence_test

import (
	"slices"
	"testing"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	"github.com/triplemesh/triplemesh/services/verifier/evidence"
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
			[]*graphv1.SubjectEvidence{subject(fact("A", "r", "1", ""), fact("A", "r", "2", "")), subject(fact("B", "r", "3", ""))}, 9,
			[]string{"B | r | 3", "A | r | 1", "A | r | 2"}},
		{"what changes over time is in chronological order, at the places it had",
			[]*graphv1.SubjectEvidence{subject(fact("A", "m", "late", "2006"), fact("A", "r", "x", ""), fact("A", "m", "early", "1998"), fact("A", "m", "first", "1990"))}, 9,
			[]string{"A | m | first (since 1990)", "A | r | x", "A | m | early (since 1998)", "A | m | late (since 2006)"}},
		{"another relation has a time of its own",
			[]*graphv1.SubjectEvidence{subject(fact("A", "m", "x", "2006"), fact("A", "n", "y", "1998"))}, 9,
			[]string{"A | m | x (since 2006)", "A | n | y (since 1998)"}},
		{"the limit takes the best of the best subject first",
			[]*graphv1.SubjectEvidence{subject(fact("A", "r", "1", ""), fact("A", "r", "2", "")), subject(fact("B", "r", "3", ""), fact("B", "r", "4", ""))}, 3,
			[]string{"B | r | 3", "A | r | 1", "A | r | 2"}},
		{"no subject, no evidence", nil, 9, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := evidence.Lines(evidence.Order(&graphv1.GroundGraph{Subjects: c.subjects}, c.limit))
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestOrderLeavesTheGroundGraphAsItIs(t *testing.T) {
	s := subject(fact("A", "m", "late", "2006"), fact("A", "m", "early", "1998"))
	evidence.Order(&graphv1.GroundGraph{Subjects: []*graphv1.SubjectEvidence{s}}, 9)
	if s.Triples[0].GetTriple().GetObject() != "late" {
		t.Error("the ground graph was sorted in place")
	}
}
