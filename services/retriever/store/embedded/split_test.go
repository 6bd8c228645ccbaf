package embedded

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
)

// split is a store that writes every content as three snapshots: one that
// lacks a part of it and holds something else besides, and two deltas that
// make up for it. It shows only the last.
type split struct {
	*Store
	mutex *sync.Mutex
	// parts are the snapshots that are only bases, by the one that is shown.
	parts map[name][]uint64
}

// TestDeltasShowWhatAWholeSnapshotWould runs the suite over deltas.
func TestDeltasShowWhatAWholeSnapshotWould(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store { return split{newStore(t), &sync.Mutex{}, map[name][]uint64{}} })
}

func (s split) Write(ctx context.Context, kg string, content store.Content) (store.Info, error) {
	// Whatever is wrong with the content shows first.
	whole, err := s.Store.Write(ctx, kg, content)
	if err != nil {
		return whole, err
	}
	snap, err := s.open(ctx, kg, whole.Number)
	if err != nil {
		return whole, err
	}
	defer snap.Release()
	facts, aliases, err := listed(ctx, snap)
	if err != nil {
		return whole, err
	}
	// The first third is in the base, the second comes with one delta, the last
	// with the next. What is only in the base goes with the last.
	extra := facts[0]
	extra.Object.Name, extra.Object.Key = extra.Object.Name+" (another one)", ""
	third := facts[:(len(facts)+2)/3]
	rest := facts[len(third):]
	base, err := s.writeFacts(ctx, kg, snap, append([]store.Fact{extra}, third...), whole)
	if err != nil {
		return whole, err
	}
	steps := []store.Delta{{Base: base.Number, Added: rest[:len(rest)/2], Aliases: aliases},
		{Added: rest[len(rest)/2:], Aliases: aliases, Removed: []store.Fact{extra}}}
	info := base
	var parts []uint64
	for _, d := range steps {
		if len(d.Added)+len(d.Removed) == 0 {
			continue
		}
		d.Base, d.Encoder = info.Number, info.Encoder
		d.TripleVectors, d.RelationVectors = vectorsOf(snap), relationsOf(snap)
		changed, err := s.Store.WriteDelta(ctx, kg, d)
		if err != nil {
			return whole, err
		}
		parts, info = append(parts, info.Number), changed.Info
	}
	slices.Reverse(parts)
	s.mutex.Lock()
	s.parts[name{kg, info.Number}] = parts
	s.mutex.Unlock()
	_, err = s.Store.Drop(ctx, kg, whole.Number)
	return info, err
}

// listed reads a snapshot's facts and aliases.
func listed(ctx context.Context, snap *snapshot) ([]store.Fact, []store.NamedAlias, error) {
	var facts []store.Fact
	for id := range snap.info.Triples {
		facts = append(facts, factOf(snap, store.TripleID(id)))
	}
	var aliases []store.NamedAlias
	err := snap.layers[0].aliases.forEach(ctx, func(i int, name string) error {
		entity := store.EntityID(snap.layers[0].holders.Get(i))
		aliases = append(aliases, store.NamedAlias{Entity: snap.EntityName(entity), Key: snap.ownKey(entity),
			Name: string([]byte(name))})
		return nil
	})
	return facts, aliases, err
}

func factOf(snap *snapshot, id store.TripleID) store.Fact {
	t := snap.Triple(id)
	entity := func(id store.EntityID) store.NamedEntity {
		return store.NamedEntity{Name: snap.EntityName(id), Kind: snap.Kind(id), Key: snap.ownKey(id)}
	}
	return store.Fact{
		Subject: entity(t.Subject), Relation: snap.RelationName(t.Relation), Object: entity(t.Object),
		Validity: snap.Validity(id), Provenance: snap.Provenance(id),
	}
}

// writeFacts writes some facts as a whole snapshot.
func (s split) writeFacts(ctx context.Context, kg string, from *snapshot, facts []store.Fact,
	like store.Info) (store.Info, error) {
	var names, relations []string
	named := map[string]store.NamedEntity{}
	for _, f := range facts {
		names = append(names, f.Subject.Name, f.Object.Name)
		named[f.Subject.Name], named[f.Object.Name] = f.Subject, f.Object
		relations = append(relations, f.Relation)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	slices.Sort(relations)
	c := store.Content{Relations: slices.Compact(relations), EntityCount: len(names), TripleCount: len(facts),
		Encoder: like.Encoder, Dims: like.Dims}
	entities := make([]store.NamedEntity, len(names))
	for i, name := range names {
		entities[i] = named[name]
	}
	c.Entities = store.SliceStream(entities)
	triples := make([]store.DatedTriple, len(facts))
	of := map[store.DatedTriple]store.Fact{}
	for i, f := range facts {
		subject, _ := slices.BinarySearch(names, f.Subject.Name)
		object, _ := slices.BinarySearch(names, f.Object.Name)
		relation, _ := slices.BinarySearch(c.Relations, f.Relation)
		triples[i] = store.DatedTriple{Triple: store.Triple{Subject: store.EntityID(subject),
			Relation: store.RelationID(relation), Object: store.EntityID(object)}, Validity: f.Validity,
			Provenance: f.Provenance}
		of[triples[i]] = f
	}
	slices.SortFunc(triples, compareDated)
	c.Triples = store.SliceStream(triples)
	if like.Dims > 0 {
		var err error
		if c.RelationVectors, err = relationsOf(from)(ctx, c.Relations); err != nil {
			return like, err
		}
	}
	if like.TripleVectors {
		c.TripleVectors = func(ctx context.Context, emit func([]float32) error) error {
			var ordered []store.Fact
			for _, t := range triples {
				ordered = append(ordered, of[t])
			}
			return vectorsOf(from)(ctx, ordered, emit)
		}
	}
	return s.Store.Write(ctx, kg, c)
}

// vectorsOf returns the vectors that facts have in a snapshot; one that it
// lacks gets that of its first triple.
func vectorsOf(snap *snapshot) func(context.Context, []store.Fact, func([]float32) error) error {
	return func(ctx context.Context, facts []store.Fact, emit func([]float32) error) error {
		places := map[store.Fact]int{}
		for id := range snap.info.Triples {
			places[factOf(snap, store.TripleID(id))] = id
		}
		for _, f := range facts {
			v, err := snap.layers[0].vectors.Row(uint32(places[f]))
			if err != nil {
				return err
			}
			if err := emit(v); err != nil {
				return err
			}
		}
		return nil
	}
}

func relationsOf(snap *snapshot) func(context.Context, []string) ([][]float32, error) {
	return func(ctx context.Context, relations []string) ([][]float32, error) {
		var vectors [][]float32
		for _, r := range relations {
			id, _, err := snap.Relation(ctx, r)
			if err != nil {
				return nil, err
			}
			vectors = append(vectors, snap.RelationVector(id))
		}
		return vectors, nil
	}
}

// List implements store.Catalogue: what is only a base is not shown.
func (s split) List(ctx context.Context, kg string) ([]store.ListedSnapshot, error) {
	listed, err := s.Store.List(ctx, kg)
	return slices.DeleteFunc(listed, func(l store.ListedSnapshot) bool { return s.hides(l.KG, l.Number) }), err
}

func (s split) hides(kg string, number uint64) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for above, parts := range s.parts {
		if above.kg == kg && slices.Contains(parts, number) {
			return true
		}
	}
	return false
}

// Drop implements store.Catalogue: parts go with what they are parts of.
func (s split) Drop(ctx context.Context, kg string, number uint64) ([]uint64, error) {
	dropped, err := s.Store.Drop(ctx, kg, number)
	dropped = slices.DeleteFunc(dropped, func(n uint64) bool { return s.hides(kg, n) })
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for above, parts := range s.parts {
		if err != nil || above.kg != kg || number != 0 && above.number != number {
			continue
		}
		delete(s.parts, above)
		for _, n := range parts {
			if number == 0 {
				break
			}
			if _, err := s.Store.Drop(ctx, kg, n); err != nil {
				return dropped, err
			}
		}
	}
	return dropped, err
}
