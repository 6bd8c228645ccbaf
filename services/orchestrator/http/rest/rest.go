// Package rest is the HTTP API: the methods of the contract as resources with JSON, streams as
// server-sent events, and the OpenAPI document.
package rest

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/encoding/protojson"

	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/http/problem"
	orchestratorgw "github.com/triplemesh/triplemesh/services/orchestrator/http/rest/gateway/triplemesh/orchestrator/v1"
	retrievergw "github.com/triplemesh/triplemesh/services/orchestrator/http/rest/gateway/triplemesh/retriever/v1"
)

// strict rejects unknown fields, which are often typos.
var strict = protojson.UnmarshalOptions{}

// api serves the operations of the OpenAPI document.
type api struct {
	routes    routes
	unary     *runtime.ServeMux
	streams   map[string]opener // by operation
	graphs    retrieverv1.KnowledgeGraphServiceClient
	heartbeat time.Duration
}

// New returns the API at /api/, which calls a mesh over conn with the outgoing metadata of each
// request's context. heartbeat is the interval of heartbeats on an idle stream. It is an error if
// the document and the gateway disagree.
func New(conn grpc.ClientConnInterface, heartbeat time.Duration) (http.Handler, error) {
	routes, err := readRoutes(document)
	if err != nil {
		return nil, err
	}
	conn = carrying{conn}
	unary := runtime.NewServeMux(
		runtime.WithMarshalerOption(runtime.MIMEWildcard, &runtime.JSONPb{UnmarshalOptions: strict}),
		runtime.WithErrorHandler(answerError),
		runtime.WithRoutingErrorHandler(answerMisrouted),
		// Headers do not become metadata, nor metadata headers.
		runtime.WithIncomingHeaderMatcher(never), runtime.WithOutgoingHeaderMatcher(never),
		runtime.WithOutgoingTrailerMatcher(never),
	)
	asking := orchestratorv1.NewOrchestratorServiceClient(conn)
	graphs := retrieverv1.NewKnowledgeGraphServiceClient(conn)
	ctx := context.Background()
	if err := errors.Join(orchestratorgw.RegisterOrchestratorServiceHandlerClient(ctx, unary, asking),
		orchestratorgw.RegisterFeedbackServiceHandlerClient(ctx, unary, orchestratorv1.NewFeedbackServiceClient(conn)),
		retrievergw.RegisterKnowledgeGraphServiceHandlerClient(ctx, unary, graphs),
		retrievergw.RegisterRetrieverServiceHandlerClient(ctx, unary,
			retrieverv1.NewRetrieverServiceClient(conn))); err != nil {
		return nil, err
	}
	a := &api{routes: routes, unary: unary, streams: openers(asking), graphs: graphs, heartbeat: heartbeat}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/openapi.json", serveDocument)
	mux.HandleFunc("/", a.serve)
	return mux, nil
}

func never(string) (string, bool) { return "", false }

// serve serves one request of an operation.
func (a *api) serve(w http.ResponseWriter, r *http.Request) {
	route, operation, ok := a.routes.find(w, r)
	if !ok {
		return
	}
	if !operation.takeQuery(w, r) {
		return
	}
	r = r.WithContext(carry(r.Context()))
	if operation.ID == uploads {
		a.upload(w, r, route.variable(r.URL.Path))
		return
	}
	body, ok := readBody(w, r)
	if !ok {
		return
	}
	if open, ok := a.streams[operation.ID]; ok {
		a.stream(w, r, body, open)
		return
	}
	a.unary.ServeHTTP(w, r)
}

// document is the OpenAPI document: see package openapi.
//
//go:embed openapi.json
var document []byte

// serveDocument serves the OpenAPI document without authentication: it reveals no data.
func serveDocument(w http.ResponseWriter, r *http.Request) {
	sum := sha256.Sum256(document)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("ETag", `"`+hex.EncodeToString(sum[:8])+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(document))
}

type metadataKey struct{}

// carry stores the outgoing metadata of a request's context, because the gateway would replace it
// with metadata from the headers.
func carry(ctx context.Context) context.Context {
	md, _ := metadata.FromOutgoingContext(ctx)
	return context.WithValue(ctx, metadataKey{}, md)
}

// carrying is a connection that sends exactly the metadata stored by carry.
type carrying struct{ grpc.ClientConnInterface }

func (c carrying) Invoke(ctx context.Context, method string, req, resp any, opts ...grpc.CallOption) error {
	return c.ClientConnInterface.Invoke(allowedMetadata(ctx), method, req, resp, opts...)
}

func (c carrying) NewStream(ctx context.Context, desc *grpc.StreamDesc, method string,
	opts ...grpc.CallOption) (grpc.ClientStream, error) {
	return c.ClientConnInterface.NewStream(allowedMetadata(ctx), desc, method, opts...)
}

func allowedMetadata(ctx context.Context) context.Context {
	md, _ := ctx.Value(metadataKey{}).(metadata.MD)
	return metadata.NewOutgoingContext(ctx, md.Copy())
}

// answerError responds with the problem of a failed RPC.
func answerError(_ context.Context, _ *runtime.ServeMux, _ runtime.Marshaler, w http.ResponseWriter, r *http.Request,
	err error) {
	if routed, ok := errors.AsType[*runtime.HTTPStatusError](err); ok {
		problem.Write(w, r, problem.New(routed.HTTPStatus, codes.InvalidArgument, "the request cannot be read: "+
			routed.Err.Error()))
		return
	}
	problem.Write(w, r, problemOf(err))
}

// answerMisrouted responds to a path that matches the document but not the gateway, such as one
// with a bad escape.
func answerMisrouted(_ context.Context, _ *runtime.ServeMux, _ runtime.Marshaler, w http.ResponseWriter,
	r *http.Request, status int) {
	problem.Write(w, r, problem.New(status, codes.InvalidArgument,
		"the path cannot be read; /api/openapi.json tells what there is"))
}

// problemOf returns the problem of an RPC error, with the JSON names of fields.
func problemOf(err error) problem.Problem {
	if body, ok := errors.AsType[unread](err); ok {
		return unreadable(body.error)
	}
	p := problem.FromError(err)
	for i, v := range p.Violations {
		p.Violations[i].Field = jsonPath(v.Field)
	}
	return p
}

var underscored = regexp.MustCompile(`_+.?`)

// jsonPath returns the JSON path of a field: "options.top_k" is "options.topK". A stream's request
// is nested in a message that callers do not see.
func jsonPath(field string) string {
	return underscored.ReplaceAllStringFunc(strings.TrimPrefix(field, "request."), func(s string) string {
		return strings.ToUpper(strings.TrimLeft(s, "_"))
	})
}
