package mesh

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/setup"
	"github.com/triplemesh/triplemesh/internal/config"
	"github.com/triplemesh/triplemesh/internal/testkit"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/runs"
)

// options returns those of a mesh with folders, ports and a model of its own.
func options(t *testing.T, set map[string]string) Options {
	t.Helper()
	o := Options{
		Home: setup.Home{Cache: t.TempDir(), Data: t.TempDir()}, Private: true, LogLevel: "error", Log: &bytes.Buffer{},
		Sources: config.Sources{Set: map[string]string{"llm.base_url": "http://127.0.0.1:1/v1", "llm.model": "m"}},
	}
	maps.Copy(o.Sources.Set, set)
	return o
}

// runMesh runs a mesh until ctx ends. ready is closed when it serves; ended receives how it ended.
func runMesh(ctx context.Context, m *Mesh) (ready <-chan struct{}, ended <-chan error) {
	serves, ends := make(chan struct{}), make(chan error, 1)
	go func() { ends <- m.Run(ctx, func() { close(serves) }) }()
	return serves, ends
}

func TestAQuestionGoesThroughTheMesh(t *testing.T) {
	model := testkit.NewLLM(t)
	model.On(testkit.Contains("Who wrote the first program?")).Reply("{Ada Lovelace}")
	o := options(t, map[string]string{"llm.base_url": model.URL()})
	o.Home.Cache = filepath.Dir(filepath.Dir(testkit.Cache(t, "encoder", "model.onnx")))
	o.Sources.Set["llm.cache.dir"] = t.TempDir()
	m, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ready, ended := runMesh(ctx, m)
	select {
	case <-ready:
	case err := <-ended:
		t.Fatalf("the mesh ended: %v", err)
	}
	for _, name := range StageNames() {
		if err := Serving(ctx, m.Addr(name), insecure.NewCredentials()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	conn, err := grpc.NewClient("passthrough:///"+m.Addr("orchestrator"),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	resp, err := orchestratorv1.NewOrchestratorServiceClient(conn).Ask(ctx,
		&orchestratorv1.AskRequest{Question: "Who wrote the first program?", Method: "io"})
	if err != nil {
		t.Fatal(err)
	}
	if got := resp.GetRun().GetAnswers(); len(got) != 1 || got[0].GetAnswer() != "Ada Lovelace" {
		t.Errorf("got %v", got)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("the mesh ended with: %v", err)
	}
	if err := Serving(t.Context(), m.Addr("orchestrator"), insecure.NewCredentials()); err == nil {
		t.Error("it still serves")
	}
}

func TestAPrivateMeshRunsBesideOneWithTheSameRunDatabase(t *testing.T) {
	o := options(t, nil)
	o.Home.Cache = filepath.Dir(filepath.Dir(testkit.Cache(t, "encoder", "model.onnx")))
	db, err := runs.Open(filepath.Join(o.Home.Data, "runs.db"), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	m, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	served := false
	if err := m.Run(ctx, func() { served = true; cancel() }); err != nil || !served {
		t.Errorf("served %t, %v", served, err)
	}
	if log := o.Log.(*bytes.Buffer).String(); !strings.Contains(log, "runs.db open") {
		t.Errorf("the log lacks a notice: %s", log)
	}
}

func TestAStageThatCannotStartEndsTheMesh(t *testing.T) {
	o := options(t, nil)
	m, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	err = m.Run(t.Context(), func() { t.Error("it says it is ready") })
	if err == nil || !strings.Contains(err.Error(), "run the retriever") {
		t.Errorf("got %v, want the retriever's missing encoder", err)
	}
}

func TestAnEarlyEndIsNoError(t *testing.T) {
	o := options(t, nil)
	o.Targets = []string{"verifier", "generator"}
	m, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := m.Run(ctx, func() {}); err != nil {
		t.Errorf("got %v", err)
	}
}

func TestNewGivesBackThePortsItTook(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	free := testkit.FreeAddr(t)
	o := options(t, map[string]string{"reflector.server.addr": free, "generator.server.addr": taken.Addr().String()})
	o.Private, o.Targets = false, []string{"reflector", "generator"}
	if _, err := New(o); err == nil || !strings.Contains(err.Error(), "generator.server.addr") {
		t.Fatalf("got %v, want the port that is taken", err)
	}
	l, err := net.Listen("tcp", free)
	if err != nil {
		t.Fatalf("the reflector's port is not free again: %v", err)
	}
	l.Close()
}

func TestAPortOfHTTPThatIsTaken(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	o := options(t, map[string]string{"orchestrator.server.addr": "127.0.0.1:0",
		"orchestrator.http.addr": taken.Addr().String()})
	o.Private, o.Targets = false, []string{"orchestrator"}
	if _, err := New(o); err == nil || !strings.Contains(err.Error(), "orchestrator.http.addr") ||
		strings.Contains(err.Error(), "orchestrator.server.addr") {
		t.Errorf("got %v, want the setting that mends it", err)
	}
	for addr, private := range map[string]bool{"": false, "127.0.0.1:0": true} {
		o.Sources.Set["orchestrator.http.addr"], o.Private = addr, private
		m, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		if m.URL() != "" {
			t.Errorf("HTTP is served at %s, with the address %q and private %v", m.URL(), addr, private)
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
	o.Sources.Set["orchestrator.http.addr"], o.Private = "127.0.0.1:0", false
	m, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(m.URL(), "http://127.0.0.1:") {
		t.Errorf("HTTP is at %q", m.URL())
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
}

func TestTargets(t *testing.T) {
	tests := []struct {
		name  string
		asked []string
		want  string
	}{
		{"none are all, the orchestrator last", nil, "reflector evaluator verifier retriever generator orchestrator"},
		{"all are all", []string{"verifier", "all"}, "reflector evaluator verifier retriever generator orchestrator"},
		{"some are some", []string{"orchestrator", "verifier"}, "verifier orchestrator"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := targets(tt.asked)
			if err != nil || strings.Join(got, " ") != tt.want {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
	if _, err := targets([]string{"kitchen"}); err == nil || !strings.Contains(err.Error(), "retriever") {
		t.Errorf("got %v, want the services there are", err)
	}
}

func TestPlan(t *testing.T) {
	o := options(t, map[string]string{"retriever.server.addr": "0.0.0.0:7", "evaluator.llm.model": "judge",
		"evaluator.llm.base_url": "http://127.0.0.1:2/v1"})
	p, err := ReadPlan(o)
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Addr("retriever"); got != "127.0.0.1:7" {
		t.Errorf("the retriever is reached at %s", got)
	}
	endpoints, local := p.Endpoints()
	if len(endpoints) != 2 || local {
		t.Errorf("got %v, local %v", endpoints, local)
	}
	t.Run("a service without an endpoint needs the local model", func(t *testing.T) {
		o := options(t, map[string]string{"llm.base_url": "", "llm.model": ""})
		delete(o.Sources.Set, "llm.base_url")
		delete(o.Sources.Set, "llm.model")
		p, err := ReadPlan(o)
		if err != nil {
			t.Fatal(err)
		}
		if endpoints, local := p.Endpoints(); len(endpoints) != 0 || !local {
			t.Errorf("got %v, local %v", endpoints, local)
		}
		if s := p.ModelServer(); s.Slots != 2 || !strings.HasPrefix(s.Model, o.Home.Cache) {
			t.Errorf("got %+v", s)
		}
	})
	t.Run("what is printed is read again", func(t *testing.T) {
		var b bytes.Buffer
		if err := p.Print(&b); err != nil || !strings.Contains(b.String(), "judge") {
			t.Errorf("got %v: %s", err, b.String())
		}
	})
	t.Run("a setting of the model server that cannot be is refused", func(t *testing.T) {
		o := options(t, map[string]string{"triplemesh.model_server.slots": "0"})
		if _, err := ReadPlan(o); err == nil || !strings.Contains(err.Error(), "slots") {
			t.Errorf("got %v", err)
		}
	})
}

func TestTheOrchestratorIsToldWhereTheOthersListen(t *testing.T) {
	l := newLoader(options(t, nil))
	l.addrs["verifier"] = "127.0.0.1:1234"
	c := l.orchestrator()
	if c.Verifier.Addr != "127.0.0.1:1234" || !strings.HasSuffix(c.Generator.Addr, ":9091") {
		t.Errorf("got %s and %s", c.Verifier.Addr, c.Generator.Addr)
	}
}

func TestRunWithoutAModelServer(t *testing.T) {
	o := options(t, nil)
	delete(o.Sources.Set, "llm.base_url")
	delete(o.Sources.Set, "llm.model")
	o.Sources.Set["triplemesh.model_server.binary"] = "/no/such/llama-server"
	o.Targets = []string{"generator"}
	m, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	err = m.Run(t.Context(), func() {})
	if err == nil || errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "triplemesh setup") {
		t.Errorf("got %v, want what to do", err)
	}
}

// localModel returns options of a mesh with a model server of its own, and the file that is its model.
func localModel(t *testing.T) (o Options, model string) {
	t.Helper()
	dir := t.TempDir()
	binary, model := filepath.Join(dir, "llama-server"), filepath.Join(dir, "tiny.gguf")
	build := exec.Command("go", "build", "-o", binary, "../../../internal/llamaserver/testdata/fakeserver")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	o = options(t, map[string]string{"triplemesh.model_server.binary": binary, "triplemesh.model_server.model": model,
		"triplemesh.model_server.threads": "1"})
	delete(o.Sources.Set, "llm.base_url")
	delete(o.Sources.Set, "llm.model")
	return o, model
}

func TestTheMeshServesBeforeItsModelServerAnswers(t *testing.T) {
	o, model := localModel(t)
	// The model server reads its model from a pipe: for as long as nothing is written, it loads.
	if err := syscall.Mkfifo(model, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, setting := range []string{"generator.server.addr", "orchestrator.server.addr", "orchestrator.http.addr"} {
		o.Sources.Set[setting] = "127.0.0.1:0"
	}
	o.Private, o.Targets = false, []string{"orchestrator", "generator"}
	m, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ready, ended := runMesh(ctx, m)

	resp, err := http.Post(m.URL()+"/api/v1/ask", "application/json",
		strings.NewReader(`{"question": "Who?", "method": "io"}`))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil || resp.StatusCode != http.StatusServiceUnavailable ||
		!strings.Contains(string(text), "the model server is starting; try again") {
		t.Errorf("got %d, %s, %v; want the reason", resp.StatusCode, text, err)
	}
	for name, want := range map[string]error{"generator": nil, "orchestrator": ErrNotServing} {
		if err := Serving(ctx, m.Addr(name), insecure.NewCredentials()); !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", name, err, want)
		}
	}
	select {
	case <-ready:
		t.Error("it says it is ready")
	default:
	}
	if err := os.WriteFile(model, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	<-ready
	if err := Serving(ctx, m.Addr("orchestrator"), insecure.NewCredentials()); err != nil {
		t.Error(err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestTheMeshEndsWhileItsModelServerStarts(t *testing.T) {
	for _, tt := range []struct {
		name, script, want string
		interrupted        bool
	}{
		{"with the reason, if the model server ends", `{"Exit": "unknown architecture"}`, "OPENAI_BASE_URL", false},
		{"without an error, if it is interrupted", `{"Sick": true}`, "", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o, model := localModel(t)
			if err := os.WriteFile(model, []byte(tt.script), 0o600); err != nil {
				t.Fatal(err)
			}
			o.Targets = []string{"generator"}
			m, err := New(o)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			ended := make(chan error, 1)
			go func() { ended <- m.Run(ctx, func() { t.Error("it says it is ready") }) }()
			for tt.interrupted && ctx.Err() == nil {
				if Serving(ctx, m.Addr("generator"), insecure.NewCredentials()) == nil {
					cancel()
				}
			}
			err = <-ended
			if (err != nil) != (tt.want != "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}
