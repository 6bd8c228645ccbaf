package walk

import (
	"context"
	"slices"
	"strings"

	"github.com/triplemesh/triplemesh/services/retriever/dot"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// How the words of a question and the hops of a path explain each other.
const (
	// coverWeight is for how well the hops say what the words say, hopWeight for
	// how well the words say what the hops say.
	coverWeight = 0.4
	hopWeight   = 0.2
	// placeWeight is taken off the closeness of a word and a hop that stand in
	// different places: one at the topic entity, the other at the answer.
	placeWeight = 0.6
)

// word is a word of the question that may speak of a hop.
type word struct {
	vector []float32
	// place is where it stands for each topic entity that the question names: 0
	// beside its name, 1 beside the question word.
	place map[store.EntityID]float32
}

// silent are words that say nothing of a hop.
const silent = " a an the of in on at to by with for from and or is are was were be been did do does has have had that this " +
	"these those which what who whom whose when where how why there their its his her it he she they s also as name any all " +
	"some other "

// asking are the words that stand for the answer.
const asking = " who what which when where how whom "

// wordsOf reads a question without the topic entities' names.
func wordsOf(ctx context.Context, snap Reader, encoder Encoder, ask Ask) ([]word, error) {
	texts := strings.Fields(store.Fold(ask.Question))
	names, named := mentions(snap, texts, ask.Topics)
	answer := slices.IndexFunc(texts, func(t string) bool { return strings.Contains(asking, " "+t+" ") })
	var words []word
	var said []string
	for i, text := range texts {
		if named[i] || strings.Contains(silent, " "+text+" ") {
			continue
		}
		w := word{place: make(map[store.EntityID]float32, len(names))}
		for topic, at := range names {
			fromTopic, fromAnswer := max(at.first-i, i-at.last), max(answer-i, i-answer)
			w.place[topic] = float32(fromTopic) / float32(fromTopic+fromAnswer)
		}
		words, said = append(words, w), append(said, text)
	}
	vectors, err := encoder.Encode(ctx, said)
	if err != nil {
		return nil, err
	}
	for i := range words {
		words[i].vector = vectors[i]
	}
	return words, nil
}

// span is a mention's first and last word.
type span struct{ first, last int }

// mentions finds the names of topic entities among the words of a question;
// named tells for each word whether it belongs to one.
func mentions(snap Reader, texts []string, topics []store.EntityID) (names map[store.EntityID]span, named []bool) {
	names, named = map[store.EntityID]span{}, make([]bool, len(texts))
	for _, topic := range topics {
		name := strings.Fields(store.Fold(snap.EntityName(topic)))
		if len(name) == 0 {
			continue
		}
		for i := 0; i+len(name) <= len(texts); i++ {
			if !slices.Equal(texts[i:i+len(name)], name) {
				continue
			}
			names[topic] = span{i, i + len(name) - 1}
			for j := range name {
				named[i+j] = true
			}
			break
		}
	}
	return names, named
}

// near are the cosines of a relation to the words.
func (a *aim) near(snap Snapshot, relation store.RelationID) []float32 {
	near, ok := a.nearness[relation]
	if !ok {
		near = make([]float32, len(a.words))
		v := snap.RelationVector(relation)
		for i, w := range a.words {
			near[i] = dot.Product(w.vector, v)
		}
		a.nearness[relation] = near
	}
	return near
}

// fit says how well a path and the question explain each other, hop by hop and
// word by word: each word counts by the hop that is nearest to it, each hop by
// its nearest word (as ColBERT, Khattab and Zaharia 2020 §3.3, matches words). A
// word between the topic entity's name and the question word speaks of a hop
// between the two: "who starred in films of the director of X" goes from X to
// its director, then to films, then to who starred.
func (a *aim) fit(snap Snapshot, p *prospect) float32 {
	if len(a.words) == 0 {
		return 0
	}
	covered := make([]float32, len(a.words))
	for i := range covered {
		covered[i] = -1
	}
	var hops, words float32
	n := float32(len(p.steps))
	for i, step := range p.steps {
		place, best := (float32(i)+0.5)/n, float32(-1)
		for j, c := range a.near(snap, step.Relation) {
			if at, ok := a.words[j].place[p.topic]; ok {
				c -= placeWeight * max(at-place, place-at)
			}
			best, covered[j] = max(best, c), max(covered[j], c)
		}
		hops += best
	}
	for _, c := range covered {
		words += c
	}
	return hopWeight*hops/n + coverWeight*words/float32(len(covered))
}
