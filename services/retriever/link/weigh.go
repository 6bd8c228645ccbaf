package link

import (
	"math"
	"strings"
	"unicode/utf8"

	"github.com/triplemesh/triplemesh/internal/verbalise"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// weigher scores the links of one text.
type weigher struct {
	words []word
	all   []mention
	// cased: the text uses capitals, so that a word without one is no name.
	cased bool
	// schema are the words of the graph's relations: "country" in a question
	// asks for a country sooner than it names the entity Country.
	schema map[string]bool
}

func newWeigher(snap Snapshot, words []word, all []mention) *weigher {
	w := &weigher{words: words, all: all, schema: map[string]bool{}}
	for _, word := range words {
		w.cased = w.cased || word.capital
	}
	asked := map[string]bool{}
	for _, word := range words {
		asked[word.folded] = true
	}
	for id := range store.RelationID(snap.Info().Relations) {
		for part := range strings.FieldsSeq(verbalise.RelationInContext(snap.RelationName(id))) {
			if part = strings.ToLower(part); asked[part] {
				w.schema[part] = true
			}
		}
	}
	return w
}

// weigh scores the entities of a mention: how well the names agree, times how
// likely these words are a name here, times how well known the entity is among
// those the mention may mean.
func (w *weigher) weigh(snap Snapshot, m mention) []Link {
	best := 0.0
	for _, e := range m.entities {
		best = max(best, fame(snap, e.Entity))
	}
	asName := w.asName(m) * float32(1-commonplace*best)
	links := make([]Link, 0, len(m.entities))
	for _, e := range m.entities {
		name := snap.EntityName(e.Entity)
		if snap.Kind(e.Entity) == store.Mediator {
			continue
		}
		l := Link{Entity: e.Entity, Mention: m.text, Match: matched(m, name)}
		l.Score = asName * agreement(m, e, l.Match, name) * float32(0.6+0.4*fame(snap, e.Entity)/best)
		links = append(links, l)
	}
	return links
}

// agreement is how well a mention and a name agree, 0 to 1.
func agreement(m mention, e store.NameMatch, match Match, name string) float32 {
	switch match {
	case Exact:
		return 1
	case Normalised:
		return 0.98
	case Alias:
		return 0.85
	}
	// People are called by their last names, companies by their first words.
	if partOf(m.text, name) {
		return 0.75
	}
	return 0.9 * e.Similarity * e.Similarity
}

// partOf tells whether a name begins or ends with the words of a mention.
func partOf(text, name string) bool {
	part, whole := store.Fold(text), store.Fold(name)
	return strings.HasPrefix(whole, part+" ") || strings.HasSuffix(whole, " "+part)
}

func matched(m mention, name string) Match {
	switch {
	case m.fuzzy:
		return Fuzzy
	case m.text == name:
		return Exact
	case store.Fold(m.text) == store.Fold(name):
		return Normalised
	}
	return Alias
}

// asName is how likely a mention is meant as a name, 0 to 1.
func (w *weigher) asName(m mention) float32 {
	score := float32(1)
	plain, schema := 0, 0
	for i := m.first; i < m.last; i++ {
		word := w.words[i]
		if !word.capital {
			plain++
		}
		if w.schema[word.folded] || word.stop || word.number {
			schema++
		}
	}
	if schema == m.words() {
		score *= 0.4
	}
	if w.cased && plain == m.words() {
		score *= 0.5
	}
	// A longer mention says more: one short word may be anything.
	letters := float64(utf8.RuneCountInString(m.text))
	score *= float32(1 - 0.5*math.Exp(-letters/6))
	for _, o := range w.all {
		if m.within(o) && !o.fuzzy {
			score *= 0.4
			break
		}
	}
	return score
}

// commonplace is how much less likely a mention of the best known entity is
// the topic: of "Kim Hughes" and "Michigan" the question is about the first.
const commonplace = 0.25

// fame grows with the number of an entity's triples, from 0.06 for one to 1
// for a hundred thousand: of two entities that share a name, the better known
// one is meant more often.
func fame(snap Snapshot, e store.EntityID) float64 {
	degree := snap.Degree(e, store.Out) + snap.Degree(e, store.In)
	return min(math.Log10(1+float64(max(degree, 1)))/5, 1)
}
