//go:build versions

package versions

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"

	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// TestTheCommandLineOfOneVersionAsksTheMeshOfAnother runs common commands.
func TestTheCommandLineOfOneVersionAsksTheMeshOfAnother(t *testing.T) {
	now := checkout(t)
	for _, old := range previous(t) {
		for _, c := range []struct{ person, mesh revision }{{old, now}, {now, old}} {
			t.Run(c.person.name+" asks "+c.mesh.name, func(t *testing.T) { converse(t, c.person, c.mesh) })
		}
	}
}

func converse(t *testing.T, person, mesh revision) {
	m := start(t, mesh, data(t, mesh), scripted(t))
	dir := t.TempDir()
	to, archive := m.addr("orchestrator", 0), filepath.Join(dir, "wikidata.tar")
	retriever := "--retriever=" + m.addr("retriever", 0)
	ask := func(question, method string) []string {
		return []string{"ask", question, "--method=" + method, "--kg=" + wikidata, "--server=" + to, "--json"}
	}
	for _, c := range []struct {
		name, holds string
		args        []string
	}{
		{"a question by pg-akv", employer, ask(employerQuestion, "pg-akv")},
		{"a question by ger", yale, ask(studyQuestion, "ger")},
		{"the methods", "pg-akv", []string{"methods", "--server=" + to}},
		{"the runs", "Robert Stam", []string{"runs", "--server=" + to}},
		{"an export", "", []string{"kg", "export", wikidata, archive, retriever}},
		{"an import of it", "taken", []string{"kg", "import", archive, "taken", retriever}},
		{"a switch to it", "taken", []string{"kg", "activate", "taken@1", retriever}},
		{"a look at it", "taken", []string{"kg", "verify", "taken", retriever}},
		{"the knowledge graphs", "taken", []string{"kg", "list", retriever}},
	} {
		out, stderr, code := m.run(t, person, c.args...)
		if code != 0 || !strings.Contains(out+stderr, c.holds) {
			t.Errorf("%s: it ended with %d and printed %s%s", c.name, code, out, stderr)
		}
		if c.args[0] == "ask" {
			run := &orchestratorv1.Run{}
			// A version may print fields that this one does not have.
			if err := (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal([]byte(out), run); err != nil ||
				len(run.GetAnswers()) == 0 {
				t.Errorf("%s: it printed %s: %v", c.name, out, err)
			}
		}
	}
	m.lacks(t, person, to)
}

// lacks checks a text, which not every version can do. The side that cannot must report it.
func (m *running) lacks(t *testing.T, person revision, to string) {
	t.Helper()
	_, usage, code := m.run(t, person, "check", "--help")
	knows := code == 0
	there, _ := supportedKinds(t, m)
	can := strings.Contains(names(there), "check")
	text := filepath.Join(t.TempDir(), "claim.txt")
	if err := os.WriteFile(text, []byte(claim), 0o600); err != nil {
		t.Fatal(err)
	}
	out, stderr, code := m.run(t, person, "check", text, "--kg="+wikidata, "--server="+to)
	switch {
	case knows && can:
		if !strings.Contains(out, employer) {
			t.Errorf("check ended with %d and printed %s%s", code, out, stderr)
		}
	case knows:
		if code == 0 || !strings.Contains(stderr, "version") {
			t.Errorf("a mesh that cannot check: it ended with %d and stderr %s", code, stderr)
		}
	case code == 0 || !strings.Contains(stderr, "check"):
		t.Errorf("a command line that cannot check ended with %d and stderr %s%s", code, stderr, usage)
	}
}

// run runs the command line of a version.
func (m *running) run(t *testing.T, of revision, args ...string) (string, string, int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(of.bin, "triplemesh"), args...)
	cmd.Dir, cmd.Env = m.dir, []string{"HOME=" + m.dir}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatalf("run triplemesh of %s: %v", of, err)
	}
	return stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()
}
