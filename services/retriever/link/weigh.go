package link

import (
	"math"
	"strings"
	"unicode/utf8"

	"github.com/triplemesh/triplemesh/services/retriever/opaque"
	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/verbalise"
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

func newWeigher(snap Snapshot, text string, words []word, all []mention) *weigher {
	w := &weigher{words: words, all: all, schema: map[string]bool{}}
	for _, word := range words {
		w.cased = w.cased || word.capital
	}
	asked := map[string]bool{}
	for i := range words {
		asked[store.Fold(span(text, words, i, i+1))] = true
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
// likely these words are a name here, times how well known the entity is.
func (w *weigher) weigh(snap Snapshot, m mention) []Link {
	asName := w.asName(m)
	links := make([]Link, 0, len(m.entities))
	for _, e := range m.entities {
		name := snap.EntityName(e.Entity)
		if opaque.Name(name) {
			continue
		}
		l := Link{Entity: e.Entity, Mention: m.text, Match: matched(m, name)}
		score := asName * known(snap, e.Entity)
		switch l.Match {
		case Normalised:
			score *= 0.98
		case Alias:
			score *= 0.85
		case Fuzzy:
			score *= 0.9 * e.Similarity * e.Similarity
		}
		l.Score = score
		links = append(links, l)
	}
	return links
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
		if w.schema[store.Fold(m.text)] || word.stop {
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

// known grows from 0.7 to 1 with the number of an entity's triples: of two
// that share a name, the better known one is meant more often.
func known(snap Snapshot, e store.EntityID) float32 {
	degree := snap.Degree(e, store.Out) + snap.Degree(e, store.In)
	return float32(1 - 0.3/math.Sqrt(1+float64(degree)))
}
