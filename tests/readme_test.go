package tests

import (
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
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

// The lines are run as they stand where their ports are free. Where one is
// taken, by a mesh that somebody runs, the mesh of the test has other ports and
// the lines get these.
func TestTheReadmesGrpcurlLinesAnswer(t *testing.T) {
	lines := grpcurlLines(t)
	free := true
	for _, addr := range ports {
		l, err := net.Listen("tcp", addr)
		if err != nil {
			free = false
			t.Logf("%v: the lines are run at other ports", err)
			break
		}
		l.Close()
	}
	m := start(t, options{model: scripted(t), ports: free})
	path := filepath.Dir(testkit.Cache(t, "bin", "grpcurl")) + string(os.PathListSeparator) + os.Getenv("PATH")
	asked := map[string]bool{}
	for _, line := range lines {
		for name, addr := range ports {
			if strings.Contains(line, addr) {
				asked[name] = true
				line = strings.ReplaceAll(line, addr, m.mesh.Addr(name))
			}
		}
		cmd := exec.CommandContext(within(t, patience), "sh", "-c", line)
		cmd.Env = append(os.Environ(), "PATH="+path)
		out := run(t, cmd)
		if strings.HasSuffix(line, " list") {
			if !strings.Contains(out, "triplemesh.") {
				t.Errorf("%s\nlisted %q", line, out)
			}
			continue
		}
		answer := map[string]any{}
		if err := json.Unmarshal([]byte(out), &answer); err != nil || len(answer) == 0 {
			t.Errorf("%s\nprinted %q: %v", line, out, err)
		}
	}
	for _, name := range mesh.StageNames() {
		if !asked[name] {
			t.Errorf("no line asks the %s", name)
		}
	}
}

// grpcurlLines are those of the README's block that is marked "sh grpcurl".
func grpcurlLines(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(testkit.CheckoutFile(t, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, block, ok := strings.Cut(string(text), "\n```sh grpcurl\n")
	block, _, closed := strings.Cut(block, "\n```")
	if !ok || !closed {
		t.Fatal("README.md has no block that begins with ```sh grpcurl")
	}
	lines := strings.Split(block, "\n")
	for _, line := range lines {
		if !strings.HasPrefix(line, "grpcurl ") {
			t.Fatalf("README.md, block of grpcurl lines: %q is none", line)
		}
	}
	return lines
}
