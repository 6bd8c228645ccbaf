package answer

import (
	"regexp"
	"strings"

	"github.com/triplemesh/triplemesh/internal/verbalise"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

// fact shows a triple on a line. A name that reads as a sentence is marked as a
// text and quoted: small models take a bare one for an order. Names of entities
// hardly ever do: of 19,723 facts that evaluations answered from, eight.
func fact(t *graphv1.Triple) string {
	relation := verbalise.Relation(t.GetRelation())
	if !isText(t.GetSubject()) && !isText(relation) && !isText(t.GetObject()) {
		return verbalise.Fact(t)
	}
	object := &graphv1.Triple{Object: quoted(t.GetObject()), Validity: t.GetValidity()}
	return quoted(t.GetSubject()) + " | " + quoted(relation) + " | " + verbalise.Object(object)
}

const (
	// fewest is how many words a sentence has at least: "Washington D.C." is none.
	fewest = 5
	// most is how many words no name has.
	most = 20
)

var (
	// marks are what names do not hold: those of answers, of code, and the stops
	// of scripts without spaces.
	marks = regexp.MustCompile("[{}`。，]|<[a-z/!|]")
	// stop ends a sentence, or parts two: "St. Louis" is one name.
	stop = regexp.MustCompile(`[.!][)"'”]*$|\p{Ll}{3,}[.!?;] +\S`)
)

// isText tells whether a name reads as a sentence or as code.
func isText(name string) bool {
	words := len(strings.Fields(name))
	return marks.MatchString(name) || words >= fewest && stop.MatchString(strings.TrimSpace(name)) || words >= most
}

// What stands around a text.
const opening, closing = "(a text: “", "”)"

// quoted marks a name that reads as a sentence. Its braces would be an answer's.
func quoted(name string) string {
	if !isText(name) {
		return name
	}
	return opening + strings.NewReplacer("{", "(", "}", ")", "“", "\"", "”", "\"").Replace(name) + closing
}
