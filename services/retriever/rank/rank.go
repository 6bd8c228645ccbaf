// Package rank scores relation paths by weights learnt from questions with answers.
//
// A ranker is a few small networks over what retrieval knows of a path anyway: values such as its length
// and number of ends, and the vectors of its relations, of the relations around its ends (their
// profile, which tells what kind of thing they are) and of the question without the names of its
// topic entities. Nothing but the question is encoded. Training is in lab/train.
package rank

import (
	"errors"
	"math"

	"github.com/triplemesh/triplemesh/services/retriever/vector"
)

// The values of a path.
const (
	// How well the question's words and the hops explain each other, and the cosine of the mean of
	// its relations to the question without and with names; behind the best of all paths.
	Words = iota
	WordsBehind
	Cosine
	CosineBehind
	CosineNamed
	// Cosines of single relations to the question without names.
	FirstCosine
	LastCosine
	LeastCosine
	MeanCosine
	// Natural logarithms of one more than the number of ends, of all it reaches, of its ends' mean
	// number of triples, and the sum of those of the ways there were to go on.
	Ends
	Reach
	Degree
	Ways
	SingleEnd
	// Its shape: facts, steps, steps that undo or repeat the one before, inverse ones.
	Facts
	Steps
	Undone
	Repeated
	Inverse
	InverseFirst
	InverseLast
	// Other topic entities: how many there are, the share of ends that they lead to as well, the
	// best rough score of their paths there, -1 if there are none.
	Topics
	Shared
	SharedScore
	// Shares of ends that are texts, dates, numbers; dates if the question asks for a time.
	Texts
	Dates
	Numbers
	DatesAsked
	// The topic entity: its place among the topic entities, whether the question has its name, and
	// how many words that has.
	TopicPlace
	TopicNamed
	TopicWords

	// ValueCount is the number of values, InputCount that of the inputs of the hidden layer: three more.
	ValueCount
	InputCount = ValueCount + 3
)

// Values are the features of a path that are numbers.
type Values [ValueCount]float32

// ValueNames names Values. Weights name the values they were trained on, so that they are never read in
// another order.
var ValueNames = [ValueCount]string{
	"words", "words_behind", "cosine", "cosine_behind", "cosine_named",
	"first_cosine", "last_cosine", "least_cosine", "mean_cosine",
	"ends", "reach", "degree", "ways", "single_end",
	"facts", "steps", "undone", "repeated", "inverse", "inverse_first", "inverse_last",
	"topics", "shared", "shared_score",
	"texts", "dates", "numbers", "dates_asked",
	"topic_place", "topic_named", "topic_words",
}

// Question is a question with its candidate paths.
type Question struct {
	// Vector is the vector of the question without the names of its topic entities.
	Vector []float32
	// Relations are all relations that Paths refer to, each once.
	Relations []Relation
	// Paths are the candidates.
	Paths []Path
}

// Cosines returns those of the question to each relation.
func (q *Question) Cosines() []float32 {
	cosines := make([]float32, len(q.Relations))
	for i, relation := range q.Relations {
		cosines[i] = vector.Dot(q.Vector, relation.Vector)
	}
	return cosines
}

// Relation is a relation with its vector, of length 1.
type Relation struct {
	Name   string
	Vector []float32
}

// Path is a candidate. It refers to relations by their index.
type Path struct {
	// Values are its features in the order of ValueNames.
	Values Values
	// Steps are the relations of its hops, at least one.
	Steps []int
	// Profile are the relations around its ends, the most frequent of them; empty if unknown.
	Profile []Share
}

// Share is the share of a path's ends that have a relation, 0 to 1.
type Share struct {
	Relation int
	Share    float32
}

// Ranker scores paths. It is safe for concurrent use.
type Ranker struct {
	weights *Weights
	known   map[uint64]bool
}

// New returns a ranker with checked weights.
func New(w *Weights) (*Ranker, error) {
	if err := w.Check(); err != nil {
		return nil, err
	}
	r := &Ranker{weights: w, known: make(map[uint64]bool, len(w.Relations))}
	for _, h := range w.Relations {
		r.known[h] = true
	}
	return r, nil
}

// Weights returns the weights, which must not be changed.
func (r *Ranker) Weights() *Weights { return r.weights }

// minKnown is the share of candidates whose steps a ranker must have seen in training to be asked:
// what it learnt of one graph's relations says nothing of another's.
const minKnown = 0.7

// CoversRelation reports whether the ranker was trained on paths with a relation.
func (r *Ranker) CoversRelation(relation string) bool { return r.known[HashRelation(relation)] }

// Covers reports whether the ranker was trained on the relations of most of the paths. It reads only
// their steps.
func (r *Ranker) Covers(q *Question) bool {
	known := 0
	for _, p := range q.Paths {
		all := true
		for _, s := range p.Steps {
			all = all && r.CoversRelation(q.Relations[s].Name)
		}
		if all {
			known++
		}
	}
	return len(q.Paths) > 0 && float32(known) >= minKnown*float32(len(q.Paths))
}

// ErrEncoder reports vectors of another length than the ranker's.
var ErrEncoder = errors.New("the ranker was trained on vectors of another length")

// Probabilities returns, for each path, the probability that it is the one that leads to the
// answers: 0 to 1. The rest of 1 is the probability that none does, since the graph does not say.
func (r *Ranker) Probabilities(q *Question) ([]float32, error) {
	if len(q.Paths) == 0 {
		return nil, nil
	}
	scores, err := r.weights.Scores(q)
	if err != nil {
		return nil, err
	}
	probabilities := make([]float32, len(scores))
	for i, p := range Softmax(scores, float64(r.weights.Temperature)) {
		probabilities[i] = float32(p)
	}
	return probabilities, nil
}

// Softmax returns the probabilities of scores divided by a temperature, beside that of none of them,
// which has the score 0.
func Softmax(scores []float64, temperature float64) []float64 {
	most := 0.0
	for _, s := range scores {
		most = max(most, s)
	}
	sum := math.Exp(-most / temperature)
	probabilities := make([]float64, len(scores))
	for i, s := range scores {
		probabilities[i] = math.Exp((s - most) / temperature)
		sum += probabilities[i]
	}
	for i := range probabilities {
		probabilities[i] /= sum
	}
	return probabilities
}

// CompareWithBest sets the values of paths that are relative to the best of them.
func CompareWithBest(paths []Path) {
	for _, relative := range []struct{ value, to int }{{WordsBehind, Words}, {CosineBehind, Cosine}} {
		most := float32(math.Inf(-1))
		for i := range paths {
			most = max(most, paths[i].Values[relative.to])
		}
		for i := range paths {
			paths[i].Values[relative.value] = paths[i].Values[relative.to] - most
		}
	}
}

// Scores returns the log odds of each path against that of none, before the temperature: the mean of
// those by each network.
func (w *Weights) Scores(q *Question) ([]float64, error) {
	if len(q.Vector) != w.Dims {
		return nil, ErrEncoder
	}
	for _, relation := range q.Relations {
		if len(relation.Vector) != w.Dims {
			return nil, ErrEncoder
		}
	}
	scores := make([]float64, len(q.Paths))
	plain := q.Cosines()
	for i := range w.Networks {
		n := &w.Networks[i]
		near := n.Compare(q, plain, Multiply(n.QuestionSteps, q.Vector), Multiply(n.QuestionEnds, q.Vector))
		for j := range q.Paths {
			score, _ := n.Score(n.Inputs(near, &q.Paths[j]))
			scores[j] += score / float64(len(w.Networks))
		}
	}
	return scores, nil
}
