package embedded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"sync"

	"github.com/triplemesh/triplemesh/services/retriever/nameindex"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// builder writes the files of one snapshot from the streams of its content.
// What it holds in memory are the lengths of names and the counts of edges, 4
// bytes each, and what one sorter takes at a time.
type builder struct {
	*folder
	content store.Content
	own     ownCounts
	// rows are the entities that triples name by their numbers in content, and
	// entities all there are: the same but in a delta.
	rows, entities int
	// relationCounts are the triples of each relation, those of bases included.
	relationCounts []uint64
	// firstTriple is the number of numbers of triples the bases take.
	firstTriple int
	dims        int
}

// buildWhole writes all files but the manifest, and returns what it holds.
func buildWhole(ctx context.Context, f *folder, c store.Content) (m manifest, err error) {
	if err := checkContent(c); err != nil {
		return m, err
	}
	b := &builder{
		folder: f, content: c, rows: c.EntityCount, entities: c.EntityCount, dims: c.Dims,
		own:            ownCounts{Entities: c.EntityCount, Relations: len(c.Relations), Triples: c.TripleCount},
		relationCounts: make([]uint64, len(c.Relations)),
	}
	if err := b.run(ctx); err != nil {
		return m, err
	}
	return manifest{
		Format: formatVersion, Encoder: c.Encoder, Dims: c.Dims, TripleVectors: c.TripleVectors != nil,
		Triples: c.TripleCount, Entities: c.EntityCount, Relations: len(c.Relations), Own: b.own,
	}, nil
}

// run writes the files that every snapshot has.
func (b *builder) run(ctx context.Context) (err error) {
	sorting := filepath.Join(b.dir, sortingDir)
	if err := b.disk.MkdirAll(sorting); err != nil {
		return fmt.Errorf("make a directory to sort in: %w", markDiskFull(err))
	}
	for _, step := range []func(context.Context) error{b.writeNames, b.writeRelations, b.writeGraph, b.writeVectors} {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := step(ctx); err != nil {
			return errors.Join(markDiskFull(err), b.disk.RemoveAll(sorting))
		}
	}
	return markDiskFull(b.disk.RemoveAll(sorting))
}

// checkContent refuses content that cannot be stored before anything of it is read.
func checkContent(c store.Content) error {
	switch {
	case c.TripleCount == 0:
		return store.Invalidf("no triples to store")
	case int64(max(c.TripleCount, c.EntityCount)) > maxCount:
		return store.Invalidf("%d triples and %d entities are more than 32-bit numbers reach",
			c.TripleCount, c.EntityCount)
	case c.Dims < 0, c.Dims == 0 && (c.TripleVectors != nil || c.RelationVectors != nil):
		return store.Invalidf("vectors of %d components", c.Dims)
	case c.Dims > 0 && c.Encoder == "":
		return store.Invalidf("vectors without the name of their encoder")
	case c.Dims > 0 && len(c.RelationVectors) != len(c.Relations):
		return store.Invalidf("%d vectors for %d relations", len(c.RelationVectors), len(c.Relations))
	}
	for i := 1; i < len(c.Relations); i++ {
		if c.Relations[i-1] >= c.Relations[i] {
			return store.Invalidf("relations are not in order at %q", c.Relations[i])
		}
	}
	return nil
}

// checkCount compares the number of values received with the number announced.
func checkCount(what string, got, want int) error {
	if got != want {
		return store.Invalidf("%d %s came, %d were announced", got, what, want)
	}
	return nil
}

func (b *builder) writeRelations(context.Context) error {
	return writeTexts(b.folder, relationsFile, b.content.Relations)
}

// writeVectors writes the vectors of relations and triples, if there are any.
func (b *builder) writeVectors(ctx context.Context) error {
	if b.dims == 0 {
		return nil
	}
	if err := b.write(relVectorFile, func(w io.Writer) error {
		for i, v := range b.content.RelationVectors {
			if err := checkVector(v, b.dims); err != nil {
				return fmt.Errorf("relation %q: %w", b.content.Relations[i], err)
			}
			if _, err := w.Write(asBytes(v)); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return err
	}
	if b.content.TripleVectors == nil {
		return nil
	}
	to, err := b.vectorWriter(b.dims)
	if err != nil {
		return err
	}
	n := 0
	if err := b.content.TripleVectors(ctx, func(v []float32) error {
		if n == b.own.Triples {
			return checkCount("vectors of triples", n+1, n)
		}
		if err := checkVector(v, b.dims); err != nil {
			return fmt.Errorf("triple %d: %w", n, err)
		}
		n++
		return to.Add(v)
	}); err != nil {
		return err
	}
	if err := checkCount("vectors of triples", n, b.own.Triples); err != nil {
		return err
	}
	return to.close()
}

// checkVector refuses vectors that would spoil every comparison.
func checkVector(v []float32, dims int) error {
	if len(v) != dims {
		return store.Invalidf("vector has %d components, want %d", len(v), dims)
	}
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if !(math.Abs(sum-1) < 1e-3) {
		return store.Invalidf("vector has length %.4g, want 1", math.Sqrt(sum))
	}
	return nil
}

// lazyNameIndex is a name index that is opened when it is first needed. The
// checksums of its whole files are verified then: a lookup reads them in no predictable order.
type lazyNameIndex struct {
	names, holders *pageFile

	mutex sync.Mutex
	index *nameindex.Index
}

// open returns the index. It must be called within store.Guard.
func (n *lazyNameIndex) open() (*nameindex.Index, error) {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	if n.index != nil {
		return n.index, nil
	}
	names := n.names.Bytes(0, n.names.Len())
	holders := n.holders.Bytes(0, n.holders.Len())
	index, err := nameindex.Open(names, holders)
	n.index = index
	return index, err
}
