package storetest

import (
	"cmp"
	"context"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// Dims is the length of the vectors here, Model the name of the encoder.
const (
	wordDims  = 128
	wordModel = "words"
)

// WordEncoder gives texts that share words close vectors. Texts records what it
// was asked for.
type WordEncoder struct {
	Texts []string
	Err   error
	mutex sync.Mutex
}

// Encode returns one vector of length 1 per text.
func (e *WordEncoder) Encode(_ context.Context, texts []string) ([][]float32, error) {
	e.mutex.Lock()
	e.Texts = append(e.Texts, texts...)
	e.mutex.Unlock()
	vectors := make([][]float32, len(texts))
	for i, t := range texts {
		vectors[i] = WordVector(t)
	}
	return vectors, e.Err
}

// Name implements encoder.Encoder.
func (e *WordEncoder) Name() string { return wordModel }

// Dims implements encoder.Encoder.
func (e *WordEncoder) Dims() int { return wordDims }

// WordVector is the sum of a fixed random vector per word, of length 1.
func WordVector(text string) []float32 {
	v := make([]float32, wordDims)
	v[0] = 1e-6
	for _, word := range strings.Fields(store.Fold(text)) {
		h := fnv.New64a()
		h.Write([]byte(word))
		r := rand.New(rand.NewPCG(h.Sum64(), 1))
		for i := range v {
			v[i] += float32(r.NormFloat64())
		}
	}
	norm := float32(math.Sqrt(float64(dot(v, v))))
	for i := range v {
		v[i] /= norm
	}
	return v
}

// Edges implements store.Walker.
func (g *Graph) Edges(_ context.Context, entities []store.EntityID, dir store.Direction,
	relations []store.RelationID) ([][]store.Edge, error) {
	g.EdgeReads.Add(1)
	lists := make([][]store.Edge, len(entities))
	for i, e := range entities {
		for id, t := range g.triples {
			from, to := t.Subject, t.Object
			if dir == store.In {
				from, to = to, from
			}
			if from == e && (relations == nil || slices.Contains(relations, t.Relation)) {
				lists[i] = append(lists[i], store.Edge{Relation: t.Relation, Entity: to, Triple: store.TripleID(id)})
			}
		}
		slices.SortFunc(lists[i], func(a, b store.Edge) int {
			return cmp.Or(cmp.Compare(a.Relation, b.Relation), cmp.Compare(a.Triple, b.Triple))
		})
	}
	return lists, nil
}

// Degree implements store.Walker.
func (g *Graph) Degree(e store.EntityID, dir store.Direction) int {
	n := 0
	for _, t := range g.triples {
		if (dir == store.Out && t.Subject == e) || (dir == store.In && t.Object == e) {
			n++
		}
	}
	return n
}

// Relations implements store.Walker.
func (g *Graph) Relations(ctx context.Context, e store.EntityID,
	dir store.Direction) (counts []store.RelationEdges, err error) {
	lists, err := g.Edges(ctx, []store.EntityID{e}, dir, nil)
	if err != nil {
		return nil, err
	}
	g.EdgeReads.Add(-1) // a store does not read them
	for _, edge := range lists[0] {
		if last := len(counts) - 1; last < 0 || counts[last].Relation != edge.Relation {
			counts = append(counts, store.RelationEdges{Relation: edge.Relation})
		}
		counts[len(counts)-1].Edges++
	}
	return counts, nil
}

// Sample implements store.Walker.
func (g *Graph) Sample(ctx context.Context, e store.EntityID, dir store.Direction, relation store.RelationID,
	most int) (edges []store.Edge, err error) {
	lists, err := g.Edges(ctx, []store.EntityID{e}, dir, []store.RelationID{relation})
	if err != nil {
		return nil, err
	}
	total := len(lists[0])
	for i := range min(most, total) {
		edges = append(edges, lists[0][i*total/min(most, total)])
	}
	return edges, nil
}

// SearchTriples implements store.Searcher.
func (g *Graph) SearchTriples(_ context.Context, queries [][]float32, k int,
	filter store.Filter) ([][]store.Hit, error) {
	results := make([][]store.Hit, len(queries))
	passes := filter.Matcher(g)
	for i, scored := range searchNearest(queries, g.vectors, k, func(row int) bool {
		return passes == nil ||
			passes(store.TripleID(row))
	}) {
		for _, s := range scored {
			results[i] = append(results[i], store.Hit{Triple: store.TripleID(s.row), Score: s.score})
		}
	}
	return results, nil
}

// ScoreTriples implements store.Searcher.
func (g *Graph) ScoreTriples(_ context.Context, queries [][]float32,
	triples []store.TripleID) ([][]float32, error) {
	results := make([][]float32, len(queries))
	for i, q := range queries {
		for _, t := range triples {
			results[i] = append(results[i], dot(q, g.vectors[t]))
		}
	}
	return results, nil
}

// SearchRelations implements store.Searcher.
func (g *Graph) SearchRelations(_ context.Context, queries [][]float32, k int) ([][]store.RelationHit, error) {
	results := make([][]store.RelationHit, len(queries))
	for i, scored := range searchNearest(queries, g.relVectors, k, func(int) bool { return true }) {
		for _, s := range scored {
			results[i] = append(results[i], store.RelationHit{Relation: store.RelationID(s.row), Score: s.score})
		}
	}
	return results, nil
}

// RelationVector implements store.Searcher.
func (g *Graph) RelationVector(id store.RelationID) []float32 { return g.relVectors[id] }

type scoredRow struct {
	row   int
	score float32
}

func searchNearest(queries, rows [][]float32, k int, passes func(row int) bool) [][]scoredRow {
	results := make([][]scoredRow, len(queries))
	for i, q := range queries {
		for row, v := range rows {
			if passes(row) {
				results[i] = append(results[i], scoredRow{row, dot(q, v)})
			}
		}
		slices.SortStableFunc(results[i], func(a, b scoredRow) int { return cmp.Compare(b.score, a.score) })
		results[i] = results[i][:min(k, len(results[i]))]
	}
	return results
}

func dot(a, b []float32) float32 {
	var sum float32
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}
