package weaviate

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	pb "github.com/weaviate/weaviate/grpc/generated/protocol/v1"
	"google.golang.org/grpc"
	grpcbackoff "google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
)

// cluster holds the connections to the nodes.
type cluster struct {
	config Config
	conns  []*grpc.ClientConn // of the nodes, or one of all
	turn   atomic.Uint32
	http   *http.Client
	// lastHealthy is the place in config.HTTP of the node that answered last.
	lastHealthy atomic.Int32
	structures  structureDirs
}

// reconnect is short, so that a node that comes back is used again soon.
var reconnect = grpcbackoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2,
	MaxDelay: 2 * time.Second}

// largestMessage is what Weaviate sends at most by default.
const largestMessage = 100 << 20

func dial(cfg Config, options ...grpc.DialOption) (*cluster, error) {
	secure := insecure.NewCredentials()
	if cfg.TLS {
		secure = credentials.NewTLS(&tls.Config{MinVersion: tls.VersionTLS12})
	}
	dialing := []grpc.DialOption{
		grpc.WithTransportCredentials(secure),
		grpc.WithDisableServiceConfig(),
		// Where one name stands for all nodes. Calls are tried again by cluster.attempt alone.
		grpc.WithDefaultServiceConfig(`{"loadBalancingConfig": [{"round_robin": {}}]}`),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 20 * time.Second, Timeout: 5 * time.Second}),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(largestMessage), grpc.MaxCallSendMsgSize(largestMessage)),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: reconnect, MinConnectTimeout: 2 * time.Second}),
	}
	scheme := "dns:///"
	if len(cfg.GRPC) > 1 {
		// A pod that comes back has another address: it is looked up at each connection, not every 30 s.
		scheme = "passthrough:///"
	}
	c := &cluster{config: cfg, http: &http.Client{}, structures: structureDirs{inUse: map[string]*structureDir{}}}
	for _, address := range cfg.GRPC {
		conn, err := grpc.NewClient(scheme+address, append(dialing, options...)...)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("dial weaviate at %s: %w", address, err), c.close())
		}
		c.conns = append(c.conns, conn)
	}
	return c, nil
}

func (c *cluster) close() error {
	c.http.CloseIdleConnections()
	var errs []error
	for _, conn := range c.conns {
		errs = append(errs, conn.Close())
	}
	return errors.Join(errs...)
}

// attempts returns the clients of successive attempts of one call: those of different nodes, connected
// ones first, then those whose connection is being made, then the ones asked before. A node that cannot
// be reached is asked only if all cannot. In gRPC's round robin other calls take turns as well, so that
// a call that is tried again may meet the same node.
func (c *cluster) attempts() func() pb.WeaviateClient {
	const unreachable = math.MaxInt / 2
	turn := int(c.turn.Add(1) % uint32(len(c.conns)))
	asked := make([]int, len(c.conns))
	return func() pb.WeaviateClient {
		next, least := 0, math.MaxInt
		for i := range c.conns {
			i = (turn + i) % len(c.conns)
			rank := 2 * asked[i]
			switch c.conns[i].GetState() {
			case connectivity.Ready:
			case connectivity.Idle:
				c.conns[i].Connect()
				rank++
			case connectivity.Connecting:
				rank++
			default:
				rank += unreachable
			}
			if rank < least {
				next, least = i, rank
			}
		}
		asked[next]++
		return pb.NewWeaviateClient(c.conns[next])
	}
}

// search reads rows. It is tried again on another node, each attempt for no
// longer than the configured time.
func (c *cluster) search(ctx context.Context, req *pb.SearchRequest) ([]*pb.SearchResult, error) {
	req.Uses_127Api = true
	if req.ConsistencyLevel == nil {
		level := levels[c.config.Consistency]
		req.ConsistencyLevel = &level
	}
	var reply *pb.SearchReply
	err := c.attempt(ctx, "read collection "+req.Collection,
		func(ctx context.Context, node pb.WeaviateClient, options ...grpc.CallOption) (err error) {
			reply, err = node.Search(ctx, req, options...)
			return err
		})
	return reply.GetResults(), err
}

// count returns the number of rows that a filter matches; nil matches all.
func (c *cluster) count(ctx context.Context, collection string, filter *pb.Filters) (int, error) {
	var n int64
	err := c.attempt(ctx, "count collection "+collection, func(ctx context.Context, node pb.WeaviateClient,
		options ...grpc.CallOption) error {
		reply, err := node.Aggregate(ctx, &pb.AggregateRequest{Collection: collection, ObjectsCount: true,
			Filters: filter}, options...)
		n = reply.GetSingleResult().GetObjectsCount()
		return err
	})
	return int(n), err
}

// attempt tries a read, each time on another node, until it succeeds, its attempts are used up, or
// ctx ends. Weaviate reports most errors as Unknown, also those of a node that it cannot reach, and a
// node that is starting answers that it knows no collection before it has read which there are. So
// only those errors are final that the request itself is to blame for.
func (c *cluster) attempt(ctx context.Context, doing string,
	call func(context.Context, pb.WeaviateClient, ...grpc.CallOption) error) error {
	var last error
	next := c.attempts()
	for i := range c.config.Attempts {
		if i > 0 {
			if err := sleep(ctx, backoff(i)); err != nil {
				break
			}
		}
		var node peer.Peer
		trying, cancel := context.WithTimeout(c.authorized(ctx), c.config.Timeout)
		err := call(trying, next(), grpc.Peer(&node))
		cancel()
		if err == nil {
			return nil
		}
		if last = c.wrapError(doing, &node, err); !isRetryable(err) {
			return last
		}
		if ctx.Err() != nil {
			break
		}
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return last
}

func isRetryable(err error) bool {
	switch status.Code(err) {
	case codes.InvalidArgument, codes.Unauthenticated, codes.PermissionDenied, codes.Unimplemented:
		return false
	}
	return true
}

// wrapError adds the node, the operation and advice to an error.
func (c *cluster) wrapError(doing string, node *peer.Peer, err error) error {
	where := strings.Join(c.config.GRPC, ", ")
	if node.Addr != nil {
		where = node.Addr.String()
	}
	code := status.Code(err)
	hint := "see that node's log"
	switch code {
	case codes.Unknown, codes.Internal, codes.Aborted:
		code = codes.Unavailable
	case codes.Unavailable:
		hint = "see that the nodes of retriever.store.weaviate.grpc run"
	case codes.DeadlineExceeded:
		hint = "the node is overloaded, or retriever.store.weaviate.timeout too short"
	case codes.Unauthenticated, codes.PermissionDenied:
		hint = "see retriever.store.weaviate.api_key"
	}
	if strings.Contains(err.Error(), "could not find class") {
		hint = "the snapshot was dropped, or the node is starting"
	}
	message := err.Error()
	if s, ok := status.FromError(err); ok {
		message = s.Message()
	}
	return status.Errorf(code, "%s: weaviate at %s: %s; %s", doing, where, message, hint)
}

func (c *cluster) authorized(ctx context.Context) context.Context {
	if c.config.APIKey == "" {
		return ctx
	}
	return metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+c.config.APIKey)
}

// backoff is how long to wait before the i-th try again: 20 ms, doubled each
// time, up to half a second, and of that a half to all.
func backoff(i int) time.Duration {
	d := min(20*time.Millisecond<<min(i-1, 10), 500*time.Millisecond)
	return d/2 + rand.N(d/2)
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// firstError is the first error that is not of a context that ended because of another.
func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil && !errors.Is(err, context.Canceled) {
			return err
		}
	}
	return errors.Join(errs...)
}

// Config says which cluster holds the knowledge graphs, and how. Start from DefaultConfig.
type Config struct {
	// GRPC are host:port of the nodes, or one name of which DNS knows them all.
	GRPC []string `koanf:"grpc"`
	// HTTP are their base URLs, for the schema: "http://weaviate:8080".
	HTTP []string `koanf:"http"`
	// APIKey is sent with every call; empty sends none.
	APIKey string `koanf:"api_key"`
	// TLS secures gRPC. HTTP is secured by its URLs.
	TLS bool `koanf:"tls"`
	// Prefix begins the names of all collections, so that a cluster can be
	// shared: a capital and up to 20 letters and digits.
	Prefix string `koanf:"prefix"`
	// Dir is a directory of this machine. Loads put together there what they
	// then send, and the structures of open snapshots lie there.
	Dir string `koanf:"dir"`
	// Shards is into how many parts a collection is divided, 0 means one per
	// node. Replicas is the number of nodes that hold each part.
	Shards   int `koanf:"shards"`
	Replicas int `koanf:"replicas"`
	// Consistency is how many replicas a read asks: "ONE", "QUORUM" or "ALL". An
	// answer that does not add up is asked for again at the next level.
	Consistency string `koanf:"consistency"`
	// Timeout bounds one attempt of a read, Attempts how many there are. A
	// batch of a load has ten times as long.
	Timeout  time.Duration `koanf:"timeout"`
	Attempts int           `koanf:"attempts"`
	// Exact is up to how many triples a snapshot has an index that compares
	// every vector, by eight bits a component. A greater one has HNSW, whose search looks at EF candidates
	// and whose graph has Connections links a node, built with EFConstruction.
	Exact          int `koanf:"exact"`
	EF             int `koanf:"ef"`
	EFConstruction int `koanf:"ef_construction"`
	Connections    int `koanf:"connections"`
	// Batch is the number of rows sent at a time, InFlight how many batches at most are under way.
	Batch    int `koanf:"batch"`
	InFlight int `koanf:"in_flight"`
	// Grace is how long a dropped snapshot is kept for questions under way.
	Grace time.Duration `koanf:"grace"`
	// CacheBytes is about how much of the vectors of each open snapshot is remembered.
	CacheBytes int `koanf:"cache_bytes"`
}

// DefaultConfig is for a cluster of which no node is named yet.
func DefaultConfig() Config {
	return Config{
		Prefix: "Triplemesh", Replicas: 1, Consistency: "ONE",
		Timeout: 5 * time.Second, Attempts: 5,
		Exact: 100_000, EF: 256, EFConstruction: 128, Connections: 32,
		Batch: 500, InFlight: 8, Grace: time.Minute, CacheBytes: 256 << 20,
	}
}

var prefixes = regexp.MustCompile(`^[A-Z][A-Za-z0-9]{0,20}$`)

// Check returns an error for the first invalid setting. It is not called Validate: if
// another kind of store is configured, these settings may be empty.
func (c Config) Check() error {
	switch {
	case len(c.GRPC) == 0:
		return errors.New("weaviate.grpc is empty; name host:port of at least one node")
	case len(c.HTTP) == 0:
		return errors.New("weaviate.http is empty; name the URL of at least one node, such as http://weaviate:8080")
	case !prefixes.MatchString(c.Prefix):
		return fmt.Errorf("weaviate.prefix %q: want a capital and up to 20 letters and digits", c.Prefix)
	case c.Dir == "":
		return errors.New("weaviate.dir is empty; name a directory of this machine")
	case c.Shards < 0, c.Replicas < 1:
		return fmt.Errorf("weaviate.shards %d and replicas %d: want 0 or more and 1 or more", c.Shards, c.Replicas)
	case c.Timeout <= 0, c.Attempts < 1:
		return fmt.Errorf("weaviate.timeout %v and attempts %d: want more than 0", c.Timeout, c.Attempts)
	case c.EF < 1, c.EFConstruction < 4, c.Connections < 4:
		return fmt.Errorf("weaviate.ef %d, ef_construction %d and connections %d: want at least 1, 4 and 4", c.EF,
			c.EFConstruction, c.Connections)
	case c.Batch < 1, c.InFlight < 1:
		return fmt.Errorf("weaviate.batch %d and in_flight %d: want more than 0", c.Batch, c.InFlight)
	}
	if _, ok := levels[c.Consistency]; !ok {
		return fmt.Errorf("weaviate.consistency %q: want ONE, QUORUM or ALL", c.Consistency)
	}
	return nil
}

var levels = map[string]pb.ConsistencyLevel{
	"ONE":    pb.ConsistencyLevel_CONSISTENCY_LEVEL_ONE,
	"QUORUM": pb.ConsistencyLevel_CONSISTENCY_LEVEL_QUORUM,
	"ALL":    pb.ConsistencyLevel_CONSISTENCY_LEVEL_ALL,
}
