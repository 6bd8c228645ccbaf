package tests

import (
	"maps"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/mesh"
	"github.com/triplemesh/triplemesh/internal/testkit"
)

// ports are those that the README names.
var ports = map[string]string{
	"orchestrator": "127.0.0.1:9090", "generator": "127.0.0.1:9091", "retriever": "127.0.0.1:9092",
	"verifier": "127.0.0.1:9093", "evaluator": "127.0.0.1:9094", "reflector": "127.0.0.1:9095",
}

// httpAddr is where the README says that HTTP is served.
const httpAddr = "127.0.0.1:9080"

// The lines are run as they stand where their ports are free. Where one is
// taken, by a mesh that somebody runs, the mesh of the test has other ports and
// the lines get these.
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

// documents are the pages that people read first, by their paths in the
// checkout.
func documents(t *testing.T) []string {
	t.Helper()
	root := testkit.CheckoutFile(t)
	files := []string{"README.md"}
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
