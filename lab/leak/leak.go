// Package leak finds questions that stand in two sets which must have none in
// common: few-shot examples, questions that something was calibrated on,
// training questions and test questions. A figure is worth nothing where a
// model was shown the question, or a threshold was chosen by it.
package leak

import (
	"fmt"
	"strings"

	"github.com/triplemesh/triplemesh/lab/dataset"
	"github.com/triplemesh/triplemesh/lab/score"
)

// Set is a set of questions for one purpose.
type Set struct {
	// Name says in reports which it is, such as "few-shot examples".
	Name string
	// Dataset is what the ids belong to. The same id in two sets is a leak
	// only where their datasets are the same, and named.
	Dataset string
	// Texts are the questions.
	Texts []Text
}

// Text is a question of a set.
type Text struct {
	// ID names it within its dataset; for a few-shot example it says where
	// that stands. May be empty.
	ID string
	// Question is what is asked.
	Question string
}

// NewSet returns the set of some questions of a dataset. The checksum of its file stands
// for the dataset.
func NewSet(name string, d dataset.Dataset, questions []dataset.Question) Set {
	set := Set{Name: name, Dataset: d.SHA256}
	for _, q := range questions {
		set.Texts = append(set.Texts, Text{ID: q.ID, Question: q.Question})
	}
	return set
}

// Kind says in what way two questions are one.
type Kind string

const (
	// SameText are questions whose normal forms (see score.Normalise) are
	// equal: case, punctuation, articles and white space do not count.
	SameText Kind = "same text"
	// SameID are questions with the same id in the same dataset.
	SameID Kind = "same id"
	// Near are questions that share nearly all of their words: see Similar.
	Near Kind = "near duplicate"
)

// Similar is from which similarity on two questions are near duplicates: the
// number of different words that they share over the number that they have
// together, in normal form. Two questions of 19 words that differ in one have
// .9; shorter ones must have the very same words, in whatever order.
const Similar = 0.9

// Pair is a question that stands in two sets.
type Pair struct {
	// Kind is the first of SameText, SameID and Near that holds.
	Kind Kind `json:"kind"`
	// Similarity is that of the words, 0 to 1.
	Similarity float64 `json:"similarity"`
	// A and B say where it stands; A in the set that was named first.
	A Place `json:"a"`
	B Place `json:"b"`
}

// Place is a question of a set.
type Place struct {
	// Set is the name of the set.
	Set string `json:"set"`
	// ID and Question are those of the text.
	ID       string `json:"id"`
	Question string `json:"question"`
}

// String says in one line what was found where.
func (p Pair) String() string {
	return fmt.Sprintf("%s: %q (%s, %s) and %q (%s, %s)", p.Kind, p.A.Question, p.A.Set, p.A.ID, p.B.Question,
		p.B.Set, p.B.ID)
}

// Check finds the questions that stand in more than one set, in the order of
// the sets and of their texts. Texts of the same set are not compared. Of the
// texts of an earlier set that a text leaks from, the one that is most like it
// is told. Texts without a word are passed over.
//
// 10,000 questions against 10,000 others take some 0.2 seconds of a core.
func Check(sets ...Set) []Pair {
	index := newIndex(sets)
	var pairs []Pair
	for s := range sets {
		for t := range sets[s].Texts {
			for _, m := range index.matches(s, t) {
				pairs = append(pairs, Pair{
					Kind: m.kind, Similarity: m.similarity,
					A: sets[m.set].place(m.text), B: sets[s].place(t),
				})
			}
		}
		index.add(s)
	}
	return pairs
}

func (s Set) place(i int) Place {
	return Place{Set: s.Name, ID: s.Texts[i].ID, Question: s.Texts[i].Question}
}

// normal returns the form in which questions are compared. Where nothing is left of
// one, as of "The A?", it is compared as it is written.
func normal(question string) string {
	if text := score.Normalise(question); text != "" {
		return text
	}
	return strings.ToLower(strings.Join(strings.Fields(question), " "))
}
