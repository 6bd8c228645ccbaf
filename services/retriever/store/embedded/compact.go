package embedded

import (
	"context"
	"slices"
	"strings"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// Compact implements store.Changer.
func (s *Store) Compact(ctx context.Context, kg string, number uint64) (store.Info, error) {
	snap, err := s.open(ctx, kg, number)
	if err != nil {
		return store.Info{}, wrap("compact", kg, number, err)
	}
	defer snap.Release()
	if snap.plain() {
		return snap.info, nil
	}
	m, err := s.build(ctx, kg, func(f *folder) (manifest, error) { return snap.copyTo(ctx, f) })
	if err != nil {
		return store.Info{}, wrap("compact", kg, snap.info.Number, err)
	}
	return m.info(), nil
}

// copyTo writes what the snapshot shows as a whole one.
func (s *snapshot) copyTo(ctx context.Context, f *folder) (m manifest, err error) {
	err = store.Guard(func() error {
		m, err = buildWhole(ctx, f, s.content())
		return err
	})
	return m, err
}

// copying renumbers a snapshot: entities and relations in the order of their
// names, those left out that no triple names.
type copying struct {
	*snapshot
	// entities and relations are the old numbers in the new order, the others
	// the new number of each old one.
	entities       []store.EntityID
	entityPlaces   []store.EntityID
	relations      []store.RelationID
	relationPlaces []store.RelationID
	hiddenEntity   store.EntityID
}

// content is what the snapshot shows. It must stay open while it is read, and
// all stands within store.Guard.
func (s *snapshot) content() store.Content {
	last := s.next()
	c := &copying{
		snapshot: s, entityPlaces: make([]store.EntityID, last.FirstEntity), relationPlaces: make([]store.RelationID, last.FirstRelation),
		hiddenEntity: ^store.EntityID(0),
	}
	for i := range c.entityPlaces {
		c.entityPlaces[i] = c.hiddenEntity
	}
	for e := range s.Entities() {
		c.entityPlaces[e] = store.EntityID(len(c.entities))
		c.entities = append(c.entities, e)
	}
	names := map[store.RelationID]string{}
	for r := range store.RelationID(s.info.Relations) {
		if s.RelationTriples(r) > 0 {
			names[r] = s.RelationName(r)
			c.relations = append(c.relations, r)
		}
	}
	slices.SortFunc(c.relations, func(a, b store.RelationID) int { return strings.Compare(names[a], names[b]) })
	content := store.Content{
		Entities: c.eachEntity, EntityCount: len(c.entities),
		Triples: c.eachTriple, TripleCount: s.info.Triples,
		Aliases: c.eachAlias,
		Encoder: s.info.Encoder, Dims: s.info.Dims,
	}
	for i, r := range c.relations {
		c.relationPlaces[r] = store.RelationID(i)
		content.Relations = append(content.Relations, names[r])
		if s.info.Dims > 0 {
			content.RelationVectors = append(content.RelationVectors, s.RelationVector(r))
		}
	}
	if s.info.TripleVectors {
		content.TripleVectors = c.eachVector
	}
	return content
}

func (c *copying) eachEntity(ctx context.Context, emit func(store.Named) error) error {
	for i, e := range c.entities {
		if i%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err := emit(store.Named{Name: c.EntityName(e), Kind: c.Kind(e)}); err != nil {
			return err
		}
	}
	return nil
}

func (c *copying) eachTriple(ctx context.Context, emit func(store.Dated) error) error {
	return c.each(ctx, func(t store.Dated, _ store.TripleID) error { return emit(t) })
}

func (c *copying) eachVector(ctx context.Context, emit func([]float32) error) error {
	return c.each(ctx, func(_ store.Dated, id store.TripleID) error {
		l := c.layerOf(int(id), firstTriple)
		v, err := l.vectors.Row(uint32(int(id) - l.first.FirstTriple))
		if err != nil {
			return err
		}
		return emit(v)
	})
}

// each hands out the triples in their new order, with their old numbers.
func (c *copying) each(ctx context.Context, emit func(store.Dated, store.TripleID) error) error {
	type numbered struct {
		store.Dated
		id store.TripleID
	}
	var row []numbered
	for i, e := range c.entities {
		lists, err := c.Edges(ctx, []store.EntityID{e}, store.Out, nil)
		if err != nil {
			return err
		}
		row = row[:0]
		for _, edge := range lists[0] {
			row = append(row, numbered{store.Dated{
				Triple:   store.Triple{Subject: store.EntityID(i), Relation: c.relationPlaces[edge.Relation], Object: c.entityPlaces[edge.Entity]},
				Validity: c.Validity(edge.Triple),
			}, edge.Triple})
		}
		slices.SortFunc(row, func(a, b numbered) int { return compareDated(a.Dated, b.Dated) })
		for _, n := range row {
			if err := emit(n.Dated, n.id); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *copying) eachAlias(ctx context.Context, emit func(store.Alias) error) error {
	for _, l := range c.layers {
		if err := l.aliases.each(ctx, func(i int, name string) error {
			if e := c.entityPlaces[l.holders.Get(i)]; e != c.hiddenEntity {
				return emit(store.Alias{Entity: e, Name: name})
			}
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}
