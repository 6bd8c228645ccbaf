package link

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/triplemesh/triplemesh/internal/verbalise"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// Evidence is what speaks for or against a link, each 0 to 1 or so.
type Evidence [evidences]float32

// What there is of evidence.
const (
	// always is 1.
	always = iota
	// by the very name, another form, a part, initials; 1 or 0.
	nameMatch
	formMatch
	partMatch
	initialsMatch
	// likeness of the mention and the name; known letters of the name anywhere
	// in the text.
	likeness
	knownLetters
	// fame of the entity, and how far it is behind the most famous with this
	// mention.
	fame
	behind
	// letters and words of the mention.
	letters
	words
	// schema: the share of its letters in words of the graph's relations, words
	// that hold a sentence together and numbers.
	schema
	// within a longer name; touching a name that is there to the letter.
	within
	touching
	// plain: no capital in a text with capitals.
	plain
	// namesakes: how many others the mention may be.
	namesakes
	// covered: the mention's share of the text.
	covered
	// lower: the entity's own name has no capital, as those of common nouns.
	lower
	// bestMeaning and meanMeaning: how near the text is to its relations.
	bestMeaning
	meanMeaning

	evidences
)

// EvidenceNames names the evidence, for those who look at it.
var EvidenceNames = [evidences]string{
	"always", "name", "form", "part", "initials", "likeness", "known letters", "fame", "behind", "letters",
	"words", "schema", "within", "touching", "plain", "namesakes", "covered", "lower", "best meaning", "mean meaning",
}

func (q *question) evidence(c candidate, m meaning) Evidence {
	e := Evidence{always: 1, likeness: c.likeness, knownLetters: c.known, bestMeaning: m.best, meanMeaning: m.mean}
	switch c.how {
	case byName, byAlias:
		e[nameMatch] = 1
	case byForm:
		e[formMatch] = 1
	case byPart:
		e[partMatch] = 1
	case byInitials:
		e[initialsMatch] = 1
	}
	most := c.degree
	for _, o := range q.candidates {
		if o.mention == c.mention && o.how == c.how {
			most = max(most, o.degree)
		}
	}
	e[fame] = fameOf(c.degree)
	e[behind] = fameOf(most) - e[fame]
	e[namesakes] = float32(math.Log10(float64(max(c.namesakes, 1))))
	for _, found := range q.found {
		if c.within(found) {
			e[within] = 1
		}
		if c.how >= byForm && c.touches(found) {
			e[touching] = 1
		}
	}
	if first, _ := utf8.DecodeRuneInString(q.snap.EntityName(c.entity)); 'a' <= first && first <= 'z' {
		e[lower] = 1
	}
	q.inText(c, &e)
	return e
}

// inText adds what the words of the mention and around it say.
func (q *question) inText(c candidate, e *Evidence) {
	mentioned, all, common, namely, capitals := 0, 0, 0, 0, 0
	for i, w := range q.words {
		if !w.stop {
			all += w.letters
		}
		if i < c.first || i >= c.last {
			continue
		}
		mentioned += w.letters
		if !w.stop {
			namely += w.letters
		}
		if q.schema[w.folded] || w.stop || w.number {
			common += w.letters
		}
		if w.capital {
			capitals++
		}
	}
	e[letters] = 1 - float32(math.Exp(-float64(mentioned)/6))
	e[words] = float32(min(c.words(), 4)) / 4
	e[schema] = float32(common) / float32(max(mentioned, 1))
	e[covered] = float32(namely) / float32(max(all, 1))
	if q.cased && capitals == 0 {
		e[plain] = 1
	}
}

// fameOf grows with the number of an entity's triples, from 0.06 for one to 1
// for a hundred thousand: of two entities that share a name, the better known
// one is meant more often.
func fameOf(degree int) float32 {
	return float32(min(math.Log10(1+float64(max(degree, 1)))/5, 1))
}

// schemaWords finds the words of a text that the graph's relations have too.
func schemaWords(snap Snapshot, text []word) map[string]bool {
	found := map[string]bool{}
	var asked []string
	for _, w := range text {
		if !w.stop && !slices.Contains(asked, w.folded) {
			asked = append(asked, w.folded)
		}
	}
	for id := range store.RelationID(snap.Info().Relations) {
		name := snap.RelationName(id)
		lower := strings.ToLower(name)
		// Most relations have none, which is seen at once.
		if !slices.ContainsFunc(asked, func(word string) bool { return strings.Contains(lower, word) }) {
			continue
		}
		for part := range strings.FieldsSeq(strings.ToLower(verbalise.RelationInContext(name))) {
			if slices.Contains(asked, part) {
				found[part] = true
			}
		}
	}
	return found
}
