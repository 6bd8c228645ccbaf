package load

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/triplemesh/triplemesh/internal/verbalise"
	"github.com/triplemesh/triplemesh/services/retriever/encoder"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// content hands the graph out, but for the vectors of its triples.
func (g *graph) content(ctx context.Context, enc encoder.Encoder) (store.Content, error) {
	c := store.Content{
		Entities: g.entities.each, EntityCount: g.entities.count,
		Relations: g.relations,
		Triples:   g.triples, TripleCount: g.count,
		Aliases: g.eachAlias,
		Encoder: enc.Name(), Dims: enc.Dims(),
	}
	var err error
	c.RelationVectors, err = relationVectors(ctx, enc, g.relations)
	return c, err
}

func relationVectors(ctx context.Context, enc encoder.Encoder, relations []string) ([][]float32, error) {
	phrases := make([]string, len(relations))
	for i, r := range relations {
		phrases[i] = verbalise.RelationInContext(r)
	}
	vectors, err := enc.Encode(ctx, phrases)
	if err != nil {
		return nil, fmt.Errorf("encode relations: %w", err)
	}
	return vectors, nil
}

// pageRows is how many records are read at once.
const pageRows = 2048

// pages hands out the facts in order, some at a time; emit may keep none.
func (g *graph) pages(ctx context.Context, emit func([]record) error) error {
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
			return g.facts.failed("read", err)
		}
		left -= len(page)
		if err := emit(page); err != nil {
			return err
		}
	}
	return nil
}

func (g *graph) triples(ctx context.Context, emit func(store.Dated) error) error {
	return g.pages(ctx, func(page []record) error {
		for _, r := range page {
			if int(r[3]) >= len(g.intervals) {
				return fmt.Errorf("scratch file %s: %w", g.facts.path, errDamaged)
			}
			t := store.Triple{Subject: store.EntityID(r[0]), Relation: store.RelationID(r[1]), Object: store.EntityID(r[2])}
			if err := emit(store.Dated{Triple: t, Validity: g.intervals[r[3]]}); err != nil {
				return err
			}
		}
		return nil
	})
}

func (g *graph) eachAlias(ctx context.Context, emit func(store.Alias) error) error {
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
			return g.aliases.failed("read", err)
		}
		size, err := binary.ReadUvarint(in)
		if err != nil {
			return g.aliases.failed("read", err)
		}
		if size > uint64(g.aliases.size) {
			return fmt.Errorf("scratch file %s: %w", g.aliases.path, errDamaged)
		}
		name = append(name[:0], make([]byte, size)...)
		if _, err := io.ReadFull(in, name); err != nil {
			return g.aliases.failed("read", err)
		}
		read += int64(4 + len(binary.AppendUvarint(nil, size)) + len(name))
		if err := emit(store.Alias{Entity: store.EntityID(binary.NativeEndian.Uint32(entity[:])), Name: string(name)}); err != nil {
			return err
		}
	}
	return nil
}
