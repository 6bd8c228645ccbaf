package embedded

import (
	"context"
	"errors"
	"fmt"

	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/vector"
)

// inspect looks at what a whole snapshot holds that did not come from this program's own writer:
// that all numbers lead somewhere and all orders are kept. Checksums do not prove that.
func inspect(ctx context.Context, dir string) error {
	m, err := mapFiles(dir)
	if err != nil {
		return err
	}
	defer m.release()
	l, err := m.openLayer()
	if err != nil {
		return err
	}
	return store.Guard(func() error {
		for _, step := range []func(context.Context) error{
			l.inspectManifest, l.inspectNames, l.inspectTriples, l.inspectObjects, l.inspectVectors,
		} {
			if err := step(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}

// corruptf says what is not as it must be.
func corruptf(format string, args ...any) error {
	return fmt.Errorf("%s; not a valid snapshot: %w", fmt.Sprintf(format, args...), store.ErrCorrupt)
}

func (l *layer) inspectManifest(context.Context) error {
	m := l.mapping.manifest
	switch {
	case m.Triples != l.own.Triples, m.Entities != l.own.Entities, m.Relations != l.own.Relations, m.Triples == 0:
		return corruptf("its counts are inconsistent: %d of %d triples, %d of %d entities, %d of %d relations",
			m.Triples, l.own.Triples, m.Entities, l.own.Entities, m.Relations, l.own.Relations)
	case m.Dims > 0 && m.Encoder == "", m.Dims == 0 && m.TripleVectors:
		return corruptf("vectors of %d components by encoder %q", m.Dims, m.Encoder)
	}
	return nil
}

func (l *layer) inspectNames(ctx context.Context) error {
	for name, t := range map[string]*texts{entitiesFile: &l.entities, relationsFile: &l.relations} {
		last := ""
		if err := t.forEach(ctx, func(i int, text string) error {
			if i > 0 && text <= last {
				return corruptf("%s is out of order at %d", name, i)
			}
			last = text
			return nil
		}); err != nil {
			return err
		}
	}
	for _, t := range []*texts{&l.intervals, &l.aliases} {
		if err := t.forEach(ctx, func(int, string) error { return nil }); err != nil {
			return err
		}
	}
	for i := range l.kinds.Len() {
		if kind := l.kinds.Get(i); kind > uint64(store.Date) {
			return corruptf("entity %d is of kind %d", i, kind)
		}
	}
	if err := checkRange(&l.holders, aliasHolderFile, l.own.Entities); err != nil {
		return err
	}
	if err := checkRange(&l.dated, datedFile, l.own.Triples); err != nil {
		return err
	}
	for i := 1; i < l.dated.Len(); i++ {
		if l.dated.Get(i-1) >= l.dated.Get(i) {
			return corruptf("%s is out of order at %d", datedFile, i)
		}
	}
	_, err := l.names.open()
	return err
}

func checkRange(c *packedColumn, name string, n int) error {
	for i := range c.Len() {
		if v := c.Get(i); v >= uint64(n) {
			return corruptf("%s names %d of %d at %d", name, v, n, i)
		}
	}
	return nil
}

// inspectOffsets checks that rows of edges follow one another.
func inspectOffsets(c *packedColumn, name string, edges int) error {
	last := uint64(0)
	for i := range c.Len() {
		v := c.Get(i)
		if v < last || i == 0 && v != 0 {
			return corruptf("%s is out of order at %d", name, i)
		}
		last = v
	}
	if last != uint64(edges) {
		return corruptf("%s ends at %d of %d edges", name, last, edges)
	}
	return nil
}

func (l *layer) inspectTriples(ctx context.Context) error {
	g := &l.graph
	if err := inspectOffsets(&g.out, outFile, g.triples); err != nil {
		return err
	}
	counts := make([]uint64, l.own.Relations)
	for subject := range g.rows {
		if subject%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		at := g.row(subject, store.Out)
		for place := at.from; place < at.to; place++ {
			relation, object := g.relations.Get(place), g.objects.Get(place)
			if relation >= uint64(l.own.Relations) || object >= uint64(g.rows) {
				return corruptf("triple %d names an entity or relation that does not exist", place)
			}
			if before := place - 1; before >= at.from && (g.relations.Get(before) > relation ||
				g.relations.Get(before) == relation && g.objects.Get(before) > object) {
				return corruptf("triple %d is out of order", place)
			}
			if place%sampleStep == 0 && g.samples.Get(place/sampleStep) != uint64(subject) {
				return corruptf("%s is wrong at triple %d", samplesFile, place)
			}
			counts[relation]++
		}
	}
	for r, n := range counts {
		if l.counts.Get(r) != n {
			return corruptf("relation %d has %d triples, %s says %d", r, n, countsFile, l.counts.Get(r))
		}
	}
	return nil
}

// inspectObjects checks the other order: it holds each triple once, because
// within an object the pairs of relation and number ascend.
func (l *layer) inspectObjects(ctx context.Context) error {
	g := &l.graph
	if err := inspectOffsets(&g.in, inFile, g.triples); err != nil {
		return err
	}
	if err := checkRange(&g.byObject, byObjectFile, g.triples); err != nil {
		return err
	}
	if err := errors.Join(checkRange(&g.subjects, inSubjectsFile, g.rows), checkRange(&g.inRelations, inRelationsFile,
		l.counts.Len())); err != nil {
		return err
	}
	for object := range g.rows {
		if object%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		at := g.row(object, store.In)
		var last [2]uint64
		for place := at.from; place < at.to; place++ {
			triple := g.byObject.Get(place)
			this := [2]uint64{g.relations.Get(int(triple)), triple}
			if g.inRelations.Get(place) != this[0] || g.subjects.Get(place) != uint64(g.subject(int(triple))) {
				return corruptf("%s and %s differ from the triples at %d", inSubjectsFile, inRelationsFile, place)
			}
			if g.objects.Get(int(triple)) != uint64(object) || place > at.from &&
				(this[0] < last[0] || this[0] == last[0] && this[1] <= last[1]) {
				return corruptf("%s is out of order at %d", byObjectFile, place)
			}
			last = this
		}
	}
	return nil
}

func (l *layer) inspectVectors(ctx context.Context) error {
	dims := l.mapping.manifest.Dims
	if dims == 0 {
		return nil
	}
	for name, vectors := range map[string]*vector.Vectors{relVectorFile: l.relationVectors, vectorsFile: l.vectors} {
		if vectors == nil {
			continue
		}
		for i := range vectors.Len() {
			if i%4096 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			v, err := vectors.Row(uint32(i))
			if err != nil {
				return err
			}
			if err := checkVector(v, dims); err != nil {
				return corruptf("%s, %d: %v", name, i, err)
			}
		}
	}
	return nil
}
