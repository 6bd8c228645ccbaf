package load

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/services/retriever/encoder"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// content passes the graph out, but for the vectors of its triples.
func (g *graph) content(ctx context.Context, enc encoder.Encoder) (store.Content, error) {
	c := store.Content{
		Entities: g.entities.forEach, EntityCount: g.entities.count,
		Relations: g.relations,
		Triples:   g.forEachTriple, TripleCount: g.count,
		Aliases: g.forEachAlias,
		Encoder: enc.Name(), Dims: enc.Dims(),
	}
	var err error
	c.RelationVectors, err = relationVectors(ctx, enc, g.relations)
	return c, err
}

func relationVectors(ctx context.Context, enc encoder.Encoder, relations []string) ([][]float32, error) {
	phrases := make([]string, len(relations))
	for i, r := range relations {
		phrases[i] = kgtext.VerbaliseRelationInContext(r)
	}
	vectors, err := enc.Encode(ctx, phrases)
	if err != nil {
		return nil, fmt.Errorf("encode relations: %w", err)
	}
	return vectors, nil
}

// pageRows is the number of records read at once.
const pageRows = 2048

// forEachPage returns the facts in order, some at a time; emit may keep none.
func (g *graph) forEachPage(ctx context.Context, emit func([]record) error) error {
	in, closer, err := g.facts.reader()
	if err != nil {
		return err
	}
	defer closer.Close()
	page := make([]record, pageRows)
	for left := g.count; left > 0; {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		page = page[:min(left, cap(page))]
		if _, err := io.ReadFull(in, bytesOf(page)); err != nil {
			return g.facts.wrapError("read", err)
		}
		left -= len(page)
		if err := emit(page); err != nil {
			return err
		}
	}
	return nil
}

func (g *graph) forEachTriple(ctx context.Context, emit func(store.DatedTriple) error) error {
	return g.forEachPage(ctx, func(page []record) error {
		for _, r := range page {
			if int(r[3]) >= len(g.origins) {
				return fmt.Errorf("scratch file %s: %w", g.facts.path, errDamaged)
			}
			t := store.Triple{Subject: store.EntityID(r[0]), Relation: store.RelationID(r[1]),
				Object: store.EntityID(r[2])}
			from := g.origins[r[3]]
			if err := emit(store.DatedTriple{Triple: t, Validity: from.Validity,
				Provenance: from.Provenance}); err != nil {
				return err
			}
		}
		return nil
	})
}

func (g *graph) forEachAlias(ctx context.Context, emit func(store.Alias) error) error {
	in, closer, err := g.aliases.reader()
	if err != nil {
		return err
	}
	defer closer.Close()
	var name []byte
	for read, n := int64(0), 0; read < g.aliases.size; n++ {
		if n%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		var entity [4]byte
		if _, err := io.ReadFull(in, entity[:]); err != nil {
			return g.aliases.wrapError("read", err)
		}
		size, err := binary.ReadUvarint(in)
		if err != nil {
			return g.aliases.wrapError("read", err)
		}
		if size > uint64(g.aliases.size) {
			return fmt.Errorf("scratch file %s: %w", g.aliases.path, errDamaged)
		}
		name = append(name[:0], make([]byte, size)...)
		if _, err := io.ReadFull(in, name); err != nil {
			return g.aliases.wrapError("read", err)
		}
		read += int64(4 + len(binary.AppendUvarint(nil, size)) + len(name))
		if err := emit(store.Alias{Entity: store.EntityID(binary.NativeEndian.Uint32(entity[:])),
			Name: string(name)}); err != nil {
			return err
		}
	}
	return nil
}

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
	facts, err := g.namedFacts(ctx)
	if err != nil {
		return store.Delta{}, err
	}
	if l.options.Mode == Remove {
		return store.Delta{Removed: facts, Encoder: enc.Name()}, nil
	}
	d := store.Delta{Added: facts, Encoder: enc.Name()}
	names := lookup{table: g.entities}
	if err := g.forEachAlias(ctx, func(a store.Alias) error {
		entity, err := names.name(a.Entity)
		d.Aliases = append(d.Aliases, store.NamedAlias{Entity: entity.Name, Name: a.Name, Key: entity.Key})
		return err
	}); err != nil {
		return store.Delta{}, err
	}
	d.RelationVectors = func(ctx context.Context, relations []string) ([][]float32, error) {
		return relationVectors(ctx, enc, relations)
	}
	d.TripleVectors = func(ctx context.Context, facts []store.Fact, emit func([]float32) error) error {
		e := encoding{encoder: enc, total: len(facts), progress: l.encodingReporter()}
		return e.run(ctx, func(_ context.Context, take func(int, func() ([]string, error)) error) error {
			for some := range slices.Chunk(facts, pageRows) {
				if err := take(len(some), func() ([]string, error) { return verbalizeFacts(some), nil }); err != nil {
					return err
				}
			}
			return nil
		}, emit)
	}
	return d, nil
}

func verbalizeFacts(facts []store.Fact) []string {
	texts := make([]string, len(facts))
	for i, f := range facts {
		texts[i] = kgtext.VerbaliseTriple(f.Subject.Name, f.Relation, f.Object.Name)
	}
	return texts
}

func (g *graph) namedFacts(ctx context.Context) ([]store.Fact, error) {
	facts := make([]store.Fact, 0, g.count)
	err := g.forEachPage(ctx, func(page []record) error {
		return g.forEachNamed(page, func(i int, subject, object store.NamedEntity) error {
			facts = append(facts, store.Fact{
				Subject: subject, Relation: g.relations[page[i][1]], Object: object,
				Validity: g.origins[page[i][3]].Validity, Provenance: g.origins[page[i][3]].Provenance,
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
		return store.Invalidf("the store does not support deltas; load the knowledge graph whole")
	}
	delta, err := l.delta(ctx, g, enc)
	if err != nil {
		return err
	}
	l.reportProgress(Progress{Phase: Write, Total: uint64(g.count)})
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
