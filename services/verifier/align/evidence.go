package align

import (
	"slices"
	"strings"
	"unicode"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

// OrderEvidence lists the triples of a ground graph as they stand in a prompt (PG&AKV, pseudo-graph
// verification): subjects of higher confidence later, nearer to the draft; of one subject and
// relation, what changes over time in chronological order. At most limit triples are listed; of
// each subject those that are nearest to the question or a draft come first into the list.
func OrderEvidence(ground *graphv1.GroundGraph, limit int) []*graphv1.ScoredTriple {
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

// EvidenceLines shows each triple on a line.
func EvidenceLines(pool []*graphv1.ScoredTriple) []string {
	lines := make([]string, len(pool))
	for i, t := range pool {
		lines[i] = kgtext.FormatFact(t.GetTriple())
	}
	return lines
}

// Key identifies a triple by its exact text and validity.
func Key(t *graphv1.Triple) string {
	return strings.Join([]string{
		t.GetSubject(), t.GetRelation(), t.GetObject(), t.GetValidity().GetStart(), t.GetValidity().GetEnd(),
	}, "\x00")
}

// Wording is a triple without its validity, folded: equal for triples in the same words, regardless
// of case, spacing and the spelling of the relation.
type Wording struct{ Subject, Relation, Object string }

// FoldWording returns the wording of a triple.
func FoldWording(t *graphv1.Triple) Wording {
	return Wording{kgtext.Fold(t.GetSubject()), kgtext.Fold(kgtext.VerbaliseRelation(t.GetRelation())),
		kgtext.Fold(t.GetObject())}
}

// SameWording reports whether two triples have the same wording.
func SameWording(a, b *graphv1.Triple) bool { return FoldWording(a) == FoldWording(b) }

// isProperName distinguishes proper names from common nouns ("river"), which are in lower case and
// which a question may contain without being about them.
func isProperName(name string) bool {
	return strings.ContainsFunc(name, func(r rune) bool { return unicode.IsUpper(r) || unicode.IsDigit(r) })
}
