package tests

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/mesh"
	"github.com/triplemesh/triplemesh/internal/testkit"
)

// composed is a service of the Compose file.
type composed struct {
	Image               string
	Entrypoint, Command []string
	Environment         map[string]string
	Volumes             []string
}

var (
	// peer matches a service and its port in a setting, ownPort a port of the service itself.
	peer    = regexp.MustCompile(`\b([a-z-]+):(\d{4,5})\b`)
	ownPort = regexp.MustCompile(`^:(\d{4,5})$`)
	// variable matches a variable of Compose with its default.
	variable = regexp.MustCompile(`\$\{([A-Z_]+):-([^}]*)\}`)
)

// engine runs the commands of the Compose file as processes: the names of services stand for loopback
// ports, paths in containers for paths in dir.
type engine struct {
	services map[string]composed
	dir      string
	env      map[string]string
	ports    map[string]string
	paths    *strings.Replacer
}

// addr returns where a port of a service is on this machine.
func (e *engine) addr(t *testing.T, service, port string) string {
	key := service + ":" + port
	if e.ports[key] == "" {
		e.ports[key] = testkit.FreeAddr(t)
	}
	return e.ports[key]
}

// local returns a text of a service as it holds on this machine.
func (e *engine) local(t *testing.T, service, text string) string {
	text = variable.ReplaceAllStringFunc(text, func(v string) string {
		m := variable.FindStringSubmatch(v)
		if set, ok := e.env[m[1]]; ok {
			return set
		}
		return m[2]
	})
	if m := ownPort.FindStringSubmatch(text); m != nil {
		return e.addr(t, service, m[1])
	}
	text = strings.ReplaceAll(text, "dns:///", "")
	text = peer.ReplaceAllStringFunc(text, func(v string) string {
		m := peer.FindStringSubmatch(v)
		if _, ok := e.services[m[1]]; ok {
			return e.addr(t, m[1], m[2])
		}
		return v
	})
	return strings.ReplaceAll(e.paths.Replace(text), "$$", "$")
}

// environment returns a service's variables, and those that every process needs.
func (e *engine) environment(t *testing.T, service string) []string {
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + e.dir}
	for name, value := range e.services[service].Environment {
		env = append(env, name+"="+e.local(t, service, value))
	}
	return env
}

// command returns the process of a service; program takes the place of its image's entrypoint.
func (e *engine) command(t *testing.T, service, program string) *exec.Cmd {
	t.Helper()
	var args []string
	for _, arg := range slices.Concat(e.services[service].Entrypoint, e.services[service].Command) {
		args = append(args, e.local(t, service, arg))
	}
	if program == "" {
		program, args = args[0], args[1:]
	}
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir, cmd.Env = e.dir, e.environment(t, service)
	return cmd
}

// TestTheCommandsOfTheComposeFileRun runs what each container of deploy/compose would run, except for
// Prometheus and the collector, whose configuration deploy/k8s checks, and asks a question.
func TestTheCommandsOfTheComposeFileRun(t *testing.T) {
	text, err := os.ReadFile(testkit.CheckoutFile(t, "deploy", "compose", "compose.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Services map[string]composed }
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	model, data := scripted(t), graphs(t)
	e := &engine{services: file.Services, dir: t.TempDir(), ports: map[string]string{},
		env: map[string]string{"MODEL_BASE_URL": model.URL(), "MODEL": "scripted"}}
	models := filepath.Join(e.dir, "models")
	if err := os.Mkdir(models, 0o755); err != nil {
		t.Fatal(err)
	}
	e.paths = strings.NewReplacer("/var/lib/triplemesh/kg", filepath.Join(data, "kg"),
		"/var/lib/triplemesh/runs", filepath.Join(e.dir, "runs"), "/models", models,
		"/opt/triplemesh/libonnxruntime.so", testkit.Cache(t, "onnxruntime", "libonnxruntime.so"),
		"/opt/triplemesh/encoder/model.onnx", testkit.Cache(t, "encoder", "model.onnx"),
		"/opt/triplemesh/encoder/vocab.txt", testkit.Cache(t, "encoder", "vocab.txt"),
		"/kg", filepath.Join(data, "kg"), "/runs", e.dir,
		"65532:65532", fmt.Sprintf("%d:%d", os.Getuid(), os.Getgid()))
	known := append(mesh.StageNames(), "model-server", "model-files", "volumes", "prometheus", "otel-collector")
	for name := range file.Services {
		if !slices.Contains(known, name) {
			t.Errorf("this test does not try the service %s", name)
		}
	}

	run(t, e.command(t, "volumes", ""))
	t.Run("the model is fetched once and checked", func(t *testing.T) { e.fetch(t, models) })
	t.Run("the model server takes its arguments", func(t *testing.T) { e.serveModel(t, models) })
	t.Run("the stages answer a question over HTTP", func(t *testing.T) { e.ask(t) })
}

// fetch runs the script of model-files on a file in the model's place.
func (e *engine) fetch(t *testing.T, models string) {
	fetched, body := 0, []byte("a model")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fetched++
		_, _ = w.Write(body) // a write that fails shows in the checksum
	}))
	defer server.Close()
	sum := sha256.Sum256(body)
	fetch := e.services["model-files"]
	fetch.Environment = map[string]string{"URL": server.URL, "SHA256": hex.EncodeToString(sum[:])}
	e.services["model-files"] = fetch
	for range 2 {
		run(t, e.command(t, "model-files", ""))
	}
	got, err := os.ReadFile(filepath.Join(models, "model.gguf"))
	if err != nil || !bytes.Equal(got, body) || fetched != 1 {
		t.Errorf("it fetched %q %d times, %v", got, fetched, err)
	}
	fetch.Environment["SHA256"] = strings.Repeat("0", 64)
	if out, err := e.command(t, "model-files", "").CombinedOutput(); err == nil {
		t.Errorf("it takes a model with another checksum: %s", out)
	}
}

// serveModel runs the command of model-server on the bundled model until it is healthy.
func (e *engine) serveModel(t *testing.T, models string) {
	link := filepath.Join(models, "model.gguf")
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	bundled := testkit.Cache(t, "model", "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf")
	if err := os.Symlink(bundled, link); err != nil {
		t.Fatal(err)
	}
	cmd := e.command(t, "model-server", testkit.Cache(t, "llama", "llama-server"))
	addr := e.addr(t, "model-server", "8080")
	_, port, _ := strings.Cut(addr, ":")
	cmd.Args[slices.Index(cmd.Args, "--port")+1] = port
	log := &testkit.Log{}
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill() // it runs until it is killed
		_ = cmd.Wait()
	}()
	for end := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		resp, err := http.Get("http://" + addr + "/health")
		if err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return
			}
		}
		if time.Now().After(end) {
			t.Fatalf("it does not become healthy: %v\n%s", err, log)
		}
	}
}

// ask runs the six stages and asks one question over HTTP.
func (e *engine) ask(t *testing.T) {
	bin := binaries(t)
	for _, name := range slices.Backward(mesh.StageNames()) {
		cmd := e.command(t, name, filepath.Join(bin, name))
		env := append(cmd.Env, "TRIPLEMESH_RETRIEVER_RANKER=off")
		launch(t, e.dir, cmd.Path, e.addr(t, name, "9090"), env, cmd.Args[1:]...)
	}
	resp, err := http.Post("http://"+e.addr(t, "orchestrator", "9080")+"/api/v1/ask", "application/json",
		strings.NewReader(`{"question": `+strconv.Quote(employerQuestion)+
			`, "method": "pg-akv", "kg": {"name": "`+wikidata+`", "snapshot": 1}}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK || !strings.Contains(string(answer), employer) {
		t.Errorf("%s, %v: %s", resp.Status, err, answer)
	}
	if _, err := os.Stat(filepath.Join(e.dir, "runs")); err != nil {
		t.Errorf("no run is stored: %v", err)
	}
}
