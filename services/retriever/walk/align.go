package walk

import (
	"cmp"
	"slices"
	"strings"

	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/vector"
)

// Weights of the alignment between the words of a question and the hops of a path.
const (
	// coverWeight is the weight of how well the hops cover the words, hopWeight of how well the
	// words cover the hops.
	coverWeight = 0.4
	hopWeight   = 0.2
	// placeWeight is the penalty for a word and a hop in different places: one near the topic
	// entity, the other near the answer.
	placeWeight = 0.6
)

// stopWords describe no hop.
const stopWords = " a an the of in on at to by with for from and or is are was were be been did do does has have had " +
	"that this these those which what who whom whose when where how why there their its his her it he she they s " +
	"also as name any all some other "

// questionWords stand for the answer.
const questionWords = " who what which when where how whom "

// splitQuestionWords returns the words of a question except stop words and topic entities' names, as
// findMentions finds them, and their places for each topic entity that it names: 0 beside the name,
// 1 beside the question word.
func splitQuestionWords(texts []string, names map[store.EntityID]wordRange,
	named []bool) (words []string, places map[store.EntityID][]float32) {
	answer := slices.IndexFunc(texts, func(t string) bool { return strings.Contains(questionWords, " "+t+" ") })
	places = map[store.EntityID][]float32{}
	for i, text := range texts {
		if named[i] || strings.Contains(stopWords, " "+text+" ") {
			continue
		}
		words = append(words, text)
		for topic, at := range names {
			fromTopic, fromAnswer := max(at.first-i, i-at.last), max(answer-i, i-answer)
			places[topic] = append(places[topic], float32(fromTopic)/float32(fromTopic+fromAnswer))
		}
	}
	return words, places
}

// wordRange is the first and last word of a mention.
type wordRange struct{ first, last int }

func (r wordRange) words() int { return r.last - r.first + 1 }

// findMentions finds the names of topic entities among the words of a question. named reports for
// each word whether it belongs to a name.
func findMentions(snap Reader, texts []string,
	topics []store.EntityID) (names map[store.EntityID]wordRange, named []bool) {
	names, named = map[store.EntityID]wordRange{}, make([]bool, len(texts))
	for _, topic := range topics {
		name := strings.Fields(store.Fold(snap.EntityName(topic)))
		if len(name) == 0 {
			continue
		}
		for i := 0; i+len(name) <= len(texts); i++ {
			if !slices.Equal(texts[i:i+len(name)], name) {
				continue
			}
			names[topic] = wordRange{i, i + len(name) - 1}
			for j := range name {
				named[i+j] = true
			}
			break
		}
	}
	return names, named
}

// wordCosines returns the cosines of a relation to the words.
func (a *aim) wordCosines(snap Snapshot, relation store.RelationID) []float32 {
	near, ok := a.nearness[relation]
	if !ok {
		near = make([]float32, len(a.words))
		v := snap.RelationVector(relation)
		for i, w := range a.words {
			near[i] = vector.Dot(w, v)
		}
		a.nearness[relation] = near
	}
	return near
}

// matchWords scores how well the question aligns with a path from a topic entity: each word counts by
// its nearest hop, each hop by its nearest word (as ColBERT matches words, Khattab and Zaharia 2020
// §3.3). A word's position between the topic entity's name and the question word should match the
// hop's: "who starred in films of the director of X" goes from X to its director, then to films, then
// to who starred.
func (a *aim) matchWords(snap Snapshot, topic store.EntityID, steps []Step) float32 {
	if len(a.words) == 0 {
		return 0
	}
	for i := range a.covered {
		a.covered[i] = -1
	}
	var hops, words float32
	n, places := float32(len(steps)), a.places[topic]
	for i, step := range steps {
		place, best := (float32(i)+0.5)/n, float32(-1)
		for j, c := range a.wordCosines(snap, step.Relation) {
			if places != nil {
				c -= placeWeight * max(places[j]-place, place-places[j])
			}
			best, a.covered[j] = max(best, c), max(a.covered[j], c)
		}
		hops += best
	}
	for _, c := range a.covered {
		words += c
	}
	return hopWeight*hops/n + coverWeight*words/float32(len(a.covered))
}

// maxHopWords is the number of words that are tried for a hop.
const maxHopWords = 4

// leastHop scores the hop of a path that the question says least: each hop has a word of its own, chosen
// so that the least of their cosines is as great as can be. A path that passes what the question does not
// speak of, such as somebody's spouse, has a hop without a word, however well its other hops fit.
func (a *aim) leastHop(snap Snapshot, p *prospect) float32 {
	hops := make([][]float32, p.hops)
	for i, step := range p.steps {
		near := a.wordCosines(snap, step.Relation)
		hop := &hops[p.hopOf[i]-1]
		if *hop == nil {
			*hop = slices.Clone(near)
			continue
		}
		for w, c := range near {
			(*hop)[w] = max((*hop)[w], c)
		}
	}
	return assignWords(hops, make([]bool, len(a.words)))
}

// assignWords returns the greatest least cosine of hops to words of their own, -1 if there are too few.
func assignWords(hops [][]float32, taken []bool) float32 {
	if len(hops) == 0 {
		return 1
	}
	var words []int
	for w := range taken {
		if !taken[w] {
			words = append(words, w)
		}
	}
	near, best := hops[0], float32(-1)
	slices.SortStableFunc(words, func(a, b int) int { return cmp.Compare(near[b], near[a]) })
	for _, w := range words[:min(len(words), maxHopWords)] {
		if near[w] <= best {
			break
		}
		taken[w] = true
		best = max(best, min(near[w], assignWords(hops[1:], taken)))
		taken[w] = false
	}
	return best
}
