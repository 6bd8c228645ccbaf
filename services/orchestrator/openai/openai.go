// Package openai is the door for programs that know OpenAI's API and nothing
// else: every method of the orchestrator is a model, a conversation's last
// question is asked, and the answer comes as a chat completion. What OpenAI has
// no field for stands in one named "triplemesh".
package openai

import (
	"net/http"
	"time"

	"google.golang.org/grpc"

	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

// Config is how the door behaves.
type Config struct {
	// Heartbeat is how often a stream that has nothing to tell says that it is
	// there; 0 takes 15 s.
	Heartbeat time.Duration
}

// door answers OpenAI's requests.
type door struct {
	orchestrator orchestratorv1.OrchestratorServiceClient
	graphs       retrieverv1.KnowledgeGraphServiceClient
	heartbeat    time.Duration
	opened       time.Time
}

// New returns the handler of /v1/models and /v1/chat/completions, which calls
// the orchestrator and what it forwards by conn. Who calls is in the context of
// the request.
func New(conn grpc.ClientConnInterface, cfg Config) http.Handler {
	d := &door{
		orchestrator: orchestratorv1.NewOrchestratorServiceClient(conn),
		graphs:       retrieverv1.NewKnowledgeGraphServiceClient(conn),
		heartbeat:    cfg.Heartbeat,
		opened:       time.Now(),
	}
	if d.heartbeat <= 0 {
		d.heartbeat = 15 * time.Second
	}
	mux := http.NewServeMux()
	mux.Handle("GET /v1/models", handler(d.list))
	mux.Handle("GET /v1/models/{id...}", handler(d.retrieve))
	mux.Handle("POST /v1/chat/completions", handler(d.complete))
	mux.Handle("/", handler(unknown))
	return mux
}

// handler answers a request, or returns why it cannot.
type handler func(http.ResponseWriter, *http.Request) error

func (h handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := h(w, r); err != nil && r.Context().Err() == nil {
		failureOf(err).write(w)
	}
}

// unknown refuses what the API of OpenAI has and this door has not.
func unknown(w http.ResponseWriter, r *http.Request) error {
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		if known[r.URL.Path] == method && r.Method != method {
			w.Header().Set("Allow", method)
			return &failure{status: http.StatusMethodNotAllowed, Type: invalidRequest, Code: "method_not_allowed",
				Message: "use " + method + " for " + r.URL.Path}
		}
	}
	return &failure{status: http.StatusNotFound, Type: invalidRequest, Code: "unknown_url",
		Message: "there is nothing at " + r.URL.Path + ": this server has /v1/models and /v1/chat/completions"}
}

// known are the paths with the methods that they take.
var known = map[string]string{"/v1/models": http.MethodGet, "/v1/chat/completions": http.MethodPost}
