package load

import (
	"context"
	"fmt"
	"slices"

	"github.com/triplemesh/triplemesh/internal/verbalise"
	"github.com/triplemesh/triplemesh/services/retriever/encoder"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// Mode says what a load makes of the active snapshot.
type Mode int

const (
	// Replace builds a snapshot of what the files hold.
	Replace Mode = iota
	// Add builds a delta: the active snapshot and what the files hold.
	Add
	// Remove builds a delta: the active snapshot without what the files hold. A
	// fact of the files that has no validity takes away all that have its names.
	Remove
)

// delta is what the graph changes of a snapshot. It is held in memory.
func (l *Loader) delta(ctx context.Context, g *graph, enc encoder.Encoder) (store.Delta, error) {
	facts, err := g.named(ctx)
	if err != nil {
		return store.Delta{}, err
	}
	if l.options.Mode == Remove {
		return store.Delta{Removed: facts, Encoder: enc.Name()}, nil
	}
	d := store.Delta{Added: facts, Encoder: enc.Name()}
	names := lookup{table: g.entities}
	if err := g.eachAlias(ctx, func(a store.Alias) error {
		entity, err := names.name(a.Entity)
		d.Aliases = append(d.Aliases, store.Nickname{Entity: entity.Name, Name: a.Name})
		return err
	}); err != nil {
		return store.Delta{}, err
	}
	d.RelationVectors = func(ctx context.Context, relations []string) ([][]float32, error) {
		return relationVectors(ctx, enc, relations)
	}
	d.TripleVectors = func(ctx context.Context, facts []store.Fact, emit func([]float32) error) error {
		e := encoding{encoder: enc, total: len(facts), progress: l.encoding()}
		return e.run(ctx, func(_ context.Context, take func(int, func() ([]string, error)) error) error {
			for some := range slices.Chunk(facts, pageRows) {
				if err := take(len(some), func() ([]string, error) { return phrasesOf(some), nil }); err != nil {
					return err
				}
			}
			return nil
		}, emit)
	}
	return d, nil
}

func phrasesOf(facts []store.Fact) []string {
	texts := make([]string, len(facts))
	for i, f := range facts {
		texts[i] = verbalise.Triple(f.Subject.Name, f.Relation, f.Object.Name)
	}
	return texts
}

// named returns all facts by their names.
func (g *graph) named(ctx context.Context) ([]store.Fact, error) {
	facts := make([]store.Fact, 0, g.count)
	err := g.pages(ctx, func(page []record) error {
		return g.eachNamed(page, func(i int, subject, object store.Named) error {
			facts = append(facts, store.Fact{
				Subject: subject, Relation: g.relations[page[i][1]], Object: object, Validity: g.intervals[page[i][3]],
			})
			return nil
		})
	})
	return facts, err
}

// writeDelta builds a snapshot on the active one.
func (l *Loader) writeDelta(ctx context.Context, to Target, enc encoder.Encoder, g *graph) error {
	changer, ok := to.(store.Changer)
	if !ok {
		return fmt.Errorf("the store takes no deltas; load the knowledge graph whole: %w", store.ErrInvalid)
	}
	delta, err := l.delta(ctx, g, enc)
	if err != nil {
		return err
	}
	l.tell(Progress{Phase: Write, Total: uint64(g.count)})
	changed, err := changer.WriteDelta(ctx, l.options.KG, delta)
	if err != nil {
		return err
	}
	l.report.Snapshot, l.report.Added, l.report.Removed = changed.Info, uint64(changed.Added), uint64(changed.Removed)
	if l.options.Mode == Add {
		l.report.Duplicates += uint64(g.count - changed.Added)
	}
	return nil
}
