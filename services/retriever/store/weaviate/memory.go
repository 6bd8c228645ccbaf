package weaviate

import (
	"errors"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// memory is what of a snapshot was read last. A snapshot never changes, so
// nothing of it goes stale.
type memory struct {
	entities *lru.Cache[store.EntityID, entity]
	shapes   *lru.Cache[store.EntityID, *shape]
	facts    *lru.Cache[store.TripleID, fact]
	vectors  *lru.Cache[store.TripleID, []float32]
	edges    *lru.Cache[around, []store.Edge]
}

// entity is what every row that names one tells of it.
type entity struct {
	name string
	kind store.Kind
	// degree are its edges out and in.
	degree [2]int32
}

// shape is how an entity's edges lie.
type shape struct {
	// first is where they begin, by direction: in the order of triples those
	// out, in the order of objects those in.
	first [2]int64
	// relations counts them, in their order.
	relations [2][]store.RelationEdges
}

// fact is a triple.
type fact struct {
	store.Triple
	validity store.Validity
}

// around names the edges of an entity in a direction.
type around struct {
	entity store.EntityID
	dir    store.Direction
}

// longList is how many edges an entity may have for its list to be kept.
const longList = 2000

// newMemory divides some bytes: half for vectors, a quarter for entities, the
// rest for facts, edges and shapes.
func newMemory(bytes, dims int) memory {
	return memory{
		entities: cache[store.EntityID, entity](bytes / 4 / 200),
		shapes:   cache[store.EntityID, *shape](bytes / 16 / 400),
		facts:    cache[store.TripleID, fact](bytes / 8 / 150),
		vectors:  cache[store.TripleID, []float32](bytes / 2 / (4*dims + 150)),
		edges:    cache[around, []store.Edge](bytes / 16 / 400),
	}
}

// leastKept is how much of each is kept at least: what one question reads.
const leastKept = 4096

func cache[K comparable, V any](size int) *lru.Cache[K, V] {
	c, err := lru.New[K, V](max(size, leastKept))
	if err != nil {
		panic(err) // of a size below 1 alone
	}
	return c
}

func isCorrupt(err error) bool { return errors.Is(err, store.ErrCorrupt) }

// recall parts numbers, each once, into what a cache holds and what must be read.
func recall[N comparable, V any](cache *lru.Cache[N, V], numbers []N) (found map[N]V, missing []N) {
	found = make(map[N]V, len(numbers))
	for _, n := range numbers {
		if _, again := found[n]; again {
			continue
		}
		v, ok := cache.Get(n)
		if !ok {
			missing = append(missing, n)
		}
		found[n] = v
	}
	return found, missing
}
