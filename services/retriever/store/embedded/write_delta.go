package embedded

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// WriteDelta implements store.Changer.
func (s *Store) WriteDelta(ctx context.Context, kg string, given store.Delta) (store.DeltaResult, error) {
	changed, err := s.writeDelta(ctx, kg, given)
	return changed, store.WrapError("change", kg, given.Base, err)
}

func (s *Store) writeDelta(ctx context.Context, kg string, given store.Delta) (changed store.DeltaResult, err error) {
	on, err := s.open(ctx, kg, given.Base)
	if err != nil {
		return changed, err
	}
	defer on.Release()
	m, err := s.build(ctx, kg, func(f *folder) (m manifest, err error) {
		err = store.Guard(func() error {
			d, err := resolve(ctx, on, given)
			if err != nil {
				return err
			}
			changed.Added, changed.Removed = len(d.added), len(d.removed)
			m, err = buildDelta(ctx, f, d)
			return err
		})
		return m, err
	})
	if err != nil {
		return store.DeltaResult{}, err
	}
	changed.Info = m.info()
	return changed, nil
}

// buildDelta writes all files but the manifest, and returns what it holds.
func buildDelta(ctx context.Context, f *folder, d *delta) (m manifest, err error) {
	content, err := d.content(ctx)
	if err != nil {
		return m, err
	}
	before := d.base.info
	b := &builder{
		folder: f, content: content, rows: len(d.rows), entities: d.first.FirstEntity + len(d.entities),
		dims: before.Dims, firstTriple: d.first.FirstTriple,
		own: ownCounts{Entities: len(d.entities), Relations: len(d.relations), Triples: len(d.added),
			Rows: len(d.rows), Removed: len(d.removed)},
		relationCounts: make([]uint64, before.Relations+len(d.relations)),
	}
	for r := range before.Relations {
		b.relationCounts[r] = uint64(d.base.RelationTriples(store.RelationID(r)))
	}
	subjects, objects := map[store.EntityID]int{}, map[store.EntityID]int{}
	for _, id := range d.removed {
		t := d.base.Triple(id)
		b.relationCounts[t.Relation]--
		subjects[t.Subject]++
		objects[t.Object]++
	}
	b.own.RemovedSubjects, b.own.RemovedObjects = len(subjects), len(objects)
	entities := bitWidth(uint64(max(0, b.entities-1)))
	if err := errors.Join(
		writeColumn(f, rowsFile, entities, d.rows),
		writeColumn(f, removedFile, bitWidth(uint64(max(0, d.first.FirstTriple-1))), d.removed),
		b.writeTally(removedSubjectsFile, subjectCountsFile, subjects),
		b.writeTally(removedObjectsFile, objectCountsFile, objects),
	); err != nil {
		return m, err
	}
	if err := b.run(ctx); err != nil {
		return m, err
	}
	return manifest{
		Format: d.format(), Encoder: before.Encoder, Dims: before.Dims, TripleVectors: before.TripleVectors,
		Triples:   before.Triples - len(d.removed) + len(d.added),
		Entities:  before.Entities + d.countAppeared(subjects, objects),
		Relations: len(b.relationCounts), Base: &d.first, Own: b.own,
	}, nil
}

func (b *builder) writeTally(keysFile, countsFile string, tally map[store.EntityID]int) error {
	keys := slices.Sorted(maps.Keys(tally))
	counts := make([]int, len(keys))
	for i, k := range keys {
		counts[i] = tally[k]
	}
	return errors.Join(
		writeColumn(b.folder, keysFile, bitWidth(uint64(max(0, b.entities-1))), keys),
		writeColumn(b.folder, countsFile, bitWidth(uint64(b.own.Removed)), counts),
	)
}

// content is what the delta adds, with its triples by their rows.
func (d *delta) content(ctx context.Context) (c store.Content, err error) {
	triples := make([]store.DatedTriple, len(d.added))
	for i, t := range d.added {
		triples[i] = t
		triples[i].Subject, triples[i].Object = d.row(t.Subject), d.row(t.Object)
	}
	c = store.Content{
		Entities: store.SliceStream(d.entities), EntityCount: len(d.entities),
		Relations: d.relations,
		Triples:   store.SliceStream(triples), TripleCount: len(triples),
		Aliases: store.SliceStream(d.aliases),
	}
	if d.base.info.TripleVectors {
		c.TripleVectors = func(ctx context.Context, emit func([]float32) error) error {
			if len(d.addedFacts) == 0 {
				return nil
			}
			return d.input.TripleVectors(ctx, d.addedFacts, emit)
		}
	}
	if d.base.info.Dims > 0 && len(d.relations) > 0 {
		if c.RelationVectors, err = d.input.RelationVectors(ctx, d.relations); err != nil {
			return c, err
		}
		if len(c.RelationVectors) != len(d.relations) {
			return c, store.Invalidf("%d vectors for %d new relations", len(c.RelationVectors), len(d.relations))
		}
	}
	return c, nil
}

// format is that of the files: an entity that was gone and comes again has two numbers.
func (d *delta) format() int {
	for _, e := range d.entities {
		for _, l := range d.base.layers {
			if _, again := l.entities.find(e.Name); again {
				return formatRepeats
			}
		}
	}
	return formatVersion
}

func (d *delta) row(e store.EntityID) store.EntityID {
	row, _ := slices.BinarySearch(d.rows, e)
	return store.EntityID(row)
}

// countAppeared is how many more entities are named by a triple than before.
func (d *delta) countAppeared(removedSubjects, removedObjects map[store.EntityID]int) int {
	ends := map[store.EntityID]int{}
	for _, e := range d.rows {
		ends[e] = 1
	}
	for _, removed := range []map[store.EntityID]int{removedSubjects, removedObjects} {
		for e := range removed {
			ends[e] += 0
		}
	}
	n := 0
	for e, named := range ends {
		before := 0
		if int(e) < d.first.FirstEntity {
			before = d.base.Degree(e, store.Out) + d.base.Degree(e, store.In)
		}
		after := before - removedSubjects[e] - removedObjects[e] + named
		n += cmp.Compare(after, 0) - cmp.Compare(before, 0)
	}
	return n
}
