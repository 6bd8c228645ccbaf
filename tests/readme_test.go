package tests

import (
	"encoding/json"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/mesh"
	"github.com/triplemesh/triplemesh/internal/testkit"
)

// ports are the addresses in the README.
var ports = map[string]string{
	"orchestrator": "127.0.0.1:9090", "generator": "127.0.0.1:9091", "retriever": "127.0.0.1:9092",
	"verifier": "127.0.0.1:9093", "evaluator": "127.0.0.1:9094", "reflector": "127.0.0.1:9095",
}

// httpAddr is the HTTP address in the README.
const httpAddr = "127.0.0.1:9080"

// The lines run unchanged if their ports are free. If a running mesh uses them, the test's mesh
// takes other ports, which replace them in the lines.
func TestTheLinesOfTheReadmeAnswer(t *testing.T) {
	free := true
	for _, addr := range append(slices.Collect(maps.Values(ports)), httpAddr) {
		l, err := net.Listen("tcp", addr)
		if err != nil {
			free = false
			t.Logf("%v: the lines are run at other ports", err)
			break
		}
		l.Close()
	}
	s := newShell(t, start(t, options{model: scripted(t), ports: free, http: !free}))
	asked := map[string]bool{}
	for _, file := range []string{"README.md", "docs/grpc.md"} {
		for _, b := range blocks(t, file) {
			if !b.is("curl") && !b.is("grpcurl") {
				continue
			}
			s.askAll(b)
			for name, addr := range ports {
				asked[name] = asked[name] || strings.Contains(b.text, addr)
			}
			for _, door := range []string{"/api/v1/", "/v1/chat/", "/mcp"} {
				asked[door] = asked[door] || strings.Contains(b.text, httpAddr+door)
			}
		}
	}
	for _, name := range append(mesh.StageNames(), "/api/v1/", "/v1/chat/", "/mcp") {
		if !asked[name] {
			t.Errorf("no line asks %s", name)
		}
	}
}

func TestWhatTheReadmeNamesIsThere(t *testing.T) {
	target := regexp.MustCompile(`\]\(([^)#\s]+)(?:#[^)]*)?\)`)
	for _, file := range documents(t) {
		text, err := os.ReadFile(testkit.CheckoutFile(t, file))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range target.FindAllStringSubmatch(string(text), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(testkit.CheckoutFile(t, file)), m[1])); err != nil {
				t.Errorf("%s names %s, which is not there", file, m[1])
			}
		}
	}
}

// documents are the entry pages, by path in the checkout.
func documents(t *testing.T) []string {
	t.Helper()
	root := testkit.CheckoutFile(t)
	files := []string{"README.md", "CONTRIBUTING.md", "SECURITY.md"}
	for _, pattern := range []string{"docs/README.md", "docs/g*.md", "docs/tutorials/*.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: found %q, %v", pattern, found, err)
		}
		for _, f := range found {
			rel, err := filepath.Rel(root, f)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, rel)
		}
	}
	return files
}

func TestTheExampleMethodInContributingCompiles(t *testing.T) {
	for _, b := range blocks(t, "CONTRIBUTING.md") {
		if !b.is("go") {
			continue
		}
		dir := t.TempDir()
		source := filepath.Join(dir, "topic.go")
		overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{
			filepath.Join(testkit.CheckoutFile(t), "services/orchestrator/method/topic.go"): source,
		}})
		if err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string][]byte{source: []byte(b.text), filepath.Join(dir, "overlay.json"): overlay} {
			if err := os.WriteFile(name, text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.Command("go", "build", "-overlay", filepath.Join(dir, "overlay.json"),
			"./services/orchestrator/method")
		cmd.Dir = testkit.CheckoutFile(t)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
		return
	}
	t.Error("CONTRIBUTING.md has no block of Go")
}
