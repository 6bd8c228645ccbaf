package storetest

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/services/retriever/nameindex"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// Graph is a store.Snapshot in memory, for tests of packages that read a store. It counts the
// reads that a test may want to bound.
type Graph struct {
	entities, relations []string
	triples             []store.Triple
	vectors, relVectors [][]float32
	aliases             map[string][]store.EntityID
	// EdgeReads counts the calls of Edges, Released those of Release.
	EdgeReads atomic.Int64
	Released  int

	mutex sync.Mutex
	names *nameindex.Index
}

var _ store.Snapshot = (*Graph)(nil)

// NewGraph builds a graph of subject, relation, object triples.
func NewGraph(triples ...[3]string) *Graph {
	g := &Graph{aliases: map[string][]store.EntityID{}}
	for _, t := range triples {
		g.entities = append(g.entities, t[0], t[2])
		g.relations = append(g.relations, t[1])
	}
	g.entities, g.relations = sortedUnique(g.entities), sortedUnique(g.relations)
	for _, t := range triples {
		g.triples = append(g.triples, store.Triple{
			Subject:  store.EntityID(indexOf(g.entities, t[0])),
			Relation: store.RelationID(indexOf(g.relations, t[1])),
			Object:   store.EntityID(indexOf(g.entities, t[2])),
		})
	}
	slices.SortFunc(g.triples, func(a, b store.Triple) int {
		return cmp.Or(cmp.Compare(a.Subject, b.Subject), cmp.Compare(a.Relation, b.Relation),
			cmp.Compare(a.Object, b.Object))
	})
	g.triples = slices.Compact(g.triples)
	for _, t := range g.triples {
		text := kgtext.VerbaliseTriple(g.entities[t.Subject], g.relations[t.Relation], g.entities[t.Object])
		g.vectors = append(g.vectors, WordVector(text))
	}
	for _, r := range g.relations {
		g.relVectors = append(g.relVectors, WordVector(kgtext.VerbaliseRelationInContext(r)))
	}
	return g
}

// WithAlias adds another name of an entity that the graph holds.
func (g *Graph) WithAlias(entity, alias string) *Graph {
	g.names = nil
	g.aliases[store.Fold(alias)] = append(g.aliases[store.Fold(alias)], g.ID(entity))
	return g
}

// ID returns the number of an entity that the graph holds.
func (g *Graph) ID(entity string) store.EntityID {
	return store.EntityID(indexOf(g.entities, entity))
}

// RelationID returns the number of a relation that the graph holds.
func (g *Graph) RelationID(relation string) store.RelationID {
	return store.RelationID(indexOf(g.relations, relation))
}

// Open implements store.Opener for the graph "test" alone.
func (g *Graph) Open(_ context.Context, kg string, number uint64) (store.Snapshot, error) {
	if kg != "test" || number > 1 {
		return nil, &store.Error{Op: "open", KG: kg, Number: number, Err: store.ErrNotFound}
	}
	return g, nil
}

// List names the graph.
func (g *Graph) List(context.Context, string) ([]store.ListedSnapshot, error) {
	return []store.ListedSnapshot{{Info: g.Info(), Active: true}}, nil
}

// Info implements store.Snapshot.
func (g *Graph) Info() store.Info {
	return store.Info{
		KG: "test", Number: 1, Encoder: wordModel, Dims: wordDims, TripleVectors: true,
		Triples: len(g.triples), Entities: len(g.entities), Relations: len(g.relations),
	}
}

// Release implements store.Snapshot.
func (g *Graph) Release() { g.Released++ }

// Triple implements store.Facts.
func (g *Graph) Triple(id store.TripleID) store.Triple { return g.triples[id] }

// Validity implements store.Facts; nothing here has any.
func (g *Graph) Validity(store.TripleID) store.Validity { return store.Validity{} }

// Provenance implements store.Facts; nothing here has any.
func (g *Graph) Provenance(store.TripleID) string { return "" }

func sortedUnique(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}

func indexOf(names []string, name string) int {
	i, ok := slices.BinarySearch(names, name)
	if !ok {
		panic("storetest: no " + name)
	}
	return i
}
