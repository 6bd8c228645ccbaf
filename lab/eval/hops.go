package eval

import (
	"context"
	"sync"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/lab/dataset"
	"github.com/triplemesh/triplemesh/lab/results"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

// PathFinder finds shortest paths: a retriever's client.
type PathFinder interface {
	FindShortestPaths(ctx context.Context, in *retrieverv1.FindShortestPathsRequest,
		opts ...grpc.CallOption) (*retrieverv1.FindShortestPathsResponse, error)
}

// hops finds out how many triples lie between a question and its answers. It
// asks once for each question and knowledge graph. Safe for concurrent use.
type hops struct {
	finder PathFinder // nil finds nothing

	missing atomic.Bool // set once the retriever does not know the call
	mu      sync.Mutex
	known   map[hopsKey]int
}

type hopsKey struct {
	dataset, kg, id string
}

func newHops(finder PathFinder) *hops {
	return &hops{finder: finder, known: make(map[hopsKey]int)}
}

// The contract's bounds on names of one request.
const (
	maxFrom = 64
	maxTo   = 1024
)

// remember takes over what an earlier command found out.
func (h *hops) remember(m results.Manifest, r results.Record) {
	if r.Hops != nil {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.known[hopsKey{m.Dataset.SHA256, m.KG, r.ID}] = *r.Hops
	}
}

// count returns the number of hops of a question: the dataset's, where it says; else
// the length of the shortest walk from a topic entity to an answer, in the
// knowledge graph asked, and 0 if there is none. It is nil if it cannot
// be known: without topic entities or knowledge graph, or where the retriever
// does not say. That is no failure of the question.
func (h *hops) count(ctx context.Context, m results.Manifest, q dataset.Question) *int {
	if q.Hops > 0 {
		return new(q.Hops)
	}
	if h.finder == nil || h.missing.Load() || m.KG == "" || len(q.TopicEntities) == 0 || q.Kind == dataset.Open {
		return nil
	}
	key := hopsKey{m.Dataset.SHA256, m.KG, q.ID}
	h.mu.Lock()
	n, known := h.known[key]
	h.mu.Unlock()
	if known {
		return &n
	}
	to := q.Names()
	response, err := h.finder.FindShortestPaths(ctx, &retrieverv1.FindShortestPathsRequest{
		Kg:   kgRef(results.KG{Name: m.KG, Snapshot: m.Snapshot}),
		From: q.TopicEntities[:min(len(q.TopicEntities), maxFrom)],
		To:   to[:min(len(to), maxTo)], Limit: 1,
	})
	if err != nil {
		h.missing.CompareAndSwap(false, status.Code(err) == codes.Unimplemented)
		return nil
	}
	for _, path := range response.GetPaths() {
		if length := len(path.GetSteps()); n == 0 || length < n {
			n = length
		}
	}
	if n == 0 && response.GetTruncated() {
		return nil // the search was cut short: a walk may be there
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.known[key] = n
	return &n
}
