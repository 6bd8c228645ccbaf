// Package evidence orders a ground graph for a prompt.
package evidence

import (
	"slices"
	"strings"

	"github.com/triplemesh/triplemesh/internal/verbalise"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

// Order lists the triples of a ground graph as they stand in a prompt
// (PG&AKV, pseudo-graph verification): subjects of higher confidence later,
// nearer to the draft; of one subject and relation, what changes over time in
// chronological order. At most limit triples are listed; of each subject those
// that are nearest to the question or a draft come first into the list.
func Order(ground *graphv1.GroundGraph, limit int) []*graphv1.ScoredTriple {
	var ordered []*graphv1.ScoredTriple
	room := limit
	for _, s := range ground.GetSubjects() { // highest confidence first
		own := slices.Clone(s.GetTriples()[:min(room, len(s.GetTriples()))])
		room -= len(own)
		chronological(own)
		ordered = append(own, ordered...)
	}
	return ordered
}

// chronological puts the triples of one subject and relation, where they hold
// at known times, in the order of time, at the places these triples have.
func chronological(triples []*graphv1.ScoredTriple) {
	places := map[string][]int{}
	for i, t := range triples {
		if t.GetTriple().GetValidity().GetStart() != "" {
			r := t.GetTriple().GetRelation()
			places[r] = append(places[r], i)
		}
	}
	for _, at := range places {
		timed := make([]*graphv1.ScoredTriple, len(at))
		for i, p := range at {
			timed[i] = triples[p]
		}
		slices.SortStableFunc(timed, func(a, b *graphv1.ScoredTriple) int {
			return strings.Compare(a.GetTriple().GetValidity().GetStart(), b.GetTriple().GetValidity().GetStart())
		})
		for i, p := range at {
			triples[p] = timed[i]
		}
	}
}

// Lines shows each triple on a line.
func Lines(pool []*graphv1.ScoredTriple) []string {
	lines := make([]string, len(pool))
	for i, t := range pool {
		lines[i] = verbalise.Fact(t.GetTriple())
	}
	return lines
}
