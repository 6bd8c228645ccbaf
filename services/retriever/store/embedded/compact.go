package embedded

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// Compact implements store.Changer.
func (s *Store) Compact(ctx context.Context, kg string, number uint64) (store.Info, error) {
	snap, err := s.open(ctx, kg, number)
	if err != nil {
		return store.Info{}, store.WrapError("compact", kg, number, err)
	}
	defer snap.Release()
	if snap.isWhole() {
		return snap.info, nil
	}
	m, err := s.build(ctx, kg, func(f *folder) (manifest, error) { return snap.copyTo(ctx, f) })
	if err != nil {
		return store.Info{}, store.WrapError("compact", kg, snap.info.Number, err)
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

// copier renumbers a snapshot: entities and relations in the order of their
// names, those left out that no triple names.
type copier struct {
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
// all must be called within store.Guard.
func (s *snapshot) content() store.Content {
	last := s.nextBase()
	c := &copier{
		snapshot: s, entityPlaces: make([]store.EntityID, last.FirstEntity), relationPlaces: make([]store.RelationID,
			last.FirstRelation),
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

func (c *copier) eachEntity(ctx context.Context, emit func(store.NamedEntity) error) error {
	for i, e := range c.entities {
		if i%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err := emit(store.NamedEntity{Name: c.EntityName(e), Kind: c.Kind(e), Key: c.EntityKey(e)}); err != nil {
			return err
		}
	}
	return nil
}

func (c *copier) eachTriple(ctx context.Context, emit func(store.DatedTriple) error) error {
	return c.eachFact(ctx, func(t store.DatedTriple, _ store.TripleID) error { return emit(t) })
}

func (c *copier) eachVector(ctx context.Context, emit func([]float32) error) error {
	return c.eachFact(ctx, func(_ store.DatedTriple, id store.TripleID) error {
		l := c.layerOf(int(id), firstTriple)
		v, err := l.vectors.Row(uint32(int(id) - l.first.FirstTriple))
		if err != nil {
			return err
		}
		return emit(v)
	})
}

// eachFact returns the triples in their new order, with their old numbers.
func (c *copier) eachFact(ctx context.Context, emit func(store.DatedTriple, store.TripleID) error) error {
	type numbered struct {
		store.DatedTriple
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
			row = append(row, numbered{store.DatedTriple{
				Triple: store.Triple{Subject: store.EntityID(i), Relation: c.relationPlaces[edge.Relation],
					Object: c.entityPlaces[edge.Entity]},
				Validity: c.Validity(edge.Triple), Provenance: c.Provenance(edge.Triple),
			}, edge.Triple})
		}
		slices.SortFunc(row, func(a, b numbered) int { return compareDated(a.DatedTriple, b.DatedTriple) })
		for _, n := range row {
			if err := emit(n.DatedTriple, n.id); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *copier) eachAlias(ctx context.Context, emit func(store.Alias) error) error {
	for _, l := range c.layers {
		if err := l.aliases.forEach(ctx, func(i int, name string) error {
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

// openChain opens a snapshot with all that it is based on.
func (s *Store) openChain(ctx context.Context, kg string, number uint64) (*snapshot, error) {
	snap := &snapshot{}
	for at, want := number, ""; ; {
		if err := ctx.Err(); err != nil {
			snap.Release()
			return nil, err
		}
		l, err := s.cached(kg, at).acquire(s.snapshotDir(kg, at))
		if err == nil && want != "" && l.mapping.sum != want {
			l.mapping.release()
			err = fmt.Errorf("checksum mismatch: %w", store.ErrCorrupt)
		}
		if err != nil {
			snap.Release()
			if at != number && !errors.Is(err, errEvicted) {
				err = fmt.Errorf("its base %d: %w", at, err)
			}
			return nil, err
		}
		snap.layers = append(snap.layers, l)
		below := l.mapping.manifest.Base
		if below == nil {
			break
		}
		if below.Number >= at || len(snap.layers) > maxDepth {
			snap.Release()
			return nil, fmt.Errorf("its base %d: its chain of bases is circular or too long: %w", below.Number,
				store.ErrCorrupt)
		}
		at, want = below.Number, below.SHA256
	}
	slices.Reverse(snap.layers)
	snap.info = snap.layers[len(snap.layers)-1].mapping.manifest.info()
	return snap, snap.checkNumbering()
}

// checkNumbering checks that the numbers of each layer continue from those below.
func (s *snapshot) checkNumbering() error {
	var next base
	for i, l := range s.layers {
		first := l.first
		if first.FirstEntity != next.FirstEntity || first.FirstRelation != next.FirstRelation ||
			first.FirstTriple != next.FirstTriple || first.Depth != i {
			s.Release()
			return fmt.Errorf("its numbers do not continue those of its base: %w", store.ErrCorrupt)
		}
		next = base{FirstEntity: next.FirstEntity + l.own.Entities, FirstRelation: next.FirstRelation + l.own.Relations,
			FirstTriple: next.FirstTriple + l.own.Triples}
	}
	return nil
}
