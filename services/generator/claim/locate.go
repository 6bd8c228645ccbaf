package claim

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/triplemesh/triplemesh/internal/sentence"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

// reading is a text in which words are looked for, whatever their case.
type reading struct {
	text      []rune
	folded    []rune // one for each of text
	sentences []sentence.Sentence
}

func newReading(text string) reading {
	r := reading{text: []rune(text), sentences: sentence.Split(text)}
	r.folded = fold(text)
	return r
}

// fold makes letters small, one for one.
func fold(s string) []rune {
	runes := []rune(s)
	for i, r := range runes {
		runes[i] = unicode.ToLower(r)
	}
	return runes
}

// locate finds where a claim stands. ok is false where the text has none of its
// names, and what stands before it does not help either.
func (r reading) locate(d Draft, before string) (c *generatorv1.ExtractedClaim, ok bool) {
	best, found := place{}, -1
	for _, s := range r.sentences {
		p := r.within(s, d)
		if n := p.found(); n > found {
			best, found = p, n
		}
	}
	if found < 0 || found == 0 && !r.shares(d.Object) && !r.shares(d.Subject) && !newReading(before).shares(d.Subject) {
		return nil, false
	}
	c = &generatorv1.ExtractedClaim{
		Triple:  &graphv1.Triple{Subject: d.Subject, Relation: d.Relation, Object: d.Object, Validity: held(best.sentence.Text, d.Object)},
		Negated: d.Negated && denies(best.sentence.Text),
		Span:    span(best.sentence.Start, best.sentence.End),

		SubjectSpan: best.subject, ObjectSpan: best.object,
	}
	if best.subject != nil && best.object != nil {
		c.Span = span(int(min(best.subject.Start, best.object.Start)), int(max(best.subject.End, best.object.End)))
	}
	c.Triple.Relation = r.worded(c)
	return c, true
}

// copula is what says that something is an instance of something.
var copula = regexp.MustCompile(`(?i)\b(?:is|was|are|were|be|been|being|becom\w+|became|remain\w*)\b`)

// longestVerb is the most words between a subject and an object that are their
// relation and nothing else.
const longestVerb = 5

// worded is a claim's relation in the words of the text, where the model wrote
// "instance of" for want of a better name and the text says no such thing:
// "Velmora belongs to Orlanda".
func (r reading) worded(c *generatorv1.ExtractedClaim) string {
	relation, s, o := c.GetTriple().GetRelation(), c.GetSubjectSpan(), c.GetObjectSpan()
	if relation != instanceOf || s == nil || o == nil || s.GetEnd() >= o.GetStart() {
		return relation
	}
	between := string(r.text[s.GetEnd():o.GetStart()])
	if n := len(words(between)); n == 0 || n > longestVerb || copula.MatchString(between) || strings.ContainsAny(between, ",;()") {
		return relation
	}
	return strings.Join(strings.Fields(between), " ")
}

// place is where a claim's names stand in a sentence.
type place struct {
	sentence        sentence.Sentence
	subject, object *graphv1.TextSpan
}

func (p place) found() (n int) {
	if p.subject != nil {
		n++
	}
	if p.object != nil {
		n++
	}
	return n
}

// within looks for a claim's names in a sentence. Of several places of the
// object the first after the subject is taken: so most sentences go.
func (r reading) within(s sentence.Sentence, d Draft) place {
	p := place{sentence: s}
	if subjects := r.occurrences(d.Subject, s); len(subjects) > 0 {
		p.subject = subjects[0]
	}
	for _, o := range r.occurrences(d.Object, s) {
		if p.subject != nil && o.GetStart() < p.subject.GetEnd() && p.subject.GetStart() < o.GetEnd() {
			continue // the object's name is part of the subject's
		}
		if p.object == nil || p.subject != nil && p.object.GetStart() < p.subject.GetStart() && o.GetStart() > p.subject.GetStart() {
			p.object = o
		}
	}
	return p
}

// occurrences are the places of a name in a sentence, as whole words; without
// its article, where it does not stand there with it.
func (r reading) occurrences(name string, s sentence.Sentence) (at []*graphv1.TextSpan) {
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

// forms are a name as it is, and without its article.
func forms(name string) []string {
	all := []string{name}
	first, rest, cut := strings.Cut(name, " ")
	if cut && slices.Contains([]string{"the", "a", "an"}, strings.ToLower(first)) {
		all = append(all, strings.TrimSpace(rest))
	}
	return all
}

// edge tells whether a word may end at character a and begin at b. Scripts that
// write no spaces have their words anywhere.
func (r reading) edge(a, b int) bool {
	if a < 0 || b >= len(r.text) {
		return true
	}
	return !inWord(r.text[a]) || !inWord(r.text[b]) || unspaced(r.text[a]) || unspaced(r.text[b])
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

func unspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// shares tells whether the text has a word of a name that is no mere particle.
func (r reading) shares(name string) bool {
	text := " " + strings.Join(words(string(r.folded)), " ") + " "
	return slices.ContainsFunc(words(string(fold(name))), func(w string) bool {
		long := utf8.RuneCountInString(w) > 3 || strings.ContainsFunc(w, func(r rune) bool { return unicode.IsDigit(r) || unspaced(r) })
		return long && (strings.Contains(text, " "+w+" ") || strings.ContainsFunc(w, unspaced) && strings.Contains(text, w))
	})
}

func words(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return !inWord(r) })
}

func span(start, end int) *graphv1.TextSpan {
	return &graphv1.TextSpan{Start: uint32(start), End: uint32(end)}
}

// sort puts claims into the order of the text.
func sort(claims []*generatorv1.ExtractedClaim) {
	slices.SortStableFunc(claims, func(a, b *generatorv1.ExtractedClaim) int {
		return cmp.Compare(a.GetSpan().GetStart(), b.GetSpan().GetStart())
	})
}
