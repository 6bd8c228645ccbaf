package bench

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/embedded"
)

const (
	// perSubject is how many triples of a large snapshot have one subject.
	perSubject = 10
	// rowSeed makes the vectors.
	rowSeed = 5
	// relationsInLarge is how many relations it has.
	relationsInLarge = 100
)

// large builds a large snapshot of generated triples and vectors, opens it and
// searches it, and says how long that took and what it kept in memory.
func (b *bench) large(ctx context.Context) error {
	dir := filepath.Join(b.work, "large")
	b.progress("large: writing %d triples with vectors of %d dimensions", b.Large, b.Dims)
	writer := embedded.New(dir)
	began := time.Now()
	if _, err := writer.Write(ctx, "large", largeContent(b.Large, b.Dims)); err != nil {
		return err
	}
	title := fmt.Sprintf("a snapshot of %d triples", b.Large)
	b.add(Row{Contest: title, Name: "write", Value: time.Since(began).Seconds(), Unit: "s"})
	if err := writer.Close(); err != nil {
		return err
	}

	reader := embedded.New(dir)
	defer reader.Close()
	stop := watchMemory()
	began = time.Now()
	snap, err := reader.Open(ctx, "large", 1)
	if err != nil {
		return err
	}
	defer snap.Release()
	took := time.Since(began)
	b.add(Row{Contest: title, Name: "open", Value: float64(took) / float64(time.Millisecond), Unit: "ms"})
	b.add(Row{Contest: title, Name: "open: memory", Value: float64(stop()) / 1e6, Unit: "MB"})

	stop = watchMemory()
	queries := newGenerated(b.Dims, rowSeed)
	var times []float64
	for range 200 {
		// Rows from all over the first part, each with its family about it.
		for range min(b.Large/200, 5000) - 1 {
			queries.next()
		}
		q := slices.Clone(queries.next())
		began := time.Now()
		if _, err := snap.SearchTriples(ctx, [][]float32{q}, hitsPerQuery, store.Filter{}); err != nil {
			return err
		}
		times = append(times, float64(time.Since(began))/float64(time.Millisecond))
	}
	held := stop()
	first := times[0]
	slices.Sort(times)
	b.add(Row{Contest: title, Name: "200 searches", Value: times[0], Median: times[len(times)/2], Unit: "ms",
		Note: fmt.Sprintf("the first one %.0f ms: it reads and verifies", first)})
	b.add(Row{Contest: title, Name: "200 searches: memory", Value: float64(held) / 1e6, Unit: "MB"})
	return nil
}

// largeContent returns triples whose names and vectors are generated as they are
// asked for.
func largeContent(triples, dims int) store.Content {
	subjects := (triples + perSubject - 1) / perSubject
	relations := make([]string, relationsInLarge)
	relationVectors := make([][]float32, relationsInLarge)
	vectors := newGenerated(dims, 3)
	for i := range relations {
		relations[i] = fmt.Sprintf("relation %03d", i)
		relationVectors[i] = slices.Clone(vectors.next())
	}
	return store.Content{
		Relations: relations, RelationVectors: relationVectors,
		EntityCount: subjects, TripleCount: triples,
		Encoder: "generated", Dims: dims,
		Entities: func(_ context.Context, emit func(store.NamedEntity) error) error {
			for i := range subjects {
				if err := emit(store.NamedEntity{Name: fmt.Sprintf("Entity number %09d", i)}); err != nil {
					return err
				}
			}
			return nil
		},
		Triples: func(_ context.Context, emit func(store.DatedTriple) error) error {
			for i := range triples {
				t := store.Triple{
					Subject:  store.EntityID(i / perSubject),
					Relation: store.RelationID(i % perSubject * (relationsInLarge / perSubject)),
					// A product with a prime scatters the objects.
					Object: store.EntityID(uint64(i) * 2_654_435_761 % uint64(subjects)),
				}
				if err := emit(store.DatedTriple{Triple: t}); err != nil {
					return err
				}
			}
			return nil
		},
		TripleVectors: func(_ context.Context, emit func([]float32) error) error {
			rows := newGenerated(dims, rowSeed)
			for range triples {
				if err := emit(rows.next()); err != nil {
					return err
				}
			}
			return nil
		},
	}
}
