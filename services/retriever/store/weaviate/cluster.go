package weaviate

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	pb "github.com/weaviate/weaviate/grpc/generated/protocol/v1"
	"google.golang.org/grpc"
	grpcbackoff "google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/resolver"
	"google.golang.org/grpc/resolver/manual"
	"google.golang.org/grpc/status"
)

// cluster is the way to the nodes.
type cluster struct {
	config Config
	conn   *grpc.ClientConn
	rpc    pb.WeaviateClient
	http   *http.Client
	// answering is the place in config.HTTP of the node that answered last.
	answering atomic.Int32
}

// reconnect is short: a node that is back is wanted back.
var reconnect = grpcbackoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 2 * time.Second}

// largestMessage is what Weaviate sends at most by default.
const largestMessage = 100 << 20

func dial(cfg Config, options ...grpc.DialOption) (*cluster, error) {
	secure := insecure.NewCredentials()
	if cfg.TLS {
		secure = credentials.NewTLS(&tls.Config{MinVersion: tls.VersionTLS12})
	}
	target := "dns:///" + cfg.GRPC[0]
	dialing := []grpc.DialOption{
		grpc.WithTransportCredentials(secure),
		grpc.WithDisableServiceConfig(),
		// Calls are tried again by cluster.attempt alone.
		grpc.WithDefaultServiceConfig(`{"loadBalancingConfig": [{"round_robin": {}}]}`),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 20 * time.Second, Timeout: 5 * time.Second}),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(largestMessage), grpc.MaxCallSendMsgSize(largestMessage)),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: reconnect, MinConnectTimeout: 2 * time.Second}),
	}
	if len(cfg.GRPC) > 1 {
		nodes := manual.NewBuilderWithScheme("weaviate")
		var state resolver.State
		for _, address := range cfg.GRPC {
			state.Addresses = append(state.Addresses, resolver.Address{Addr: address})
		}
		nodes.InitialState(state)
		target = "weaviate:///nodes"
		dialing = append(dialing, grpc.WithResolvers(nodes))
	}
	conn, err := grpc.NewClient(target, append(dialing, options...)...)
	if err != nil {
		return nil, fmt.Errorf("dial weaviate at %s: %w", strings.Join(cfg.GRPC, ", "), err)
	}
	return &cluster{config: cfg, conn: conn, rpc: pb.NewWeaviateClient(conn), http: &http.Client{}}, nil
}

func (c *cluster) close() error {
	c.http.CloseIdleConnections()
	return c.conn.Close()
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
	err := c.attempt(ctx, "read collection "+req.Collection, func(ctx context.Context, options ...grpc.CallOption) (err error) {
		reply, err = c.rpc.Search(ctx, req, options...)
		return err
	})
	return reply.GetResults(), err
}

// count counts the rows that a filter lets through; nil lets all.
func (c *cluster) count(ctx context.Context, collection string, filter *pb.Filters) (int, error) {
	var n int64
	err := c.attempt(ctx, "count collection "+collection, func(ctx context.Context, options ...grpc.CallOption) error {
		reply, err := c.rpc.Aggregate(ctx, &pb.AggregateRequest{Collection: collection, ObjectsCount: true, Filters: filter}, options...)
		n = reply.GetSingleResult().GetObjectsCount()
		return err
	})
	return int(n), err
}

// attempt tries a read until it succeeds, its attempts are used up, or ctx
// ends. Weaviate tells most errors as Unknown, also those of a node that it
// cannot reach, and a node that is starting answers that it knows no collection
// before it has read which there are. So only those errors are final that the
// request itself is to blame for.
func (c *cluster) attempt(ctx context.Context, doing string, call func(context.Context, ...grpc.CallOption) error) error {
	var last error
	for i := range c.config.Attempts {
		if i > 0 {
			if err := sleep(ctx, backoff(i)); err != nil {
				break
			}
		}
		var node peer.Peer
		trying, cancel := context.WithTimeout(c.authorized(ctx), c.config.Timeout)
		err := call(trying, grpc.Peer(&node))
		cancel()
		if err == nil {
			return nil
		}
		if last = c.failed(doing, &node, err); !again(err) {
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

func again(err error) bool {
	switch status.Code(err) {
	case codes.InvalidArgument, codes.Unauthenticated, codes.PermissionDenied, codes.Unimplemented:
		return false
	}
	return true
}

// failed says which node did not do what, and what to do about it.
func (c *cluster) failed(doing string, node *peer.Peer, err error) error {
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

// firstError is the first error that is not of a context that ended because of
// another.
func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil && !errors.Is(err, context.Canceled) {
			return err
		}
	}
	return errors.Join(errs...)
}
