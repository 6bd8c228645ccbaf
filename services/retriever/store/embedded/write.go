package embedded

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// writeContent writes all files of a snapshot but the manifest.
func writeContent(ctx context.Context, f *folder, c gathered) error {
	steps := []func() error{
		func() error { return writeTexts(f, entitiesFile, c.Entities) },
		func() error { return writeTexts(f, relationsFile, c.Relations) },
		func() error { return writeColumn(f, triplesFile, c.Triples) },
		func() error { return writeGraph(f, c) },
		func() error { return writeValidity(f, c.Validity) },
		func() error { return writeNames(f, c) },
		func() error { return writeRelationVectors(f, c) },
		func() error { return writeTripleVectors(ctx, f, c) },
	}
	for _, step := range steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// writeGraph writes the adjacency both ways and how often each relation
// occurs.
func writeGraph(f *folder, c gathered) error {
	counts := make([]uint32, len(c.Relations))
	out := make([]store.Edge, len(c.Triples))
	in := make([]store.Edge, len(c.Triples))
	outOffsets := make([]uint32, len(c.Entities)+1)
	inOffsets := make([]uint32, len(c.Entities)+1)
	for i, t := range c.Triples {
		counts[t.Relation]++
		outOffsets[t.Subject+1]++
		inOffsets[t.Object+1]++
		// Triples are in the order of subject and relation, and so are their
		// edges.
		out[i] = store.Edge{Relation: t.Relation, Entity: t.Object, Triple: store.TripleID(i)}
	}
	for e := range c.Entities {
		outOffsets[e+1] += outOffsets[e]
		inOffsets[e+1] += inOffsets[e]
	}
	next := slices.Clone(inOffsets)
	for i, t := range c.Triples {
		in[next[t.Object]] = store.Edge{Relation: t.Relation, Entity: t.Subject, Triple: store.TripleID(i)}
		next[t.Object]++
	}
	for e := range c.Entities {
		slices.SortFunc(in[inOffsets[e]:inOffsets[e+1]], func(a, b store.Edge) int {
			if a.Relation != b.Relation {
				return int(int64(a.Relation) - int64(b.Relation))
			}
			return int(int64(a.Triple) - int64(b.Triple))
		})
	}
	if err := writeLists(f, outFile, out, outOffsets); err != nil {
		return err
	}
	if err := writeLists(f, inFile, in, inOffsets); err != nil {
		return err
	}
	return writeColumn(f, countsFile, counts)
}

func writeValidity(f *folder, validity []store.Validity) error {
	var triples []uint32
	var intervals []string
	for i, v := range validity {
		if v != (store.Validity{}) {
			triples = append(triples, uint32(i))
			intervals = append(intervals, v.Start, v.End)
		}
	}
	if err := writeColumn(f, validFile, triples); err != nil {
		return err
	}
	return writeTexts(f, intervalsFile, intervals)
}

func writeRelationVectors(f *folder, c gathered) error {
	return f.write(relVectorFile, func(w io.Writer) error {
		for i, v := range c.RelationVectors {
			if err := checkVector(v, c.Dims); err != nil {
				return fmt.Errorf("relation %q: %w", c.Relations[i], err)
			}
			if _, err := w.Write(asBytes(v)); err != nil {
				return err
			}
		}
		return nil
	})
}

func writeTripleVectors(ctx context.Context, f *folder, c gathered) error {
	return f.write(vectorsFile, func(w io.Writer) error {
		n := 0
		err := c.TripleVectors(ctx, func(v []float32) error {
			if err := checkVector(v, c.Dims); err != nil {
				return fmt.Errorf("triple %d: %w", n, err)
			}
			n++
			_, err := w.Write(asBytes(v))
			return err
		})
		if err == nil && n != len(c.Triples) {
			err = fmt.Errorf("%d vectors for %d triples: %w", n, len(c.Triples), store.ErrInvalid)
		}
		return err
	})
}

// checkVector refuses vectors that would spoil every comparison.
func checkVector(v []float32, dims int) error {
	if len(v) != dims {
		return fmt.Errorf("vector has %d components, want %d: %w", len(v), dims, store.ErrInvalid)
	}
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if !(math.Abs(sum-1) < 1e-3) {
		return fmt.Errorf("vector has length %.4g, want 1: %w", math.Sqrt(sum), store.ErrInvalid)
	}
	return nil
}

// check refuses content that is not what Content promises.
func check(c gathered) error {
	if len(c.Triples) == 0 {
		return fmt.Errorf("there is no triple to store: %w", store.ErrInvalid)
	}
	if c.Dims <= 0 {
		return fmt.Errorf("vectors of %d components: %w", c.Dims, store.ErrInvalid)
	}
	if uint64(max(len(c.Triples), len(c.Entities))) >= math.MaxUint32 {
		return fmt.Errorf("%d triples and %d entities are more than 32 bits number: %w", len(c.Triples), len(c.Entities), store.ErrInvalid)
	}
	if len(c.RelationVectors) != len(c.Relations) {
		return fmt.Errorf("%d vectors for %d relations: %w", len(c.RelationVectors), len(c.Relations), store.ErrInvalid)
	}
	if c.Validity != nil && len(c.Validity) != len(c.Triples) {
		return fmt.Errorf("%d validities for %d triples: %w", len(c.Validity), len(c.Triples), store.ErrInvalid)
	}
	for kind, names := range map[string][]string{"entities": c.Entities, "relations": c.Relations} {
		for i := 1; i < len(names); i++ {
			if names[i-1] >= names[i] {
				return fmt.Errorf("%s are not in order at %q: %w", kind, names[i], store.ErrInvalid)
			}
		}
	}
	return checkNumbers(c)
}

func checkNumbers(c gathered) error {
	entities, relations := store.EntityID(len(c.Entities)), store.RelationID(len(c.Relations))
	for i, t := range c.Triples {
		if t.Subject >= entities || t.Object >= entities || t.Relation >= relations {
			return fmt.Errorf("triple %d names what is not there: %w", i, store.ErrInvalid)
		}
		if i > 0 && before(t, c.Triples[i-1]) {
			return fmt.Errorf("triple %d is out of order: %w", i, store.ErrInvalid)
		}
	}
	for _, a := range c.Aliases {
		if a.Entity >= entities {
			return fmt.Errorf("alias %q names what is not there: %w", a.Name, store.ErrInvalid)
		}
	}
	return nil
}

func before(a, b store.Triple) bool {
	if a.Subject != b.Subject {
		return a.Subject < b.Subject
	}
	if a.Relation != b.Relation {
		return a.Relation < b.Relation
	}
	return a.Object < b.Object
}

func newManifest(kg string, number uint64, c gathered, now time.Time) manifest {
	return manifest{
		Format: formatVersion, KG: kg, Number: number, Created: now.UTC(),
		Encoder: c.Encoder, Dims: c.Dims,
		Triples: len(c.Triples), Entities: len(c.Entities), Relations: len(c.Relations),
	}
}
