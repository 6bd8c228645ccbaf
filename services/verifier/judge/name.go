package judge

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/triplemesh/triplemesh/internal/value"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

// alike is how likely a name of a claim means an entity of the knowledge graph:
// 0 where it does not.
func alike(name, entity string, links []*graphv1.EntityLink) float32 {
	a, b := tokens(name), tokens(entity)
	switch {
	case len(a) == 0 || len(b) == 0:
		return 0
	case slices.Equal(a, b):
		return 1
	case sameBag(a, b):
		return 0.95
	}
	for _, l := range links {
		if l.GetEntity() != entity || !slices.Equal(tokens(l.GetMention()), a) {
			continue
		}
		switch l.GetMatch() {
		case graphv1.LinkMatch_LINK_MATCH_EXACT, graphv1.LinkMatch_LINK_MATCH_NORMALISED, graphv1.LinkMatch_LINK_MATCH_ALIAS:
			return 0.95
		}
	}
	if head, _, cut := strings.Cut(name, ","); cut && slices.Equal(tokens(head), b) {
		return 0.9 // "Paris, France"
	}
	if misspelt(a, b) {
		return 0.8
	}
	return 0
}

// alikeValue is alike for objects, which may be dates, numbers and quantities.
func alikeValue(said, held string, links []*graphv1.EntityLink) float32 {
	if a, ok := value.ParseDate(said); ok {
		if b, ok := value.ParseDate(held); ok {
			return dateLike(a, b)
		}
	}
	if a, ok := value.ParseQuantity(said); ok {
		if b, ok := value.ParseQuantity(held); ok {
			return quantityLike(a, b)
		}
	}
	return alike(said, held, links)
}

// particles are words that names may do with or without.
var particles = map[string]bool{"the": true, "a": true, "an": true, "of": true, "and": true, "de": true, "la": true, "s": true}

// tokens are the words of a name, without accents, case, punctuation and
// articles.
func tokens(name string) []string {
	plain := strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFKD.String(name))
	words := strings.FieldsFunc(plain, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) })
	if len(words) > 1 && (words[0] == "the" || words[0] == "a" || words[0] == "an") {
		words = words[1:]
	}
	return words
}

// sameBag tells whether two names have the same words in another order, but for
// particles: "University of Oxford", "Oxford University".
func sameBag(a, b []string) bool {
	a, b = content(a), content(b)
	slices.Sort(a)
	slices.Sort(b)
	return len(a) > 0 && slices.Equal(a, b)
}

func content(words []string) []string {
	return slices.DeleteFunc(slices.Clone(words), func(w string) bool { return particles[w] })
}

// misspelt tells whether two names differ by a letter of one long word.
func misspelt(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	wrong := 0
	for i := range a {
		if a[i] == b[i] {
			continue
		}
		if wrong++; wrong > 1 || utf8.RuneCountInString(a[i]) < 6 || strings.ContainsFunc(a[i]+b[i], unicode.IsNumber) || !oneLetter([]rune(a[i]), []rune(b[i])) {
			return false
		}
	}
	return wrong == 1
}

// oneLetter tells whether one letter was added, lost, changed or swapped with
// the next; not the last ones, which make other words of most.
func oneLetter(a, b []rune) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	if i >= len(a)-1 {
		return false
	}
	switch {
	case len(b) == len(a)+1:
		return slices.Equal(a[i:], b[i+1:])
	case len(a) != len(b):
		return false
	case slices.Equal(a[i+1:], b[i+1:]):
		return true
	}
	return a[i] == b[i+1] && a[i+1] == b[i] && slices.Equal(a[i+2:], b[i+2:])
}

// within tells whether one name holds all words of the other: "New York" and
// "New York City" may be the same, and need not be.
func within(a, b string) bool {
	x, y := content(tokens(a)), content(tokens(b))
	if len(x) > len(y) {
		x, y = y, x
	}
	return len(x) > 0 && !slices.ContainsFunc(x, func(w string) bool { return !slices.Contains(y, w) })
}
