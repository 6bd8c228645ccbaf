package tests

import (
	"context"
	"io"
	"maps"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/mesh"
	"github.com/triplemesh/triplemesh/cmd/triplemesh/setup"
	"github.com/triplemesh/triplemesh/internal/config"
	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/mtls"
	"github.com/triplemesh/triplemesh/internal/testkit"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

// patience is the time after which a call counts as hanging.
const patience = 2 * time.Minute

// options configures the mesh to start.
type options struct {
	// data is the directory of knowledge graphs and runs; empty takes a copy of the tests' own.
	data string
	// cache is the directory of fetched files; empty takes the checkout's.
	cache string
	// model is the model server; nil if the test does not call it.
	model *testkit.LLM
	// targets are the services to run; none runs all.
	targets []string
	// certs enable mTLS on every connection; nil uses plain text.
	certs *testkit.Certs
	// substitute answers some calls in the model's place.
	substitute llm.Substitute
	// set has additional settings.
	set map[string]string
	// ports uses the configured ports instead of free ones.
	ports bool
	// http serves HTTP too, at a free port.
	http bool
	// log receives the services' logs; nil prints them if the test fails.
	log io.Writer
}

// running is a mesh that serves.
type running struct {
	mesh         *mesh.Mesh
	data         string
	certs        *testkit.Certs
	orchestrator orchestratorv1.OrchestratorServiceClient
	graphs       retrieverv1.KnowledgeGraphServiceClient
	stop         func()
}

// start runs a mesh until the test ends or stop is called.
func start(tb testing.TB, o options) *running {
	tb.Helper()
	if o.data == "" {
		o.data = graphs(tb)
	}
	if o.cache == "" {
		o.cache = filepath.Dir(filepath.Dir(testkit.Cache(tb, "encoder", "model.onnx")))
	}
	shown := &testkit.Log{}
	log := o.log
	if log == nil {
		log = shown
	}
	m, err := mesh.New(mesh.Options{
		Home: setup.Home{Cache: o.cache, Data: o.data}, Targets: o.targets,
		Sources: config.Sources{Set: settings(o)}, Private: !o.ports && !o.http, LogLevel: "error", Log: log,
		Substitute: o.substitute,
	})
	if err != nil {
		tb.Fatalf("configure the mesh: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- m.Run(ctx, func() { close(ready) }) }()
	stop := sync.OnceFunc(func() {
		cancel()
		select {
		case err := <-ended:
			if err != nil {
				tb.Errorf("the mesh ended with: %v", err)
			}
		case <-time.After(patience):
			tb.Errorf("the mesh does not stop")
		}
		if tb.Failed() {
			tb.Logf("log of the mesh:\n%s", shown)
		}
	})
	tb.Cleanup(stop)
	select {
	case <-ready:
	case err := <-ended:
		ended <- nil // for stop
		tb.Fatalf("the mesh ended before it served: %v\n%s", err, shown)
	}
	r := &running{mesh: m, data: o.data, certs: o.certs, stop: stop}
	r.graphs = retrieverv1.NewKnowledgeGraphServiceClient(r.dial(tb, "retriever"))
	if m.Addr("orchestrator") != "" {
		r.orchestrator = orchestratorv1.NewOrchestratorServiceClient(r.dial(tb, "orchestrator"))
	}
	return r
}

// settings disables what would hide a fault or slow a test down: the answer cache and long retry
// delays.
func settings(o options) map[string]string {
	set := map[string]string{
		"llm.cache.dir": "", "llm.cache.memory_entries": "0",
		"llm.retry_delay": "1ms", "llm.max_retry_delay": "1s",
		"llm.base_url": "http://127.0.0.1:1/v1", "llm.model": "none",
		// By default reflection would not call the scripted model.
		"reflector.reflection.mode": "model",
		"llm.reader":                "weak", // as the bundled model
		// A ranker would answer for the scripted model.
		"retriever.ranker": "off",
	}
	if o.model != nil {
		set["llm.base_url"], set["llm.model"] = o.model.URL(), "scripted"
	}
	if o.certs != nil {
		maps.Copy(set, o.certs.Settings())
	}
	if o.http {
		for _, name := range mesh.StageNames() {
			set[name+".server.addr"] = "127.0.0.1:0"
		}
		set["orchestrator.http.addr"] = "127.0.0.1:0"
	}
	maps.Copy(set, o.set)
	for key, value := range set {
		if value == "-" { // back to the default
			delete(set, key)
		}
	}
	return set
}

// dial connects to a service as an external caller does.
func (r *running) dial(tb testing.TB, name string) *grpc.ClientConn {
	tb.Helper()
	if r.certs == nil {
		return dial(tb, r.mesh.Addr(name))
	}
	secure, err := mtls.Visitor{CAFile: r.certs.Files().Visitor(name).CAFile}.Credentials(name)
	if err != nil {
		tb.Fatalf("dial the %s: %v", name, err)
	}
	return dialWith(tb, r.mesh.Addr(name), secure)
}

func dial(tb testing.TB, addr string) *grpc.ClientConn {
	tb.Helper()
	return dialWith(tb, addr, insecure.NewCredentials())
}

func dialWith(tb testing.TB, addr string, secure credentials.TransportCredentials) *grpc.ClientConn {
	tb.Helper()
	conn, err := grpc.NewClient("passthrough:///"+addr, grpc.WithTransportCredentials(secure))
	if err != nil {
		tb.Fatalf("dial %s: %v", addr, err)
	}
	tb.Cleanup(func() { conn.Close() })
	return conn
}

// timeoutContext returns a context for a call that must not hang.
func timeoutContext(tb testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(tb.Context(), d)
	tb.Cleanup(cancel)
	return ctx
}

// ask asks a question, and fails the test on an error.
func (r *running) ask(tb testing.TB, req *orchestratorv1.AskRequest) *orchestratorv1.Run {
	tb.Helper()
	resp, err := r.orchestrator.Ask(timeoutContext(tb, patience), req)
	if err != nil {
		tb.Fatalf("ask %q by %s: %v", req.GetQuestion(), req.GetMethod(), err)
	}
	return resp.GetRun()
}
