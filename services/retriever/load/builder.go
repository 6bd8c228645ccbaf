package load

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/triplemesh/triplemesh/internal/verbalise"
	"github.com/triplemesh/triplemesh/services/retriever/encoder"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// Builder gathers facts and puts them in the order that a snapshot has. It is
// not safe for concurrent use.
type Builder struct {
	entities, relations interner
	rows                []row
	intervals           []store.Validity
	intervalIDs         map[store.Validity]uint32
	aliases             map[store.Alias]struct{}
}

// row is a fact by numbers; interval 0 is none.
type row struct {
	subject, relation, object, interval uint32
}

// NewBuilder returns a Builder that holds nothing.
func NewBuilder() *Builder {
	return &Builder{
		intervals:   []store.Validity{{}},
		intervalIDs: map[store.Validity]uint32{{}: 0},
		aliases:     map[store.Alias]struct{}{},
	}
}

// interner numbers names in the order they first come.
type interner struct {
	names []string
	ids   map[string]uint32
}

func (n *interner) id(name string) uint32 {
	if id, ok := n.ids[name]; ok {
		return id
	}
	if n.ids == nil {
		n.ids = map[string]uint32{}
	}
	// The name may be a piece of a whole line.
	name = strings.Clone(name)
	id := uint32(len(n.names))
	n.names = append(n.names, name)
	n.ids[name] = id
	return id
}

// sorted returns the names in byte order and where each number went.
func (n *interner) sorted() (names []string, place []uint32) {
	names = slices.Clone(n.names)
	slices.Sort(names)
	place = make([]uint32, len(names))
	for i, name := range names {
		place[n.ids[name]] = uint32(i)
	}
	return names, place
}

// Add takes a fact. Adding one twice is harmless.
func (b *Builder) Add(f Fact) {
	interval, ok := b.intervalIDs[f.Validity]
	if !ok {
		interval = uint32(len(b.intervals))
		b.intervals = append(b.intervals, f.Validity)
		b.intervalIDs[f.Validity] = interval
	}
	b.rows = append(b.rows, row{b.entities.id(f.Subject), b.relations.id(f.Relation), b.entities.id(f.Object), interval})
}

// Alias takes another name of an entity. It counts only where a fact names the
// entity.
func (b *Builder) Alias(entity, name string) {
	b.aliases[store.Alias{Entity: store.EntityID(b.entities.id(entity)), Name: name}] = struct{}{}
}

// Content puts the facts in order and says how to encode them. It returns also
// how many facts were there twice. progress may be nil.
func (b *Builder) Content(ctx context.Context, enc encoder.Encoder, progress func(done, total int)) (store.Content, int, error) {
	c := store.Content{Encoder: enc.Name(), Dims: enc.Dims()}
	b.dropUnused()
	var relationPlace []uint32
	entities, entityPlace := b.entities.sorted()
	named := make([]store.Named, len(entities))
	for i, name := range entities {
		named[i] = store.Named{Name: name, Kind: store.KindOf(name)}
	}
	c.Entities, c.EntityCount = store.All(named), len(named)
	c.Relations, relationPlace = b.relations.sorted()

	rows := make([]row, len(b.rows))
	for i, r := range b.rows {
		rows[i] = row{entityPlace[r.subject], relationPlace[r.relation], entityPlace[r.object], r.interval}
	}
	slices.SortFunc(rows, b.compare)
	rows = slices.Compact(rows)
	triples := make([]store.Dated, len(rows))
	for i, r := range rows {
		triples[i] = store.Dated{
			Triple:   store.Triple{Subject: store.EntityID(r.subject), Relation: store.RelationID(r.relation), Object: store.EntityID(r.object)},
			Validity: b.intervals[r.interval],
		}
	}
	c.Triples, c.TripleCount = store.All(triples), len(triples)
	var aliases []store.Alias
	for a := range b.aliases {
		aliases = append(aliases, store.Alias{Entity: store.EntityID(entityPlace[a.Entity]), Name: a.Name})
	}
	c.Aliases = store.All(aliases)
	phrases := make([]string, len(c.Relations))
	for i, r := range c.Relations {
		phrases[i] = verbalise.RelationInContext(r)
	}
	var err error
	if c.RelationVectors, err = enc.Encode(ctx, phrases); err != nil {
		return c, 0, fmt.Errorf("encode relations: %w", err)
	}
	c.TripleVectors = tripleVectors(enc, entities, c.Relations, triples, progress)
	return c, len(b.rows) - len(rows), nil
}

func (b *Builder) compare(x, y row) int {
	vx, vy := b.intervals[x.interval], b.intervals[y.interval]
	return cmp.Or(
		cmp.Compare(x.subject, y.subject),
		cmp.Compare(x.relation, y.relation),
		cmp.Compare(x.object, y.object),
		strings.Compare(vx.Start, vy.Start),
		strings.Compare(vx.End, vy.End),
	)
}

// dropUnused forgets entities that only an alias named.
func (b *Builder) dropUnused() {
	used := make([]bool, len(b.entities.names))
	for _, r := range b.rows {
		used[r.subject], used[r.object] = true, true
	}
	if !slices.Contains(used, false) {
		return
	}
	var kept interner
	place := make([]uint32, len(used))
	for i, name := range b.entities.names {
		if used[i] {
			place[i] = kept.id(name)
		}
	}
	for i, r := range b.rows {
		b.rows[i].subject, b.rows[i].object = place[r.subject], place[r.object]
	}
	aliases := map[store.Alias]struct{}{}
	for a := range b.aliases {
		if used[a.Entity] {
			aliases[store.Alias{Entity: store.EntityID(place[a.Entity]), Name: a.Name}] = struct{}{}
		}
	}
	b.entities, b.aliases = kept, aliases
}

// encodeRows is how many triples are encoded between two writes: enough for
// the encoder to put texts of one length together.
const encodeRows = 2048

// tripleVectors encodes the triples in order. Triples of one subject stand
// together, so those with the same words nearly always meet within one stretch
// and are encoded once.
func tripleVectors(enc encoder.Encoder, entities, relations []string, triples []store.Dated, progress func(done, total int)) store.Each[[]float32] {
	return func(ctx context.Context, emit func([]float32) error) error {
		for from := 0; from < len(triples); from += encodeRows {
			to := min(from+encodeRows, len(triples))
			var texts []string
			places := map[string]int{}
			rows := make([]int, 0, to-from)
			for _, t := range triples[from:to] {
				text := verbalise.Triple(entities[t.Subject], relations[t.Relation], entities[t.Object])
				place, ok := places[text]
				if !ok {
					place = len(texts)
					places[text] = place
					texts = append(texts, text)
				}
				rows = append(rows, place)
			}
			vectors, err := enc.Encode(ctx, texts)
			if err != nil {
				return fmt.Errorf("encode triples %d to %d: %w", from, to, err)
			}
			for _, place := range rows {
				if err := emit(vectors[place]); err != nil {
					return err
				}
			}
			if progress != nil {
				progress(to, len(triples))
			}
		}
		return nil
	}
}
