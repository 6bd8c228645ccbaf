package weaviate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"

	pb "github.com/weaviate/weaviate/grpc/generated/protocol/v1"
	"golang.org/x/sync/errgroup"

	"github.com/triplemesh/triplemesh/services/retriever/nameindex"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// graph is an open snapshot, shared by all who read it. It keeps the relations
// and the name index whole, and of the rest what was read last.
type graph struct {
	cluster *cluster
	home    string
	entry   entry
	// anew says that nothing of this machine is used but what was just read.
	anew bool
	memory

	// users counts the store, as the first, and the readers.
	users atomic.Int64
	// dropped says that the snapshot is no longer there.
	dropped atomic.Bool

	loading   sync.Mutex
	loaded    bool
	relations []relation
	byName    map[string]store.RelationID
	names     *nameindex.Index
	unmap     func() error
}

// relation is one, with its vector, nil where there are none.
type relation struct {
	name    string
	triples int
	vector  []float32
}

// newGraph returns a graph that only its maker uses.
func newGraph(c *cluster, home string, e entry) *graph {
	g := &graph{cluster: c, home: home, entry: e, memory: newMemory(c.config.CacheBytes, e.Dims)}
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

// release takes a user off; the last one closes the files.
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

// relationRows is how many relations are read at a time: with vectors some 2
// KiB each.
const relationRows = 1000

func (g *graph) readRelations(ctx context.Context) ([]relation, error) {
	relations, dims := make([]relation, g.entry.Relations), g.entry.Dims
	seen := 0
	for from := 0; from < len(relations); from += relationRows {
		rows, err := g.rows(ctx, relationsPart, between(propNumber, int64(from), int64(from+relationRows)), relationRows, dims > 0)
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
		return nil, fmt.Errorf("collection %s has %d relations, want %d: %w", g.collection(relationsPart), seen, len(relations), store.ErrCorrupt)
	}
	return relations, nil
}

// most is how many rows Weaviate answers at most.
const most = 10_000

// rows reads the rows of a collection that a filter lets through.
func (g *graph) rows(ctx context.Context, part string, filter *pb.Filters, limit int, vectors bool) ([]*row, error) {
	return g.rowsAt(ctx, part, filter, limit, vectors, levels[g.cluster.config.Consistency])
}

func (g *graph) rowsAt(ctx context.Context, part string, filter *pb.Filters, limit int, vectors bool, level pb.ConsistencyLevel) ([]*row, error) {
	return g.ask(ctx, part, &pb.SearchRequest{
		Filters: filter, Limit: uint32(limit), ConsistencyLevel: &level,
		Metadata: &pb.MetadataRequest{Uuid: true, Vector: vectors},
	})
}

// wanted are the properties that are read; those by which rows are found alone
// stay where they are.
var wanted = map[string][]string{
	factsPart:     {propTriple, propPlace, propSubject, propRelation, propObject, propValidity, propEnds, propNames},
	entitiesPart:  {propNumber, propName, propShape, propOut, propIn},
	relationsPart: {propNumber, propName, propCount},
	namesPart:     {propNumber, propData},
}

func (g *graph) ask(ctx context.Context, part string, req *pb.SearchRequest) ([]*row, error) {
	req.Collection = g.collection(part)
	req.Properties = &pb.PropertiesRequest{NonRefProperties: wanted[part]}
	results, err := g.cluster.search(ctx, req)
	if err != nil {
		return nil, err
	}
	rows := make([]*row, len(results))
	for i, result := range results {
		rows[i] = read(req.Collection, result)
	}
	return rows, nil
}

// surely reads until an answer adds up: first at the configured consistency,
// then, because a replica may have missed something, at higher ones.
func (g *graph) surely(read func(pb.ConsistencyLevel) error) error {
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
