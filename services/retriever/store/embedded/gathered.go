package embedded

import (
	"context"
	"fmt"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// gathered is a content held in memory.
type gathered struct {
	Entities, Relations []string
	Triples             []store.Triple
	Validity            []store.Validity
	Aliases             []store.Alias
	Encoder             string
	Dims                int
	TripleVectors       store.Each[[]float32]
	RelationVectors     [][]float32
}

func gather(ctx context.Context, c store.Content) (gathered, error) {
	g := gathered{
		Relations: c.Relations, Encoder: c.Encoder, Dims: c.Dims,
		TripleVectors: c.TripleVectors, RelationVectors: c.RelationVectors,
	}
	if err := c.Entities(ctx, func(n store.Named) error {
		g.Entities = append(g.Entities, n.Name)
		return nil
	}); err != nil {
		return g, err
	}
	if err := c.Triples(ctx, func(d store.Dated) error {
		g.Triples = append(g.Triples, d.Triple)
		g.Validity = append(g.Validity, d.Validity)
		return nil
	}); err != nil {
		return g, err
	}
	if len(g.Entities) != c.EntityCount || len(g.Triples) != c.TripleCount {
		return g, fmt.Errorf("%d entities and %d triples came, %d and %d were announced: %w",
			len(g.Entities), len(g.Triples), c.EntityCount, c.TripleCount, store.ErrInvalid)
	}
	if c.Aliases == nil {
		return g, nil
	}
	return g, c.Aliases(ctx, func(a store.Alias) error {
		g.Aliases = append(g.Aliases, a)
		return nil
	})
}
