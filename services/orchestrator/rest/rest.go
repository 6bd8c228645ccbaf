// Package rest is the HTTP API: the methods of the contract as resources with
// JSON, streams of answers as server-sent events, and the OpenAPI document that
// says all of it.
package rest

import (
	"context"
	"net/http"
	"time"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protojson"

	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	orchestratorgw "github.com/triplemesh/triplemesh/services/orchestrator/rest/gateway/triplemesh/orchestrator/v1"
	retrievergw "github.com/triplemesh/triplemesh/services/orchestrator/rest/gateway/triplemesh/retriever/v1"
)

// strict refuses what a message does not have: a name with a typo in it would
// else be passed over.
var strict = protojson.UnmarshalOptions{}

// api answers what the OpenAPI document has.
type api struct {
	routes    routes
	unary     *runtime.ServeMux
	streams   map[string]opener // by operation
	graphs    retrieverv1.KnowledgeGraphServiceClient
	heartbeat time.Duration
}

// New makes the API at /api/, which calls a mesh over conn with what the context
// of each request sends along. heartbeat is how often a stream with no news says
// that it is there. The error is one of the build.
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
		// No header becomes metadata, nor the other way about.
		runtime.WithIncomingHeaderMatcher(never), runtime.WithOutgoingHeaderMatcher(never), runtime.WithOutgoingTrailerMatcher(never),
	)
	asking := orchestratorv1.NewOrchestratorServiceClient(conn)
	graphs := retrieverv1.NewKnowledgeGraphServiceClient(conn)
	for _, register := range []func() error{
		func() error {
			return orchestratorgw.RegisterOrchestratorServiceHandlerClient(context.Background(), unary, asking)
		},
		func() error {
			return retrievergw.RegisterKnowledgeGraphServiceHandlerClient(context.Background(), unary, graphs)
		},
		func() error {
			return retrievergw.RegisterRetrieverServiceHandlerClient(context.Background(), unary, retrieverv1.NewRetrieverServiceClient(conn))
		},
	} {
		if err := register(); err != nil {
			return nil, err
		}
	}
	a := &api{routes: routes, unary: unary, streams: openers(asking), graphs: graphs, heartbeat: heartbeat}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/openapi.json", serveDocument)
	mux.HandleFunc("/", a.serve)
	return mux, nil
}

func never(string) (string, bool) { return "", false }

// serve answers one request of what the document has.
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
