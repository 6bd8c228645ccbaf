package tests

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/internal/testkit"
)

// packages lists what a package or a folder of them is built of.
func packages(t *testing.T, what string, flags ...string) []string {
	t.Helper()
	cmd := exec.Command("go", append(append([]string{"list"}, flags...), what)...)
	cmd.Dir = testkit.CheckoutFile(t)
	var why strings.Builder
	cmd.Stderr = &why
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("list the packages of %s: %v: %s", what, err, why.String())
	}
	return strings.Fields(string(out))
}

// Cypher that a model wrote can reach no database: the stages that talk to
// models hold no code that could reach one, and what runs it has no way out of
// its memory.
func TestStagesThatTalkToModelsHoldNoStore(t *testing.T) {
	for _, stage := range []string{"generator", "verifier", "evaluator", "reflector"} {
		all := packages(t, "./services/"+stage+"/...", "-deps", "-f", "{{.ImportPath}}")
		if len(all) < 50 {
			t.Fatalf("%s is built of %d packages", stage, len(all))
		}
		for _, p := range all {
			for _, store := range []string{"/services/retriever", "/services/orchestrator", "neo4j", "weaviate", "bbolt", "pgx", "sqlite", "mysql"} {
				if strings.Contains(p, store) {
					t.Errorf("the %s is built of %s", stage, p)
				}
			}
		}
	}
	for _, p := range packages(t, "./services/generator/cypher", "-f", `{{join .Imports "\n"}}`) {
		for _, way := range []string{"os", "net", "io", "syscall", "plugin", "unsafe", "reflect", "github.com/", "google.golang.org/"} {
			if p == strings.TrimSuffix(way, "/") || strings.HasPrefix(p, strings.TrimSuffix(way, "/")+"/") {
				t.Errorf("the scratch executor imports %s", p)
			}
		}
	}
}
