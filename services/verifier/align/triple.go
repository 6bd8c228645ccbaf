package align

import (
	"strings"
	"unicode"

	"github.com/triplemesh/triplemesh/internal/verbalise"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

// Key tells triples apart to the letter, the time they hold included.
func Key(t *graphv1.Triple) string {
	return strings.Join([]string{
		t.GetSubject(), t.GetRelation(), t.GetObject(), t.GetValidity().GetStart(), t.GetValidity().GetEnd(),
	}, "\x00")
}

// Same tells whether two triples say the same in the same words, whatever
// their case and spacing and however the relation's name is written.
func Same(a, b *graphv1.Triple) bool {
	return verbalise.Fold(a.GetSubject()) == verbalise.Fold(b.GetSubject()) &&
		verbalise.Fold(verbalise.Relation(a.GetRelation())) == verbalise.Fold(verbalise.Relation(b.GetRelation())) &&
		verbalise.Fold(a.GetObject()) == verbalise.Fold(b.GetObject())
}

// about tells whether a triple of the knowledge graph is about the entity that
// a draft is about.
func about(t, draft *graphv1.Triple) bool {
	subject := verbalise.Fold(draft.GetSubject())
	return subject != "" && (verbalise.Fold(t.GetSubject()) == subject || verbalise.Fold(t.GetObject()) == subject)
}

// names tells whether a text, folded and between spaces, holds a proper name.
func names(text, name string) bool {
	folded := verbalise.Fold(name)
	return proper(name) && folded != "" && strings.Contains(text, " "+folded+" ")
}

// proper tells proper names from common nouns ("river"), which stand in small
// letters throughout and which a question holds without being about them.
func proper(name string) bool {
	return strings.ContainsFunc(name, func(r rune) bool { return unicode.IsUpper(r) || unicode.IsDigit(r) })
}
