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
	from, rows int
	texts      func() ([]string, error)
	// vectors are those of distinct texts; places says which one each row has.
	vectors [][]float32
	places  []int
	done    chan error
}

// encoding makes vectors of texts in stretches, several at once, and hands them
// out in order.
type encoding struct {
	encoder encoder.Encoder
	total   int
	// progress may be nil.
	progress func(done, total int)
}

// run encodes the stretches that produce hands over: how many rows each has and
// what makes their texts.
func (e encoding) run(ctx context.Context, produce func(ctx context.Context, take func(rows int, texts func() ([]string, error)) error) error, emit func([]float32) error) error {
	group, ctx := errgroup.WithContext(ctx)
	workers := runtime.GOMAXPROCS(0)
	work, inOrder := make(chan *stretch), make(chan *stretch, workers)
	group.Go(func() error {
		defer close(work)
		defer close(inOrder)
		from := 0
		return produce(ctx, func(rows int, texts func() ([]string, error)) error {
			s := &stretch{from: from, rows: rows, texts: texts, done: make(chan error, 1)}
			from += rows
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
			for s := range work {
				s.done <- s.encode(ctx, e.encoder)
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
			for _, place := range s.places {
				if err := emit(s.vectors[place]); err != nil {
					return err
				}
			}
			if e.progress != nil {
				e.progress(s.from+s.rows, e.total)
			}
		}
		return nil
	})
	return group.Wait()
}

// encode encodes the distinct texts of a stretch. Triples of one subject stand
// together, so those with the same words nearly always meet within one and are
// encoded once.
func (s *stretch) encode(ctx context.Context, enc encoder.Encoder) error {
	texts, err := s.texts()
	if err != nil {
		return err
	}
	known := make(map[string]int, len(texts))
	distinct := texts[:0]
	s.places = make([]int, 0, len(texts))
	for _, text := range texts {
		place, ok := known[text]
		if !ok {
			place = len(distinct)
			known[text] = place
			distinct = append(distinct, text)
		}
		s.places = append(s.places, place)
	}
	if s.vectors, err = enc.Encode(ctx, distinct); err != nil {
		return fmt.Errorf("encode triples %d to %d: %w", s.from, s.from+s.rows, err)
	}
	return nil
}

// vectors hands out the vectors of the triples.
func (g *graph) vectors(enc encoder.Encoder, progress func(done, total int)) store.Each[[]float32] {
	e := encoding{encoder: enc, total: g.count, progress: progress}
	return func(ctx context.Context, emit func([]float32) error) error {
		return e.run(ctx, func(ctx context.Context, take func(int, func() ([]string, error)) error) error {
			return g.pages(ctx, func(page []record) error {
				facts := slices.Clone(page)
				return take(len(facts), func() ([]string, error) { return g.texts(facts) })
			})
		}, emit)
	}
}

// texts says facts in words.
func (g *graph) texts(facts []record) ([]string, error) {
	texts := make([]string, len(facts))
	err := g.eachNamed(facts, func(i int, subject, object store.Named) error {
		texts[i] = verbalise.Triple(subject.Name, g.relations[facts[i][1]], object.Name)
		return nil
	})
	return texts, err
}

// eachNamed names the ends of facts. Objects are looked up once each and in the
// order in which their names lie.
func (g *graph) eachNamed(facts []record, take func(i int, subject, object store.Named) error) error {
	names := lookup{table: g.entities}
	ids := make([]uint32, len(facts))
	for i, f := range facts {
		ids[i] = f[2]
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	objects := make(map[uint32]store.Named, len(ids))
	for _, id := range ids {
		name, err := names.name(store.EntityID(id))
		if err != nil {
			return err
		}
		objects[id] = name
	}
	for i, f := range facts {
		subject, err := names.name(store.EntityID(f[0]))
		if err != nil {
			return err
		}
		if err := take(i, subject, objects[f[2]]); err != nil {
			return err
		}
	}
	return nil
}
