package bench

import (
	"context"
	"errors"
	"fmt"

	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/vector"
)

// bitQueries is the most questions that are searched for.
const bitQueries = 500

// efs are the widths of FAISS's HNSW search that are tried, from the fastest.
var efs = []int{16, 32, 64, 128, 256, 512, 1024, 2048}

// bits compares the one-bit pass with the int8 scan and with an HNSW graph of
// the same recall, on the vectors of real triples. Queries are asked one at a
// time, as questions come.
func (b *bench) bits(ctx context.Context) error {
	snap, err := b.loaded(ctx)
	if err != nil {
		return err
	}
	defer snap.Release()
	queries, err := b.questionVectors(ctx, bitQueries)
	if err != nil {
		return err
	}
	info := snap.Info()
	b.progress("bits: copying %d vectors", info.Triples)
	next, failed := b.rowsOf(ctx, snap)
	set, err := b.write(ctx, "bits", info.Triples, info.Dims, next)
	if err != nil {
		return errors.Join(failed(), err)
	}
	defer set.close()
	best, err := set.Search(ctx, queries, hitsPerQuery, vector.Options{Method: vector.ByFull})
	if err != nil {
		return err
	}
	oneByOne := func(name string, method vector.Method) contestant {
		found := make([][]vector.Hit, len(queries))
		return contestant{
			name: name,
			run: timed(func(ctx context.Context) error {
				for i := range queries {
					hits, err := set.Search(ctx, queries[i:i+1], hitsPerQuery, vector.Options{Method: method})
					if err != nil {
						return err
					}
					found[i] = hits[0]
				}
				return nil
			}),
			recall: func() float64 { return recall(found, best) },
		}
	}
	contestants := []contestant{oneByOne("triplemesh one bit", vector.ByBits),
		oneByOne("triplemesh int8", vector.ByCodes)}
	if b.peers != nil {
		hnsw, stop, err := b.hnsw(ctx, set, queries, best)
		if err != nil {
			return err
		}
		defer stop()
		contestants = append(contestants, hnsw...)
	}
	title := fmt.Sprintf("search %d real vectors, %d queries one at a time, top %d, %d threads", set.Len(),
		len(queries), hitsPerQuery, b.Threads)
	return b.contest(ctx, title, b.Rounds, contestants...)
}

// hnsw builds the graph and takes the fastest width that finds as much as the
// one-bit pass must, and the next faster one.
func (b *bench) hnsw(ctx context.Context, set *vectorSet, queries [][]float32,
	best [][]vector.Hit) (_ []contestant, stop func(), err error) {
	faiss, err := b.peers.start(ctx, "search")
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			faiss.stop()
		}
	}()
	if _, err = faiss.ask(map[string]any{"open": set.full, "dims": set.Dims(), "threads": b.Threads}); err != nil {
		return nil, nil, err
	}
	b.progress("bits: FAISS builds HNSW32")
	built, err := faiss.ask(map[string]any{"index": "hnsw"})
	if err != nil {
		return nil, nil, err
	}
	file, err := b.saveQueries("bits.queries", queries)
	if err != nil {
		return nil, nil, err
	}
	var chosen []contestant
	for _, ef := range efs {
		// FAISS spreads queries over threads; one at a time they would come
		// without that, so each width is asked for one by one in Python too.
		c := b.searching(faiss, fmt.Sprintf("FAISS HNSW32, ef %d", ef), fmt.Sprintf("built in %.0f s", built.MS[0]/1e3),
			file, len(queries), best,
			map[string]any{"search": "hnsw", "ef": ef, "single": true})
		if _, err = c.run(ctx); err != nil {
			return nil, nil, err
		}
		chosen = append(chosen, c)
		if c.recall() >= leastRecall {
			break
		}
	}
	return chosen[max(0, len(chosen)-2):], faiss.stop, nil
}

// leastRecall is what the one-bit pass promises.
const leastRecall = 0.995

// rowsOf hands out the vectors of a snapshot's triples. They come from the
// cache of vectors that loading filled.
func (b *bench) rowsOf(ctx context.Context, snap store.Snapshot) (next func() []float32, failed func() error) {
	e := b.opened[fp32]
	enc := e.cache.Encoder(e.encoder)
	var batch [][]float32
	var err error
	at, triples := 0, snap.Info().Triples
	return func() []float32 {
		if len(batch) == 0 && err == nil {
			to := min(at+4096, triples)
			texts := make([]string, 0, to-at)
			for ; at < to; at++ {
				texts = append(texts, textOf(snap, store.TripleID(at)))
			}
			batch, err = enc.Encode(ctx, texts)
		}
		if err != nil {
			return nil
		}
		v := batch[0]
		batch = batch[1:]
		return v
	}, func() error { return err }
}
