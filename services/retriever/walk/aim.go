package walk

import (
	"context"
	"slices"
	"strings"

	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/vector"
)

// aim is the target that paths are ranked against.
type aim struct {
	// question is the mean of the vectors of the question with and without the topic entities'
	// names, which do not describe the path.
	question []float32
	// named and unnamed are those vectors.
	named, unnamed []float32
	proposed       [][]float32
	// mentions are the topic entities' names in the question.
	mentions map[store.EntityID]wordRange
	// words are the vectors of the question's words, nearness their cosines to relations.
	words  [][]float32
	places map[store.EntityID][]float32 // of the words, by topic entity
	// asksTime reports whether the answer is a time.
	asksTime bool
	nearness map[store.RelationID][]float32
	// relations caches products, covered is memory of matchWords.
	relations map[store.RelationID]relationProducts
	covered   []float32
}

func newAim(ctx context.Context, snap Reader, encoder Encoder, req SuggestRequest) (*aim, error) {
	texts := append([]string{req.Question, withoutTopics(snap, req)}, req.Proposed...)
	asked := strings.Fields(store.Fold(req.Question))
	mentions, named := findMentions(snap, asked, req.Topics)
	words, places := splitQuestionWords(asked, mentions, named)
	vectors, err := encoder.Encode(ctx, append(texts, words...))
	if err != nil {
		return nil, err
	}
	question := make([]float32, len(vectors[0]))
	for i := range question {
		question[i] = (vectors[0][i] + vectors[1][i]) / 2
	}
	return &aim{asksTime: asksTime(req.Question), question: question, named: vectors[0], unnamed: vectors[1],
		proposed: vectors[2:len(texts)], words: vectors[len(texts):], places: places, mentions: mentions,
		nearness: map[store.RelationID][]float32{}, relations: map[store.RelationID]relationProducts{},
		covered: make([]float32, len(words))}, nil
}

// relationProducts are products of a relation's vector: with itself and with the aim's.
type relationProducts struct {
	length float32
	near   []float32
}

// products returns those of a relation.
func (a *aim) products(snap Snapshot, relation store.RelationID) relationProducts {
	p, ok := a.relations[relation]
	if !ok {
		v := snap.RelationVector(relation)
		p = relationProducts{vector.Dot(v, v), a.compare(v)}
		a.relations[relation] = p
	}
	return p
}

// compare returns the products of a vector with the question and the proposed paths.
func (a *aim) compare(v []float32) []float32 {
	near := make([]float32, 0, 1+len(a.proposed))
	near = append(near, vector.Dot(a.question, v))
	for _, p := range a.proposed {
		near = append(near, vector.Dot(p, v))
	}
	return near
}

// weigh returns the similarity to the aim of a vector with these products: -1 to 1 times its length.
func (a *aim) weigh(near []float32) float32 {
	if len(near) == 1 {
		return near[0]
	}
	return (1-proposedWeight)*near[0] + proposedWeight*slices.Max(near[1:])
}

// withoutTopics removes the topic entities' names from a question, unless nothing would remain.
func withoutTopics(snap Reader, req SuggestRequest) string {
	rest := " " + store.Fold(req.Question) + " "
	for _, topic := range req.Topics {
		rest = strings.ReplaceAll(rest, " "+store.Fold(snap.EntityName(topic))+" ", " ")
	}
	if rest = strings.TrimSpace(rest); rest == "" {
		return req.Question
	}
	return rest
}
