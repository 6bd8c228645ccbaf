package embedded

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// build writes the files of one snapshot from the streams of its content.
// What it holds in memory are the lengths of names and the counts of edges, 4
// bytes each, and what one sorter takes at a time.
type build struct {
	*folder
	content store.Content
	own     counts
	// rows are the entities that triples name by their numbers in content, and
	// entities all there are: the same but in a delta.
	rows, entities int
	// relationCounts are the triples of each relation, those of bases included.
	relationCounts []uint64
	// firstTriple is how many numbers of triples the bases take.
	firstTriple int
	dims        int
}

// buildWhole writes all files but the manifest, and returns what it holds.
func buildWhole(ctx context.Context, f *folder, c store.Content) (m manifest, err error) {
	if err := check(c); err != nil {
		return m, err
	}
	b := &build{
		folder: f, content: c, rows: c.EntityCount, entities: c.EntityCount, dims: c.Dims,
		own:            counts{Entities: c.EntityCount, Relations: len(c.Relations), Triples: c.TripleCount},
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
func (b *build) run(ctx context.Context) (err error) {
	sorting := filepath.Join(b.dir, sortingDir)
	if err := b.disk.MkdirAll(sorting); err != nil {
		return fmt.Errorf("make a directory to sort in: %w", full(err))
	}
	for _, step := range []func(context.Context) error{b.writeNames, b.writeRelations, b.writeGraph, b.writeVectors} {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := step(ctx); err != nil {
			return errors.Join(full(err), b.disk.RemoveAll(sorting))
		}
	}
	return full(b.disk.RemoveAll(sorting))
}

// check refuses content that cannot be stored before anything of it is read.
func check(c store.Content) error {
	switch {
	case c.TripleCount == 0:
		return fmt.Errorf("there is no triple to store: %w", store.ErrInvalid)
	case int64(max(c.TripleCount, c.EntityCount)) > maxCount:
		return fmt.Errorf("%d triples and %d entities are more than 32 bits number: %w", c.TripleCount, c.EntityCount, store.ErrInvalid)
	case c.Dims < 0, c.Dims == 0 && (c.TripleVectors != nil || c.RelationVectors != nil):
		return fmt.Errorf("vectors of %d components: %w", c.Dims, store.ErrInvalid)
	case c.Dims > 0 && c.Encoder == "":
		return fmt.Errorf("vectors without the name of their encoder: %w", store.ErrInvalid)
	case c.Dims > 0 && len(c.RelationVectors) != len(c.Relations):
		return fmt.Errorf("%d vectors for %d relations: %w", len(c.RelationVectors), len(c.Relations), store.ErrInvalid)
	}
	for i := 1; i < len(c.Relations); i++ {
		if c.Relations[i-1] >= c.Relations[i] {
			return fmt.Errorf("relations are not in order at %q: %w", c.Relations[i], store.ErrInvalid)
		}
	}
	return nil
}

// announced compares how many came with how many were to come.
func announced(what string, got, want int) error {
	if got != want {
		return fmt.Errorf("%d %s came, %d were announced: %w", got, what, want, store.ErrInvalid)
	}
	return nil
}

func (b *build) writeRelations(context.Context) error {
	return writeTexts(b.folder, relationsFile, b.content.Relations)
}
