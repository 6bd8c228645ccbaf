package align

import (
	"strings"

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
	return fold(a.GetSubject()) == fold(b.GetSubject()) &&
		fold(verbalise.Relation(a.GetRelation())) == fold(verbalise.Relation(b.GetRelation())) &&
		fold(a.GetObject()) == fold(b.GetObject())
}

func fold(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }
