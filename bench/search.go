package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/triplemesh/triplemesh/services/retriever/vector"
)

// hitsPerQuery is the k of every search.
const hitsPerQuery = 10

// search compares ways to find the nearest of many vectors.
func (b *bench) search(ctx context.Context) error {
	b.progress("search: writing %d vectors", b.Vectors)
	set, queries, kind, err := b.manyVectors(ctx)
	if err != nil {
		return err
	}
	defer set.close()
	file, err := b.saveQueries("search.queries", queries)
	if err != nil {
		return err
	}
	var faiss *peer
	if b.peers != nil {
		if faiss, err = b.peers.start(ctx, "search"); err != nil {
			return err
		}
		defer faiss.stop()
		if _, err := faiss.ask(map[string]any{"open": set.full, "dims": set.Dims(), "threads": b.Threads}); err != nil {
			return err
		}
		for _, index := range []string{"flat", "sq8"} {
			b.progress("search: FAISS builds %s", index)
			if _, err := faiss.ask(map[string]any{"index": index}); err != nil {
				return err
			}
		}
	}
	for _, n := range []int{10, 1} {
		best, err := set.Search(ctx, queries[:n], hitsPerQuery, vector.Options{Method: vector.ByFull})
		if err != nil {
			return err
		}
		contestants := []contestant{
			b.scanning("triplemesh int8", set, queries[:n], best, vector.ByCodes),
			b.scanning("triplemesh one bit", set, queries[:n], best, vector.ByBits),
			b.scanning("triplemesh fp32", set, queries[:n], best, vector.ByFull),
		}
		read := reading(set.codes, b.Threads)
		read.name = "reading the int8 column once"
		contestants = append(contestants, read)
		if faiss != nil {
			for _, c := range []struct {
				name string
				ask  map[string]any
			}{
				{"FAISS Flat, BLAS", map[string]any{"search": "flat", "blas": true}},
				{"FAISS Flat, no BLAS", map[string]any{"search": "flat", "blas": false}},
				{"FAISS SQ8", map[string]any{"search": "sq8"}},
			} {
				contestants = append(contestants, b.searching(faiss, c.name, "", file, n, best, c.ask))
			}
		}
		title := fmt.Sprintf("search %d %s vectors, %d queries, top %d, %d threads", set.Len(), kind, n,
			hitsPerQuery, b.Threads)
		if err := b.contest(ctx, title, b.Rounds, contestants...); err != nil {
			return err
		}
	}
	return nil
}

// searchQueries is how many queries are asked at once.
const searchQueries = 10

// manyVectors returns those of the triples again and again, each time with some
// noise, and queries those of the questions; without triples and questions both
// are generated.
func (b *bench) manyVectors(ctx context.Context) (set *vectorSet, queries [][]float32, kind string, err error) {
	if b.Triples != "" && b.Questions != "" {
		snap, err := b.loaded(ctx)
		if err != nil {
			return nil, nil, "", err
		}
		defer snap.Release()
		if queries, err = b.questionVectors(ctx, searchQueries); err != nil {
			return nil, nil, "", err
		}
		next, failed := b.rowsOf(ctx, snap)
		set, err = b.write(ctx, "search", b.Vectors, snap.Info().Dims, repeated(next, snap.Info().Triples))
		return set, queries, "real", errors.Join(failed(), err)
	}
	if set, err = b.write(ctx, "search", b.Vectors, b.Dims, newGenerated(b.Dims, 1).next); err != nil {
		return nil, nil, "", err
	}
	near := newGenerated(b.Dims, 1)
	for range searchQueries {
		// Neighbours of rows that are there.
		for range b.Vectors / (2 * searchQueries) {
			near.next()
		}
		queries = append(queries, slices.Clone(near.next()))
	}
	return set, queries, "generated", nil
}

// scanning returns the engine's search by one method.
func (b *bench) scanning(name string, set *vectorSet, queries [][]float32, best [][]vector.Hit,
	method vector.Method) contestant {
	var found [][]vector.Hit
	return contestant{
		name: name,
		run: timed(func(ctx context.Context) (err error) {
			found, err = set.Search(ctx, queries, hitsPerQuery, vector.Options{Method: method})
			return err
		}),
		recall: func() float64 { return recall(found, best) },
	}
}

// searching returns a search by FAISS.
func (b *bench) searching(faiss *peer, name, note, queries string, count int, best [][]vector.Hit,
	ask map[string]any) contestant {
	ask["queries"], ask["count"], ask["k"], ask["repeat"] = queries, count, hitsPerQuery, 1
	c, last := faiss.contestant(name, note, ask)
	c.recall = func() float64 { return recall(fromPeer(last.Scores), best) }
	return c
}
