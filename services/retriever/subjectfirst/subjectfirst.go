// Package subjectfirst searches knowledge graphs that are too large to
// vectorise: names choose the subjects that may be meant, and only the triples
// around them are encoded, when they are asked for.
package subjectfirst

import (
	"context"
	"slices"

	"github.com/triplemesh/triplemesh/internal/verbalise"
	"github.com/triplemesh/triplemesh/services/retriever/dot"
	"github.com/triplemesh/triplemesh/services/retriever/ground"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// Encoder turns texts into vectors, one per text, each of length 1. It should
// remember them: the triples of what is asked about come back.
type Encoder interface {
	Encode(ctx context.Context, texts []string) ([][]float32, error)
}

// Ask is what names are looked for in.
type Ask struct {
	// Texts are questions or mentions; the entities that they name are linked.
	Texts []string
	// Names may be those of entities: the subjects and objects of a
	// pseudo-graph.
	Names []string
	// Chained: the pseudo-graph goes on from an object, whose name is a guess,
	// so that the neighbours of what is named are candidates too.
	Chained bool
}

// AskOf is what a question and its pseudo-graph ask.
func AskOf(question string, pseudo []ground.Fact) Ask {
	ask := Ask{Texts: []string{question}}
	for _, p := range pseudo {
		ask.Names = append(ask.Names, p.Subject, p.Object)
		ask.Chained = ask.Chained || slices.ContainsFunc(pseudo, func(o ground.Fact) bool {
			return o.Subject != p.Subject && store.Fold(o.Subject) == store.Fold(p.Object)
		})
	}
	return ask
}

// What encoding may cost: a core encodes some hundreds of triples a second.
const (
	// MaxTriples is the most triples that are encoded to search them.
	MaxTriples = 192
	// MaxRead is ground.Options.MaxRead for such a snapshot.
	MaxRead = 64
)

// Snapshot is a snapshot that is searched subject first. It serves one request
// and one goroutine: it keeps the vectors that the request needed.
type Snapshot struct {
	store.Snapshot
	encoder Encoder
	ask     Ask
	vectors map[store.TripleID][]float32
}

// New returns a view of a snapshot whose triples have no vectors, for one
// request. Its relations should have some, made by the same encoder.
func New(snap store.Snapshot, encoder Encoder, ask Ask) *Snapshot {
	return &Snapshot{Snapshot: snap, encoder: encoder, ask: ask, vectors: map[store.TripleID][]float32{}}
}

// SearchTriples returns the k triples nearest to each query among those around
// the candidates, best first. Where the filter names subjects, they are the
// candidates.
func (s *Snapshot) SearchTriples(ctx context.Context, queries [][]float32, k int, filter store.Filter) ([][]store.Hit, error) {
	triples, err := s.candidates(ctx, queries, filter)
	if err != nil {
		return nil, err
	}
	scores, err := s.ScoreTriples(ctx, queries, triples)
	if err != nil {
		return nil, err
	}
	hits := make([][]store.Hit, len(queries))
	for q, of := range scores {
		hits[q] = best(triples, of, k)
	}
	return hits, nil
}

// ScoreTriples encodes the triples that were not encoded before and returns
// the cosine of each query to each: result[q][t].
func (s *Snapshot) ScoreTriples(ctx context.Context, queries [][]float32, triples []store.TripleID) ([][]float32, error) {
	if err := s.encode(ctx, triples); err != nil {
		return nil, err
	}
	scores := make([][]float32, len(queries))
	for q, query := range queries {
		scores[q] = make([]float32, len(triples))
		for i, id := range triples {
			scores[q][i] = dot.Product(query, s.vectors[id])
		}
	}
	return scores, nil
}

func (s *Snapshot) encode(ctx context.Context, triples []store.TripleID) error {
	var missing []store.TripleID
	var words []string
	listed := map[store.TripleID]bool{}
	for _, id := range triples {
		if s.vectors[id] == nil && !listed[id] {
			listed[id] = true
			t := s.Triple(id)
			missing = append(missing, id)
			words = append(words, verbalise.Triple(s.EntityName(t.Subject), s.RelationName(t.Relation), s.EntityName(t.Object)))
		}
	}
	if len(words) == 0 {
		return nil
	}
	vectors, err := s.encoder.Encode(ctx, words)
	if err != nil {
		return err
	}
	for i, id := range missing {
		s.vectors[id] = vectors[i]
	}
	return nil
}
