package weaviate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	lru "github.com/hashicorp/golang-lru/v2"
	pb "github.com/weaviate/weaviate/grpc/generated/protocol/v1"
	"golang.org/x/sync/errgroup"

	"github.com/triplemesh/triplemesh/services/retriever/nameindex"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// graph is an open snapshot, shared by all that read it. It keeps the relations
// and the name index whole, and of the rest what was read last.
type graph struct {
	cluster *cluster
	home    string
	entry   entry
	// bypassCaches makes every read go to the cluster, for Verify.
	bypassCaches bool
	snapshotCache

	// users counts the store, as the first, and the readers.
	users atomic.Int64
	// dropped reports whether the snapshot is no longer there.
	dropped atomic.Bool

	loading   sync.Mutex
	loaded    bool
	relations []relation
	byName    map[string]store.RelationID
	names     *nameindex.Index
	unmap     func() error
}

// relation is one, with its vector, nil if there are none.
type relation struct {
	name    string
	triples int
	vector  []float32
}

// newGraph returns a graph with one user, the caller.
func newGraph(c *cluster, home string, e entry) *graph {
	g := &graph{cluster: c, home: home, entry: e, snapshotCache: newMemory(c.config.CacheBytes, e.Dims)}
	g.users.Store(1)
	return g
}

// use adds a user, unless all are gone already.
func (g *graph) use() bool {
	for {
		n := g.users.Load()
		if n == 0 {
			return false
		}
		if g.users.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// release removes a user; the last one closes the files.
func (g *graph) release() error {
	if g.users.Add(-1) > 0 {
		return nil
	}
	g.loading.Lock()
	defer g.loading.Unlock()
	if g.unmap == nil {
		return nil
	}
	err := g.unmap()
	g.unmap = nil
	if g.dropped.Load() {
		// Another snapshot with the same names fetches the index again.
		if gone := os.Remove(g.namesPath()); !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}
	return err
}

func (g *graph) collection(part string) string {
	return collection(g.home, g.entry.KG, g.entry.Number, part)
}

// load reads what is kept whole, once.
func (g *graph) load(ctx context.Context) error {
	g.loading.Lock()
	defer g.loading.Unlock()
	if g.loaded {
		return nil
	}
	var relations []relation
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		relations, err = g.readRelations(groupCtx)
		return err
	})
	group.Go(func() error { return g.openNames(groupCtx) })
	if err := group.Wait(); err != nil {
		return err
	}
	g.relations, g.byName = relations, make(map[string]store.RelationID, len(relations))
	for i, r := range relations {
		g.byName[r.name] = store.RelationID(i)
	}
	g.loaded = true
	return nil
}

// relationRows is the number of relations read at a time: with vectors some 2 KiB each.
const relationRows = 1000

func (g *graph) readRelations(ctx context.Context) ([]relation, error) {
	relations, dims := make([]relation, g.entry.Relations), g.entry.Dims
	seen := 0
	for from := 0; from < len(relations); from += relationRows {
		rows, err := g.rows(ctx, relationsPart, between(propNumber, int64(from), int64(from+relationRows)),
			relationRows, dims > 0)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			at := r.number(propNumber, len(relations))
			found := relation{name: r.text(propName), triples: int(r.int(propCount))}
			if dims > 0 {
				found.vector = r.vector(dims)
			}
			if r.err != nil {
				return nil, r.err
			}
			relations[at] = found
			seen++
		}
	}
	if seen != len(relations) {
		return nil, fmt.Errorf("collection %s has %d relations, want %d: %w", g.collection(relationsPart), seen,
			len(relations), store.ErrCorrupt)
	}
	return relations, nil
}

// maxRows is the number of rows Weaviate answers at most.
const maxRows = 10_000

// rows reads the rows of a collection that a filter matches.
func (g *graph) rows(ctx context.Context, part string, filter *pb.Filters, limit int,
	vectors bool) ([]*resultRow, error) {
	return g.rowsAt(ctx, part, filter, limit, vectors, levels[g.cluster.config.Consistency])
}

func (g *graph) rowsAt(ctx context.Context, part string, filter *pb.Filters, limit int, vectors bool,
	level pb.ConsistencyLevel) ([]*resultRow, error) {
	return g.query(ctx, part, &pb.SearchRequest{
		Filters: filter, Limit: uint32(limit), ConsistencyLevel: &level,
		Metadata: &pb.MetadataRequest{Uuid: true, Vector: vectors},
	})
}

// readProperties are the properties that are read; those that serve only to find rows
// are not returned.
var readProperties = map[string][]string{
	factsPart:     {propTriple, propPlace, propSubject, propRelation, propObject, propValidity, propEnds, propNames},
	entitiesPart:  {propNumber, propName, propShape, propOut, propIn},
	relationsPart: {propNumber, propName, propCount},
	namesPart:     {propNumber, propData},
}

// properties are those to read of a part: a snapshot that was loaded before there were keys or
// provenance has no such property.
func (g *graph) properties(part string) []string {
	properties := readProperties[part]
	switch {
	case part == entitiesPart && g.entry.Keyed:
		return append(slices.Clip(properties), propKey)
	case part == factsPart && g.entry.Provenance:
		return append(slices.Clip(properties), propProvenance)
	}
	return properties
}

func (g *graph) query(ctx context.Context, part string, req *pb.SearchRequest) ([]*resultRow, error) {
	req.Collection = g.collection(part)
	req.Properties = &pb.PropertiesRequest{NonRefProperties: g.properties(part)}
	results, err := g.cluster.search(ctx, req)
	if err != nil {
		return nil, err
	}
	rows := make([]*resultRow, len(results))
	for i, result := range results {
		rows[i] = newResultRow(req.Collection, result)
	}
	return rows, nil
}

// retryAtHigherLevels reads until an answer adds up: first at the configured consistency,
// then, because a replica may have missed something, at higher ones.
func (g *graph) retryAtHigherLevels(read func(pb.ConsistencyLevel) error) error {
	var err error
	for level := levels[g.cluster.config.Consistency]; level <= pb.ConsistencyLevel_CONSISTENCY_LEVEL_ALL; level++ {
		if err = read(level); !isCorrupt(err) {
			return err
		}
		if g.cluster.config.Replicas == 1 {
			return err
		}
	}
	return err
}

// snapshot is one user's view of an open snapshot.
type snapshot struct {
	graph *graph
	once  sync.Once
}

var _ store.Snapshot = (*snapshot)(nil)

func (s *snapshot) Info() store.Info { return s.graph.entry.Info }

func (s *snapshot) Release() {
	s.once.Do(func() {
		// A failing unmap cannot be handled.
		_ = s.graph.release()
	})
}

func (s *snapshot) wrap(op string, err error) error {
	return store.WrapError(op, s.graph.entry.KG, s.graph.entry.Number, err)
}

// relation returns a relation by number; an unknown number is a Fault.
func (s *snapshot) relation(id store.RelationID) relation {
	if int(id) >= len(s.graph.relations) {
		s.must(store.Invalidf("there is no relation %d", id))
	}
	return s.graph.relations[id]
}

func (s *snapshot) RelationName(id store.RelationID) string { return s.relation(id).name }

func (s *snapshot) RelationTriples(id store.RelationID) int { return s.relation(id).triples }

func (s *snapshot) RelationVector(id store.RelationID) []float32 { return s.relation(id).vector }

func (s *snapshot) Relation(_ context.Context, name string) (store.RelationID, bool, error) {
	id, ok := s.graph.byName[name]
	return id, ok, nil
}

// snapshotCache is what of a snapshot was read last. A snapshot never changes, so
// nothing of it goes stale.
type snapshotCache struct {
	entities *lru.Cache[store.EntityID, entity]
	shapes   *lru.Cache[store.EntityID, *shape]
	facts    *lru.Cache[store.TripleID, fact]
	vectors  *lru.Cache[store.TripleID, []float32]
	edges    *lru.Cache[entityDirection, []store.Edge]
}

// entity is what each row that names an entity holds about it.
type entity struct {
	name string
	kind store.Kind
	// key is empty if the name is the key.
	key string
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
	validity   store.Validity
	provenance string
}

// entityDirection names the edges of an entity in a direction.
type entityDirection struct {
	entity store.EntityID
	dir    store.Direction
}

// maxCachedEdges is the number of edges an entity may have for its list to be kept.
const maxCachedEdges = 2000

// newMemory divides some bytes: half for vectors, a quarter for entities, the
// rest for facts, edges and shapes.
func newMemory(bytes, dims int) snapshotCache {
	return snapshotCache{
		entities: cache[store.EntityID, entity](bytes / 4 / 200),
		shapes:   cache[store.EntityID, *shape](bytes / 16 / 400),
		facts:    cache[store.TripleID, fact](bytes / 8 / 150),
		vectors:  cache[store.TripleID, []float32](bytes / 2 / (4*dims + 150)),
		edges:    cache[entityDirection, []store.Edge](bytes / 16 / 400),
	}
}

// minCacheEntries is how much of each is kept at least: what one question reads.
const minCacheEntries = 4096

func cache[K comparable, V any](size int) *lru.Cache[K, V] {
	c, err := lru.New[K, V](max(size, minCacheEntries))
	if err != nil {
		panic(err) // of a size below 1 alone
	}
	return c
}

func isCorrupt(err error) bool { return errors.Is(err, store.ErrCorrupt) }

// splitCached parts numbers, each once, into what a cache holds and what must be read.
func splitCached[N comparable, V any](cache *lru.Cache[N, V], numbers []N) (found map[N]V, missing []N) {
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
