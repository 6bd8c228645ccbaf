package weaviate

import (
	"context"
	"fmt"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// verify reads all rows and looks whether they add up: the numbers of all rows
// are there once, counts are those of the edges, names lead to their entities.
func (g *graph) verify(ctx context.Context) (bytes int64, err error) {
	if err := g.load(ctx); err != nil {
		return 0, err
	}
	bytes = g.entry.NameBytes + g.entry.HolderBytes
	var edges [2]int64
	for from := 0; from < g.entry.Entities; from += lookedUp {
		err := each(ctx, g, entitiesPart, propNumber, upTo[store.EntityID](from, g.entry.Entities, lookedUp), scored, false, func(id store.EntityID, r *row) error {
			e, s, err := g.entityRow(r)
			if err != nil {
				return err
			}
			if r.result.GetMetadata().GetId() != entityID(e.name) {
				r.wrong("has an id that is not made of its name %q", e.name)
			}
			for dir := range edges {
				edges[dir] += int64(e.degree[dir])
				if s.first[dir] < 0 || s.first[dir]+int64(e.degree[dir]) > int64(g.entry.Triples) {
					r.wrong("has edges from %d on, there are %d", s.first[dir], g.entry.Triples)
				}
			}
			bytes += int64(len(e.name))
			return r.err
		})
		if err != nil {
			return 0, err
		}
	}
	counts := make([]int, len(g.relations))
	for from := 0; from < g.entry.Triples; from += lookedUp {
		err := each(ctx, g, factsPart, propTriple, upTo[store.TripleID](from, g.entry.Triples, lookedUp), scored, g.entry.TripleVectors, func(_ store.TripleID, r *row) error {
			_, f, err := g.factOf(r)
			if err != nil {
				return err
			}
			counts[f.Relation]++
			if g.entry.TripleVectors {
				r.vector(g.entry.Dims)
				bytes += int64(4 * g.entry.Dims)
			}
			bytes += 12
			return r.err
		})
		if err != nil {
			return 0, err
		}
	}
	for dir, n := range edges {
		if n != int64(g.entry.Triples) {
			return 0, fmt.Errorf("entities count %d edges in direction %d, there are %d triples: %w", n, dir, g.entry.Triples, store.ErrCorrupt)
		}
	}
	for i, n := range counts {
		if n != g.relations[i].triples {
			return 0, fmt.Errorf("relation %q counts %d triples, there are %d: %w", g.relations[i].name, g.relations[i].triples, n, store.ErrCorrupt)
		}
	}
	return bytes, nil
}

// upTo lists at most n numbers from one on, below a limit.
func upTo[N ~uint32](from, limit, n int) []N {
	var ids []N
	for id := from; id < min(from+n, limit); id++ {
		ids = append(ids, N(id))
	}
	return ids
}
