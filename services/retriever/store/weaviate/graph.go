package weaviate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	lru "github.com/hashicorp/golang-lru/v2"
	pb "github.com/weaviate/weaviate/grpc/generated/protocol/v1"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/singleflight"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// graph is an open snapshot, shared by all that read it.
type graph struct {
	cluster *cluster
	home    string
	entry   entry
	// refetch makes a copy of the structure be fetched even if there is one, for Verify.
	refetch bool
	// vectors are those that were read last. A snapshot never changes, so that none goes stale.
	vectors *lru.Cache[store.TripleID, []float32]

	// users counts the store, as the first, and the readers.
	users atomic.Int64
	// dropped reports whether the snapshot is no longer there.
	dropped atomic.Bool

	opening singleflight.Group
	// structure is the copy on this machine, nil before it is open.
	structure atomic.Pointer[structure]
}

// newGraph returns a graph with one user, the caller.
func newGraph(c *cluster, home string, e entry) *graph {
	// A vector comes with its place in the cache.
	vectors, err := lru.New[store.TripleID, []float32](max(c.config.CacheBytes/(4*e.Dims+150), minCachedVectors))
	if err != nil {
		panic(err) // of a size below 1 alone
	}
	g := &graph{cluster: c, home: home, entry: e, vectors: vectors}
	g.users.Store(1)
	return g
}

// minCachedVectors is what one question reads.
const minCachedVectors = 4096

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
	return g.closeStructure()
}

func (g *graph) collection(part string) string {
	return collection(g.home, g.entry.KG, g.entry.Number, part)
}

var errReleased = errors.New("the snapshot was released")

// open returns the structure, fetched if need be. A request that ends does not end the fetching, so
// that a large structure arrives even if every question has a shorter deadline.
func (g *graph) open(ctx context.Context) (*structure, error) {
	if there := g.structure.Load(); there != nil {
		return there, nil
	}
	done := g.opening.DoChan("", func() (any, error) {
		if !g.use() {
			return (*structure)(nil), errReleased
		}
		there, err := g.structure.Load(), error(nil)
		if there == nil {
			if there, err = g.openStructure(context.WithoutCancel(ctx)); err == nil {
				g.structure.Store(there)
			}
		}
		return there, errors.Join(err, g.release())
	})
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case opened := <-done:
		return opened.Val.(*structure), opened.Err
	}
}

// maxRows is the number of rows Weaviate answers at most.
const maxRows = 10_000

// query reads rows with some of their properties; vectors come with theirs.
func (g *graph) query(ctx context.Context, part string, properties []string, req *pb.SearchRequest) ([]row, error) {
	req.Collection = g.collection(part)
	req.Properties = &pb.PropertiesRequest{NonRefProperties: properties}
	req.Metadata = &pb.MetadataRequest{Uuid: true, Vector: part == vectorsPart}
	results, err := g.cluster.search(ctx, req)
	if err != nil {
		return nil, err
	}
	rows := make([]row, len(results))
	for i, result := range results {
		if rows[i], err = readRow(result); err != nil {
			return nil, fmt.Errorf("read collection %s: %w", req.Collection, err)
		}
	}
	return rows, nil
}

const (
	// rowsPerRequest is how many rows one request asks for.
	rowsPerRequest = 1000
	// maxParallel is how many requests are under way for one reader.
	maxParallel = 6
)

// readRows reads rows by their numbers, some at a time, and hands them out one after the other. Every
// number must come once.
func (g *graph) readRows(ctx context.Context, part string, properties []string, numbers []uint32,
	take func(row) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(maxParallel)
	chunks := slices.Collect(slices.Chunk(numbers, rowsPerRequest))
	answers := make([][]row, len(chunks))
	for i, chunk := range chunks {
		group.Go(func() error {
			return g.retryAtHigherLevels(func(level pb.ConsistencyLevel) (err error) {
				if answers[i], err = g.query(ctx, part, properties, &pb.SearchRequest{
					Filters: byNumbers(chunk), Limit: uint32(len(chunk)), ConsistencyLevel: &level,
				}); err != nil {
					return err
				}
				return checkRows(answers[i], g.collection(part), chunk)
			})
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for _, rows := range answers {
		for _, r := range rows {
			if err := take(r); err != nil {
				return fmt.Errorf("collection %s, row %d: %w", g.collection(part), r.number, err)
			}
		}
	}
	return nil
}

// checkRows reports whether rows are those of the numbers, each once.
func checkRows(rows []row, collection string, numbers []uint32) error {
	wanted := make(map[uint32]bool, len(numbers))
	for _, n := range numbers {
		wanted[n] = true
	}
	for _, r := range rows {
		if !wanted[r.number] {
			return fmt.Errorf("collection %s answers with row %d, which was not requested, or repeated: %w",
				collection, r.number, store.ErrCorrupt)
		}
		delete(wanted, r.number)
	}
	for n := range wanted {
		return fmt.Errorf("collection %s lacks row %d and %d others: %w", collection, n, len(wanted)-1,
			store.ErrCorrupt)
	}
	return nil
}

// retryAtHigherLevels reads until an answer adds up: first at the configured consistency,
// then, because a replica may have missed something, at higher ones.
func (g *graph) retryAtHigherLevels(read func(pb.ConsistencyLevel) error) error {
	var err error
	for level := levels[g.cluster.config.Consistency]; level <= pb.ConsistencyLevel_CONSISTENCY_LEVEL_ALL; level++ {
		if err = read(level); !errors.Is(err, store.ErrCorrupt) {
			return err
		}
		if g.cluster.config.Replicas == 1 {
			return err
		}
	}
	return err
}

// snapshot is one user's view of an open snapshot: its structure, and the vectors of its triples,
// which are in the cluster.
type snapshot struct {
	store.Snapshot
	graph *graph
	once  sync.Once
}

// Info implements store.Snapshot.
func (s *snapshot) Info() store.Info { return s.graph.entry.Info }

// Release implements store.Snapshot.
func (s *snapshot) Release() {
	s.once.Do(func() {
		// A failing unmap cannot be handled.
		_ = s.graph.release()
	})
}

func (s *snapshot) wrap(op string, err error) error {
	return store.WrapError(op, s.graph.entry.KG, s.graph.entry.Number, err)
}
