package load

import (
	"context"
	"fmt"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/triplemesh/triplemesh/internal/verbalise"
	"github.com/triplemesh/triplemesh/services/retriever/encoder"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// stretch is some triples in a row on their way to their vectors: enough for
// the encoder to put texts of one length together.
type stretch struct {
	from  int
	facts []record
	// texts are distinct; rows says which one each triple has.
	texts   []string
	rows    []int
	vectors [][]float32
	done    chan error
}

// vectors encodes the triples in stretches, several at once, and hands the
// vectors out in order. Triples of one subject stand together, so those with
// the same words nearly always meet within one stretch and are encoded once.
// progress may be nil.
func (g *graph) vectors(enc encoder.Encoder, progress func(done, total int)) store.Each[[]float32] {
	return func(ctx context.Context, emit func([]float32) error) error {
		group, ctx := errgroup.WithContext(ctx)
		workers := runtime.GOMAXPROCS(0)
		work, inOrder := make(chan *stretch), make(chan *stretch, workers)
		group.Go(func() error {
			defer close(work)
			defer close(inOrder)
			from := 0
			return g.pages(ctx, func(page []record) error {
				s := &stretch{from: from, facts: slices.Clone(page), done: make(chan error, 1)}
				from += len(page)
				for _, to := range []chan *stretch{inOrder, work} {
					select {
					case to <- s:
					case <-ctx.Done():
						return ctx.Err()
					}
				}
				return nil
			})
		})
		for range workers {
			group.Go(func() error {
				names := lookup{table: g.entities}
				for s := range work {
					s.done <- s.encode(ctx, g, &names, enc)
				}
				return nil
			})
		}
		group.Go(func() error {
			for s := range inOrder {
				select {
				case err := <-s.done:
					if err != nil {
						return err
					}
				case <-ctx.Done():
					return ctx.Err()
				}
				for _, row := range s.rows {
					if err := emit(s.vectors[row]); err != nil {
						return err
					}
				}
				if progress != nil {
					progress(s.from+len(s.facts), g.count)
				}
			}
			return nil
		})
		return group.Wait()
	}
}

func (s *stretch) encode(ctx context.Context, g *graph, names *lookup, enc encoder.Encoder) error {
	objects, err := g.objects(s.facts, names)
	if err != nil {
		return err
	}
	places := map[string]int{}
	for _, f := range s.facts {
		subject, err := names.name(store.EntityID(f[0]))
		if err != nil {
			return err
		}
		text := verbalise.Triple(subject, g.relations[f[1]], objects[f[2]])
		place, ok := places[text]
		if !ok {
			place = len(s.texts)
			places[text] = place
			s.texts = append(s.texts, text)
		}
		s.rows = append(s.rows, place)
	}
	if s.vectors, err = enc.Encode(ctx, s.texts); err != nil {
		return fmt.Errorf("encode triples %d to %d: %w", s.from, s.from+len(s.facts), err)
	}
	return nil
}

// objects names the objects of some facts, each once and in the order in which
// the names lie.
func (g *graph) objects(facts []record, names *lookup) (map[uint32]string, error) {
	ids := make([]uint32, len(facts))
	for i, f := range facts {
		ids[i] = f[2]
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	named := make(map[uint32]string, len(ids))
	for _, id := range ids {
		name, err := names.name(store.EntityID(id))
		if err != nil {
			return nil, err
		}
		named[id] = name
	}
	return named, nil
}
