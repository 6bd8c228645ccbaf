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

	"github.com/triplemesh/triplemesh/cmd/triplemesh/home"
	"github.com/triplemesh/triplemesh/cmd/triplemesh/mesh"
	"github.com/triplemesh/triplemesh/internal/config"
	"github.com/triplemesh/triplemesh/internal/mtls"
	"github.com/triplemesh/triplemesh/internal/testkit"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

// patience is how long anything may take before it counts as hanging.
const patience = 2 * time.Minute

// options say what mesh to start.
type options struct {
	// data is where knowledge graphs and runs are; empty takes a copy of those
	// of the tests.
	data string
	// cache is where fetched files are; empty takes the checkout's.
	cache string
	// model answers; nil for a model server that nobody needs.
	model *testkit.LLM
	// targets are the services; none are all.
	targets []string
	// certs secure every connection; nil leaves them plain.
	certs *testkit.Certs
	// set are settings beside those of the harness.
	set map[string]string
	// ports takes the configured ones instead of free ones.
	ports bool
	// http serves HTTP too, at a free port.
	http bool
	// log takes what the services log; nil shows it where the test fails.
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

// start runs a mesh until the test ends, or stop is called.
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
		Home: home.Home{Cache: o.cache, Data: o.data}, Targets: o.targets,
		Sources: config.Sources{Set: settings(o)}, Private: !o.ports && !o.http, Quiet: true, Log: log,
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
			tb.Logf("what the mesh logged:\n%s", shown)
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

// settings leave out what would hide a fault or slow a test down: the cache of
// answers, and long pauses between retries.
func settings(o options) map[string]string {
	set := map[string]string{
		"llm.cache.dir": "", "llm.cache.memory_entries": "0",
		"llm.retry_delay": "1ms", "llm.max_retry_delay": "1s",
		"llm.base_url": "http://127.0.0.1:1/v1", "llm.model": "none",
		// The scripted model can reflect; by default it would not be asked to.
		"reflector.reflection.mode": "model",
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
		if value == "-" { // as if it had never been set
			delete(set, key)
		}
	}
	return set
}

// dial is a connection to a service, as a caller from outside makes it.
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

// within is a context for a call that must not hang.
func within(tb testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(tb.Context(), d)
	tb.Cleanup(cancel)
	return ctx
}

// ask answers a question, or fails the test.
func (r *running) ask(tb testing.TB, req *orchestratorv1.AskRequest) *orchestratorv1.Run {
	tb.Helper()
	resp, err := r.orchestrator.Ask(within(tb, patience), req)
	if err != nil {
		tb.Fatalf("ask %q by %s: %v", req.GetQuestion(), req.GetMethod(), err)
	}
	return resp.GetRun()
}
