package walk

import (
	"context"
	"strings"

	"github.com/triplemesh/triplemesh/services/retriever/dot"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// aim is what paths should come close to.
type aim struct {
	// question is the mean of the question's vector and that of the question
	// without the topic entities' names, which say nothing about the path.
	question []float32
	proposed [][]float32
	// words are the question's own, nearness their cosines to relations.
	words []word
	// time says whether the question asks for one.
	time     bool
	nearness map[store.RelationID][]float32
}

func newAim(ctx context.Context, snap Reader, encoder Encoder, ask Ask) (*aim, error) {
	texts := append([]string{ask.Question, withoutTopics(snap, ask)}, ask.Proposed...)
	vectors, err := encoder.Encode(ctx, texts)
	if err != nil {
		return nil, err
	}
	question := make([]float32, len(vectors[0]))
	for i := range question {
		question[i] = (vectors[0][i] + vectors[1][i]) / 2
	}
	words, err := wordsOf(ctx, snap, encoder, ask)
	if err != nil {
		return nil, err
	}
	return &aim{time: asksTime(ask.Question), question: question, proposed: vectors[2:], words: words, nearness: map[store.RelationID][]float32{}}, nil
}

// closeness compares a path's vector with the aim: -1 to 1 times its length.
func (a *aim) closeness(v []float32) float32 {
	c := dot.Product(a.question, v)
	if len(a.proposed) == 0 {
		return c
	}
	best := dot.Product(a.proposed[0], v)
	for _, p := range a.proposed[1:] {
		best = max(best, dot.Product(p, v))
	}
	return (1-proposedWeight)*c + proposedWeight*best
}

// withoutTopics takes the topic entities' names out of a question; a question
// that is nothing else stays as it is.
func withoutTopics(snap Reader, ask Ask) string {
	rest := " " + store.Fold(ask.Question) + " "
	for _, topic := range ask.Topics {
		rest = strings.ReplaceAll(rest, " "+store.Fold(snap.EntityName(topic))+" ", " ")
	}
	if rest = strings.TrimSpace(rest); rest == "" {
		return ask.Question
	}
	return rest
}
