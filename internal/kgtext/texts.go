package kgtext

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

const (
	// minSentenceWords is how many words a sentence has at least: "Washington D.C." is none.
	minSentenceWords = 5
	// maxNameWords is how many words no name has.
	maxNameWords = 20
)

// codeMarks are characters that names do not hold: those of answers and of code, and the stops of scripts
// without spaces.
const codeMarks = "{}`。，＜＞｜"

// minEncoded is how long a word is that no name has, in bytes.
const minEncoded = 32

var (
	// tags open or close in markup and in templates of chats; encoded is a longer word than there are.
	tags    = regexp.MustCompile(`<[a-z/!|]|[|]>`)
	encoded = regexp.MustCompile(fmt.Sprintf(`[A-Za-z0-9+/=]{%d}`, minEncoded))
	// stop ends a sentence, or parts two: "St. Louis" is one name; abbreviated is a name that ends in a period.
	abbreviated = regexp.MustCompile(`(?:\p{L}\.\pL\.|\b(?:Inc|Ltd|Co|Jr|Sr|Bros|vol)\.)\)?$`)
	stop        = regexp.MustCompile(`[.!][)"'”]*$|\p{Ll}{3,}[.!?;] +\S`)
)

// IsText reports whether a name reads as a sentence or as code, which a model might follow. Every name of a
// prompt is looked at, so that the expressions are left for those that could match.
func IsText(name string) bool {
	if strings.ContainsAny(name, codeMarks) || strings.ContainsAny(name, "<|") && tags.MatchString(name) ||
		len(name) >= minEncoded && encoded.MatchString(name) || strings.ContainsFunc(name, isHidden) {
		return true
	}
	words := len(strings.Fields(name))
	return words >= maxNameWords || words >= minSentenceWords && strings.ContainsAny(name, ".!?;") &&
		stop.MatchString(strings.TrimSpace(name)) && !abbreviated.MatchString(name)
}

func isHidden(r rune) bool { return unicode.IsControl(r) || IsInvisible(r) }

// IsInvisible reports whether a character steers or hides text: direction marks, zero-width spaces, tags.
// Joiners are part of some scripts.
func IsInvisible(r rune) bool { return unicode.Is(unicode.Cf, r) && r != '\u200c' && r != '\u200d' }

// DropTextPaths leaves out paths that end in a text where others of the same relation path end in names, and
// paths over a relation that is a text if there are others: see IsText.
func DropTextPaths(paths []*graphv1.ReasoningPath) []*graphv1.ReasoningPath {
	texts := map[string]bool{} // relations recur in every path
	isText := func(relation string) bool {
		known, ok := texts[relation]
		if !ok {
			known = IsText(VerbaliseRelation(relation))
			texts[relation] = known
		}
		return known
	}
	type reading struct {
		label      string
		overText   bool // a relation is a text
		endsInText bool
	}
	readings := make([]reading, len(paths))
	named, plain := map[string]bool{}, false // labels with an end that is a name, and whether any path is all names
	for i, p := range paths {
		overText := slices.ContainsFunc(p.GetSteps(),
			func(s *graphv1.RelationStep) bool { return isText(s.GetRelation()) })
		r := reading{FormatSteps(p.GetSteps()), overText, IsText(PathEnd(p))}
		readings[i], plain = r, plain || !r.overText && !r.endsInText
		named[r.label] = named[r.label] || !r.endsInText
	}
	var kept []*graphv1.ReasoningPath
	for i, p := range paths {
		if r := readings[i]; !(r.overText && plain) && !(r.endsInText && named[r.label]) {
			kept = append(kept, p)
		}
	}
	return kept
}
