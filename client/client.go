// Package client connects Go programs to a mesh.
//
//	mesh, err := client.Dial("127.0.0.1:9090", client.WithKG("wikidata"))
//	run, err := mesh.Ask(ctx, &orchestratorv1.AskRequest{Question: "What institution employed Robert Stam?"})
//
// Requests and results are the messages of the contract. Errors are gRPC statuses; [Reason] tells
// errors of one code apart. Idempotent calls are retried if they fail with UNAVAILABLE, or with
// RESOURCE_EXHAUSTED and a delay after which to retry.
package client

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"iter"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

// Client is a connection to a mesh. It is safe for concurrent use.
type Client struct {
	// The services, for calls that have no method here. All are served at one address: the
	// orchestrator forwards the retriever's.
	Orchestrator    orchestratorv1.OrchestratorServiceClient
	Feedback        orchestratorv1.FeedbackServiceClient
	Retriever       retrieverv1.RetrieverServiceClient
	KnowledgeGraphs retrieverv1.KnowledgeGraphServiceClient

	conn *grpc.ClientConn
	kg   *graphv1.KnowledgeGraphRef
}

// Option configures a Client.
type Option func(*options)

type options struct {
	tls           *tls.Config
	token         string
	insecureToken bool
	kg            string
	attempts      int
	dial          []grpc.DialOption
}

// WithTLS encrypts the connection; an empty configuration verifies the server by the system's
// authorities. See [LoadTLS].
func WithTLS(config *tls.Config) Option { return func(o *options) { o.tls = config } }

// WithToken sends a token with every call: over TLS, or to this machine.
func WithToken(token string) Option { return func(o *options) { o.token = token } }

// WithInsecureToken sends the token in plaintext to other machines too.
func WithInsecureToken() Option { return func(o *options) { o.insecureToken = true } }

// WithKG sets the knowledge graph of questions and texts that name none.
func WithKG(name string) Option { return func(o *options) { o.kg = name } }

// WithAttempts sets the maximum number of attempts of a call, 1 to 5; the default is 4.
func WithAttempts(n int) Option { return func(o *options) { o.attempts = n } }

// WithDialOptions adds options of gRPC, such as an OpenTelemetry stats handler.
func WithDialOptions(opts ...grpc.DialOption) Option {
	return func(o *options) { o.dial = append(o.dial, opts...) }
}

// maxMessage is the message limit of the servers in bytes.
const maxMessage = 64 << 20

// Dial returns a client of the orchestrator at target, host:port or a gRPC target. It connects with
// the first call. The caller must close it.
func Dial(target string, opts ...Option) (*Client, error) {
	o := options{attempts: 4}
	for _, opt := range opts {
		opt(&o)
	}
	if o.attempts < 1 || o.attempts > 5 {
		return nil, fmt.Errorf("dial %s: %d attempts; use 1 to 5", target, o.attempts)
	}
	credentials, err := makeCredentials(target, o)
	if err != nil {
		return nil, fmt.Errorf("dial %s: %w", target, err)
	}
	dial := append([]grpc.DialOption{
		grpc.WithDefaultServiceConfig(serviceConfig(o.attempts)),
		grpc.WithChainUnaryInterceptor(retryRefused(o.attempts)),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage), grpc.MaxCallSendMsgSize(maxMessage)),
	}, credentials...)
	conn, err := grpc.NewClient(target, append(dial, o.dial...)...)
	if err != nil {
		return nil, fmt.Errorf("dial %s: %w", target, err)
	}
	c := &Client{
		Orchestrator:    orchestratorv1.NewOrchestratorServiceClient(conn),
		Feedback:        orchestratorv1.NewFeedbackServiceClient(conn),
		Retriever:       retrieverv1.NewRetrieverServiceClient(conn),
		KnowledgeGraphs: retrieverv1.NewKnowledgeGraphServiceClient(conn),
		conn:            conn,
	}
	if o.kg != "" {
		c.kg = &graphv1.KnowledgeGraphRef{Name: o.kg}
	}
	return c, nil
}

// Close closes the connection and cancels the calls in flight.
func (c *Client) Close() error { return c.conn.Close() }

// Ask answers a question.
func (c *Client) Ask(ctx context.Context, req *orchestratorv1.AskRequest) (*orchestratorv1.Run, error) {
	resp, err := c.Orchestrator.Ask(ctx, c.withKG(req))
	return resp.GetRun(), err
}

// AskStream answers a question and yields an event when a stage starts or finishes and for each
// piece of the text; the last event is the run. Ending the iteration cancels the question.
func (c *Client) AskStream(ctx context.Context,
	req *orchestratorv1.AskRequest) iter.Seq2[*orchestratorv1.AskStreamResponse, error] {
	return func(yield func(*orchestratorv1.AskStreamResponse, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		stream, err := c.Orchestrator.AskStream(ctx, &orchestratorv1.AskStreamRequest{Request: c.withKG(req)})
		for err == nil {
			var event *orchestratorv1.AskStreamResponse
			if event, err = stream.Recv(); err == nil && !yield(event, nil) {
				return
			}
		}
		if !errors.Is(err, io.EOF) {
			yield(nil, err)
		}
	}
}

// Check checks a text claim by claim.
func (c *Client) Check(ctx context.Context, req *orchestratorv1.CheckRequest) (*orchestratorv1.Check, error) {
	if req.GetKg() == nil && c.kg != nil {
		req = proto.CloneOf(req)
		req.Kg = c.kg
	}
	resp, err := c.Orchestrator.Check(ctx, req)
	return resp.GetCheck(), err
}

// Runs yields the past runs that a request selects, newest first, and fetches its further pages.
func (c *Client) Runs(ctx context.Context, req *orchestratorv1.ListRunsRequest) iter.Seq2[*orchestratorv1.Run, error] {
	return func(yield func(*orchestratorv1.Run, error) bool) {
		page := proto.CloneOf(req)
		for {
			resp, err := c.Orchestrator.ListRuns(ctx, page)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, run := range resp.GetRuns() {
				if !yield(run, nil) {
					return
				}
			}
			if page.PageToken = resp.GetNextPageToken(); page.PageToken == "" {
				return
			}
		}
	}
}

// withKG returns a request with the client's knowledge graph if it names none.
func (c *Client) withKG(req *orchestratorv1.AskRequest) *orchestratorv1.AskRequest {
	if req.GetKg() != nil || c.kg == nil {
		return req
	}
	req = proto.CloneOf(req)
	req.Kg = c.kg
	return req
}
