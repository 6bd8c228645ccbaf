package main

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// The usual parameters of BM25.
const (
	bm25K1 = 1.2
	bm25B  = 0.75
)

// posting is a triple that holds a word, and how often.
type posting struct {
	triple store.TripleID
	count  float32
}

// bm25 is a text index over triples in words, in memory.
type bm25 struct {
	postings map[string][]posting
	lengths  []float32
	mean     float32
}

func newBM25(snap store.Snapshot) *bm25 {
	n := snap.Info().Triples
	b := &bm25{postings: map[string][]posting{}, lengths: make([]float32, n)}
	total := 0
	for id := range store.TripleID(n) {
		t := snap.Triple(id)
		words := strings.Fields(store.Fold(kgtext.VerbaliseTriple(snap.EntityName(t.Subject),
			snap.RelationName(t.Relation),
			snap.EntityName(t.Object))))
		b.lengths[id] = float32(len(words))
		total += len(words)
		slices.Sort(words)
		for i := 0; i < len(words); {
			word, count := words[i], 0
			for ; i < len(words) && words[i] == word; i++ {
				count++
			}
			b.postings[word] = append(b.postings[word], posting{id, float32(count)})
		}
	}
	b.mean = float32(total) / float32(max(n, 1))
	return b
}

// search returns the k triples with the best scores, best first.
func (b *bm25) search(text string, k int) []store.TripleID {
	scores := map[store.TripleID]float32{}
	words := strings.Fields(store.Fold(text))
	slices.Sort(words)
	for _, word := range slices.Compact(words) {
		list := b.postings[word]
		n, df := float64(len(b.lengths)), float64(len(list))
		idf := float32(math.Log(1 + (n-df+0.5)/(df+0.5)))
		for _, p := range list {
			norm := bm25K1 * (1 - bm25B + bm25B*b.lengths[p.triple]/b.mean)
			scores[p.triple] += idf * p.count * (bm25K1 + 1) / (p.count + norm)
		}
	}
	ids := make([]store.TripleID, 0, len(scores))
	for id := range scores {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b store.TripleID) int {
		return cmp.Or(cmp.Compare(scores[b], scores[a]), cmp.Compare(a, b))
	})
	return ids[:min(k, len(ids))]
}
