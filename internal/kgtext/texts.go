package kgtext

import (
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

var (
	// marks are what names do not hold: those of answers, of code, the stops of scripts without spaces,
	// and longer words than there are.
	marks = regexp.MustCompile("[{}`。，＜＞｜]|<[a-z/!|]|[|]>|[A-Za-z0-9+/=]{32}")
	// stop ends a sentence, or parts two: "St. Louis" is one name; abbreviated is a name that ends in a period.
	abbreviated = regexp.MustCompile(`(?:\p{L}\.\pL\.|\b(?:Inc|Ltd|Co|Jr|Sr|Bros|vol)\.)\)?$`)
	stop        = regexp.MustCompile(`[.!][)"'”]*$|\p{Ll}{3,}[.!?;] +\S`)
)

// IsText reports whether a name reads as a sentence or as code, which a model might follow.
func IsText(name string) bool {
	words := len(strings.Fields(name))
	return marks.MatchString(name) || strings.ContainsFunc(name, isHidden) ||
		words >= minSentenceWords && stop.MatchString(strings.TrimSpace(name)) && !abbreviated.MatchString(name) ||
		words >= maxNameWords
}

// isHidden reports whether a character shows nothing; letters are joined by two of these.
func isHidden(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) && r != '\u200c' && r != '\u200d'
}

// DropTextPaths leaves out paths that end in a text where others of the same relation path end in names, and
// paths over a relation that is a text if there are others: see IsText.
func DropTextPaths(paths []*graphv1.ReasoningPath) []*graphv1.ReasoningPath {
	isPlain := func(p *graphv1.ReasoningPath) bool {
		return !slices.ContainsFunc(p.GetSteps(), func(s *graphv1.RelationStep) bool {
			return IsText(VerbaliseRelation(s.GetRelation()))
		})
	}
	label := func(p *graphv1.ReasoningPath) string { return FormatSteps(p.GetSteps()) }
	named, plain := map[string]bool{}, false
	for _, p := range paths {
		named[label(p)] = named[label(p)] || !IsText(PathEnd(p))
		plain = plain || isPlain(p) && !IsText(PathEnd(p))
	}
	return slices.DeleteFunc(slices.Clone(paths), func(p *graphv1.ReasoningPath) bool {
		return plain && !isPlain(p) || IsText(PathEnd(p)) && named[label(p)]
	})
}
