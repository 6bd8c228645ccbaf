package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/triplemesh/triplemesh/services/retriever/ground"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// hybrid measures GroundGraph with a text index beside the vectors: not at
// all, by reciprocal rank, and with the best by text added to the best by
// vector.
func hybrid(ctx context.Context, b *bench) error {
	fmt.Fprint(b.out, groundHead)
	return b.eachGroundSet(ctx, func(set groundSet, snap store.Snapshot, questions []draftedQuestion) error {
		texts := &recordingEncoder{b.encoder, map[*float32]string{}}
		both := &hybridSnapshot{Snapshot: &cachedSnapshot{snap, map[searchKey][]store.Hit{}}, texts: texts.texts,
			index:  newBM25(snap),
			ranked: map[string][]store.TripleID{}}
		for _, how := range []struct {
			name string
			fuse func(vectors []store.Hit, words []store.TripleID, k int) []store.TripleID
		}{{"vectors alone", vectorsAlone}, {"reciprocal rank", byReciprocalRank},
			{"five by text added", withFiveByText}, {"text alone", textAlone}} {
			both.fuse = how.fuse
			if err := b.groundWith(ctx, both, texts, set.file, questions, how.name, ground.Default()); err != nil {
				return err
			}
		}
		return nil
	})
}

// recordingEncoder maps each vector it returned to its text.
type recordingEncoder struct {
	ground.Encoder
	texts map[*float32]string
}

func (t *recordingEncoder) Encode(ctx context.Context, texts []string) ([][]float32, error) {
	vectors, err := t.Encoder.Encode(ctx, texts)
	for i, v := range vectors {
		t.texts[&v[0]] = texts[i]
	}
	return vectors, err
}

// hybridSnapshot fuses vector search with text search.
type hybridSnapshot struct {
	store.Snapshot
	texts  map[*float32]string
	index  *bm25
	ranked map[string][]store.TripleID
	fuse   func([]store.Hit, []store.TripleID, int) []store.TripleID
}

// rankDepth is the number of hits of each ranking that are fused.
const rankDepth = 50

func (f *hybridSnapshot) SearchTriples(ctx context.Context, queries [][]float32, k int,
	filter store.Filter) ([][]store.Hit, error) {
	lists, err := f.Snapshot.SearchTriples(ctx, queries, rankDepth, filter)
	if err != nil {
		return nil, err
	}
	for q, vector := range queries {
		text := f.texts[&vector[0]]
		words, ok := f.ranked[text]
		if !ok {
			words = f.index.search(text, rankDepth)
			f.ranked[text] = words
		}
		ids := f.fuse(lists[q], words, k)
		scores, err := f.ScoreTriples(ctx, [][]float32{vector}, ids)
		if err != nil {
			return nil, err
		}
		hits := make([]store.Hit, len(ids))
		for i, id := range ids {
			hits[i] = store.Hit{Triple: id, Score: scores[0][i]}
		}
		lists[q] = hits
	}
	return lists, nil
}

func vectorsAlone(vectors []store.Hit, _ []store.TripleID, k int) []store.TripleID {
	var ids []store.TripleID
	for _, h := range vectors[:min(k, len(vectors))] {
		ids = append(ids, h.Triple)
	}
	return ids
}

func textAlone(_ []store.Hit, words []store.TripleID, k int) []store.TripleID {
	return words[:min(k, len(words))]
}

func withFiveByText(vectors []store.Hit, words []store.TripleID, k int) []store.TripleID {
	ids := append(vectorsAlone(vectors, nil, k), textAlone(nil, words, 5)...)
	slices.Sort(ids)
	return slices.Compact(ids)
}

// byReciprocalRank adds 1/(60+rank) of both rankings (Cormack, Clarke and
// Büttcher 2009).
func byReciprocalRank(vectors []store.Hit, words []store.TripleID, k int) []store.TripleID {
	scores := map[store.TripleID]float64{}
	for i, h := range vectors {
		scores[h.Triple] += 1 / float64(61+i)
	}
	for i, id := range words {
		scores[id] += 1 / float64(61+i)
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
