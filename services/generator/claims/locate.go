package claims

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

// searchText is a text that is searched for words, ignoring case.
type searchText struct {
	text      []rune
	folded    []rune // one for each of text
	sentences []kgtext.Sentence
}

func newSearchText(text string) searchText {
	r := searchText{text: []rune(text), sentences: kgtext.SplitSentences(text)}
	r.folded = fold(text)
	return r
}

// fold lower-cases letters one by one, so that offsets stay the same.
func fold(s string) []rune {
	runes := []rune(s)
	for i, r := range runes {
		runes[i] = unicode.ToLower(r)
	}
	return runes
}

// locate finds a claim in the text. ok is false if neither the text nor the text before has any of
// its names.
func (r searchText) locate(d Draft, before string) (c *generatorv1.ExtractedClaim, ok bool) {
	best, found := place{}, -1
	for _, s := range r.sentences {
		p := r.findNames(s, d)
		if n := p.count(); n > found {
			best, found = p, n
		}
	}
	if found < 0 || found == 0 && !r.shares(d.Object) && !r.shares(d.Subject) &&
		!newSearchText(before).shares(d.Subject) {
		return nil, false
	}
	text := best.sentence.Text
	isDenial := denies(text)
	if object, ok := strings.CutPrefix(d.Object, "not "); ok && (isDenial || strings.HasSuffix(text, "?")) {
		d.Object, d.Negated = object, true // a question asks for what the model denies
		best = r.findNames(best.sentence, d)
	}
	c = &generatorv1.ExtractedClaim{
		Triple: &graphv1.Triple{Subject: d.Subject, Relation: d.Relation, Object: d.Object,
			Validity: parseValidity(text, d.Object)},
		Negated: d.Negated && isDenial,
		Span:    span(best.sentence.Start, best.sentence.End),

		SubjectSpan: best.subject, ObjectSpan: best.object,
	}
	if best.subject != nil && best.object != nil {
		c.Span = span(int(min(best.subject.Start, best.object.Start)), int(max(best.subject.End, best.object.End)))
	}
	c.Triple.Relation = r.relationInText(c)
	return c, true
}

// repeats reports whether a claim is one of the text before, both of whose names only that has.
func (r searchText) repeats(d Draft, before string) bool {
	return !r.shares(d.Subject) && !r.shares(d.Object) && kgtext.Mentions(before, d.Subject) &&
		kgtext.Mentions(before, d.Object)
}

// copula matches the verbs of "X is a Y".
var copula = regexp.MustCompile(`(?i)\b(?:is|was|are|were|be|been|being|becom\w+|became|remain\w*)\b`)

// longestVerb is the most words between a subject and an object that are just their relation.
const longestVerb = 5

// relationInText is a claim's relation in the words of the text if the model wrote "instance of"
// for lack of a better name and the text has no such verb: "Velmora belongs to Orlanda".
func (r searchText) relationInText(c *generatorv1.ExtractedClaim) string {
	relation, s, o := c.GetTriple().GetRelation(), c.GetSubjectSpan(), c.GetObjectSpan()
	if relation != instanceOf || s == nil || o == nil || s.GetEnd() >= o.GetStart() {
		return relation
	}
	between := string(r.text[s.GetEnd():o.GetStart()])
	if n := len(words(between)); n == 0 || n > longestVerb || copula.MatchString(between) ||
		strings.ContainsAny(between, ",;()") {
		return relation
	}
	return strings.Join(strings.Fields(between), " ")
}

// place is the position of a claim's names in a sentence.
type place struct {
	sentence        kgtext.Sentence
	subject, object *graphv1.TextSpan
}

func (p place) count() (n int) {
	if p.subject != nil {
		n++
	}
	if p.object != nil {
		n++
	}
	return n
}

// findNames searches a sentence for a claim's names. Of several occurrences of the object the first
// after the subject is taken, the usual order of a sentence.
func (r searchText) findNames(s kgtext.Sentence, d Draft) place {
	p := place{sentence: s}
	if subjects := r.occurrences(d.Subject, s); len(subjects) > 0 {
		p.subject = subjects[0]
	}
	for _, o := range r.occurrences(d.Object, s) {
		if p.subject != nil && o.GetStart() < p.subject.GetEnd() && p.subject.GetStart() < o.GetEnd() {
			continue // the object's name is part of the subject's
		}
		if p.object == nil || p.subject != nil && p.object.GetStart() < p.subject.GetStart() &&
			o.GetStart() > p.subject.GetStart() {
			p.object = o
		}
	}
	return p
}

// occurrences returns the positions of a name in a sentence, as whole words; if it does not occur,
// of the name without its article.
func (r searchText) occurrences(name string, s kgtext.Sentence) (at []*graphv1.TextSpan) {
	for _, words := range forms(name) {
		want := fold(words)
		for i := s.Start; i+len(want) <= s.End; i++ {
			if slices.Equal(r.folded[i:i+len(want)], want) && r.edge(i-1, i) && r.edge(i+len(want)-1, i+len(want)) {
				at = append(at, span(i, i+len(want)))
			}
		}
		if len(at) > 0 {
			return at
		}
	}
	return nil
}

// forms returns a name, and the name without its article.
func forms(name string) []string {
	all := []string{name}
	first, rest, cut := strings.Cut(name, " ")
	if cut && slices.Contains([]string{"the", "a", "an"}, strings.ToLower(first)) {
		all = append(all, strings.TrimSpace(rest))
	}
	return all
}

// edge reports whether a word may end at character a and begin at b. Scripts without spaces have
// word boundaries anywhere.
func (r searchText) edge(a, b int) bool {
	if a < 0 || b >= len(r.text) {
		return true
	}
	return !inWord(r.text[a]) || !inWord(r.text[b]) || unspaced(r.text[a]) || unspaced(r.text[b])
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

func unspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer,
		unicode.Myanmar)
}

// shares reports whether the text has a significant word of a name.
func (r searchText) shares(name string) bool {
	text := " " + strings.Join(words(string(r.folded)), " ") + " "
	return slices.ContainsFunc(words(string(fold(name))), func(w string) bool {
		long := utf8.RuneCountInString(w) > 3 ||
			strings.ContainsFunc(w, func(r rune) bool { return unicode.IsDigit(r) || unspaced(r) })
		return long && (strings.Contains(text, " "+w+" ") || strings.ContainsFunc(w, unspaced) &&
			strings.Contains(text, w))
	})
}

func words(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return !inWord(r) })
}

func span(start, end int) *graphv1.TextSpan {
	return &graphv1.TextSpan{Start: uint32(start), End: uint32(end)}
}

// sort orders claims as in the text.
func sort(claims []*generatorv1.ExtractedClaim) {
	slices.SortStableFunc(claims, func(a, b *generatorv1.ExtractedClaim) int {
		return cmp.Compare(a.GetSpan().GetStart(), b.GetSpan().GetStart())
	})
}
