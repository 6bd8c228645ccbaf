package load

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/services/retriever/encoder"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// textBatch is some triples in a row on their way to their vectors: enough for
// the encoder to put texts of one length together.
type textBatch struct {
	from, rows int
	texts      func() ([]string, error)
	// vectors are those of distinct texts; places says which one each row has.
	vectors [][]float32
	places  []int
	done    chan error
}

// encoding makes vectors of texts in stretches, several at once, and hands them out in order.
type encoding struct {
	encoder encoder.Encoder
	total   int
	// progress may be nil.
	progress func(done, total int)
}

// run encodes the stretches that produce hands over: how many rows each has and
// what makes their texts.
func (e encoding) run(ctx context.Context, produce func(ctx context.Context,
	take func(rows int, texts func() ([]string, error)) error) error, emit func([]float32) error) error {
	group, ctx := errgroup.WithContext(ctx)
	workers := runtime.GOMAXPROCS(0)
	work, inOrder := make(chan *textBatch), make(chan *textBatch, workers)
	group.Go(func() error {
		defer close(work)
		defer close(inOrder)
		from := 0
		return produce(ctx, func(rows int, texts func() ([]string, error)) error {
			s := &textBatch{from: from, rows: rows, texts: texts, done: make(chan error, 1)}
			from += rows
			for _, to := range []chan *textBatch{inOrder, work} {
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

// encode encodes the distinct texts of a stretch. Triples of one subject stand together, so those
// with the same words nearly always meet within one and are encoded once.
func (s *textBatch) encode(ctx context.Context, enc encoder.Encoder) error {
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

func (g *graph) vectorStream(enc encoder.Encoder, progress func(done, total int)) store.Stream[[]float32] {
	e := encoding{encoder: enc, total: g.count, progress: progress}
	return func(ctx context.Context, emit func([]float32) error) error {
		return e.run(ctx, func(ctx context.Context, take func(int, func() ([]string, error)) error) error {
			return g.forEachPage(ctx, func(page []record) error {
				facts := slices.Clone(page)
				return take(len(facts), func() ([]string, error) { return g.verbalizeRecords(facts) })
			})
		}, emit)
	}
}

func (g *graph) verbalizeRecords(facts []record) ([]string, error) {
	texts := make([]string, len(facts))
	err := g.forEachNamed(facts, func(i int, subject, object store.NamedEntity) error {
		texts[i] = kgtext.VerbaliseTriple(subject.Name, g.relations[facts[i][1]], object.Name)
		return nil
	})
	return texts, err
}

// forEachNamed names the ends of facts. Objects are looked up once each and in the
// order in which their names lie.
func (g *graph) forEachNamed(facts []record, take func(i int, subject, object store.NamedEntity) error) error {
	names := lookup{table: g.entities}
	ids := make([]uint32, len(facts))
	for i, f := range facts {
		ids[i] = f[2]
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	objects := make(map[uint32]store.NamedEntity, len(ids))
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

// Phase is a part of a load.
type Phase int

const (
	// Read takes statements from files.
	Read Phase = iota + 1
	// Sort puts names and triples in order.
	Sort
	// Encode makes vectors.
	Encode
	// Write writes the snapshot.
	Write
)

// Progress is how far a load has come.
type Progress struct {
	Phase Phase
	// Done counts the statements, triples or vectors that this phase is done
	// with; Total is of how many, 0 if that is not known.
	Done, Total uint64
	// Lines of the files that were read to their end.
	Lines uint64
	// Encoded of Triples have their vectors; both are 0 before.
	Encoded, Triples int
	// Rate is triples encoded per second.
	Rate float64
}

// progressStatements is the number of statements read between two calls of Progress.
const progressStatements = 1 << 16

func (l *Loader) reportProgress(p Progress) {
	if l.options.Progress != nil {
		p.Lines = l.report.Lines
		l.options.Progress(p)
	}
}

func (l *Loader) reportSorting(done, total int) {
	l.reportProgress(Progress{Phase: Sort, Done: uint64(done), Total: uint64(total)})
}

func (l *Loader) encodingReporter() func(done, total int) {
	start := time.Now()
	return func(done, total int) {
		l.reportProgress(Progress{
			Phase: Encode, Done: uint64(done), Total: uint64(total), Encoded: done, Triples: total,
			Rate: float64(done) / max(time.Since(start).Seconds(), 1e-9),
		})
	}
}
