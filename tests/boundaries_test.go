package tests

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/internal/testkit"
)

// packages lists the dependencies of a package or a directory of packages.
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

// Cypher written by a model must not reach a database: the stages that call models do not link any
// code that could, and the interpreter only works in memory.
func TestStagesThatTalkToModelsHoldNoStore(t *testing.T) {
	for _, stage := range []string{"generator", "verifier", "evaluator", "reflector"} {
		all := packages(t, "./services/"+stage+"/...", "-deps", "-f", "{{.ImportPath}}")
		if len(all) < 50 {
			t.Fatalf("%s is built of %d packages", stage, len(all))
		}
		for _, p := range all {
			for _, store := range []string{"/services/retriever", "/services/orchestrator", "neo4j", "weaviate",
				"bbolt", "pgx", "sqlite", "mysql"} {
				if strings.Contains(p, store) {
					t.Errorf("the %s is built of %s", stage, p)
				}
			}
		}
	}
	for _, p := range packages(t, "./internal/cypher", "-f", `{{join .Imports "\n"}}`) {
		for _, way := range []string{"os", "net", "io", "syscall", "plugin", "unsafe", "reflect", "github.com/",
			"google.golang.org/"} {
			if p == strings.TrimSuffix(way, "/") || strings.HasPrefix(p, strings.TrimSuffix(way, "/")+"/") {
				t.Errorf("the scratch executor imports %s", p)
			}
		}
	}
}

// TestModulesImportOnlyWhatTheyMay checks the import rules of docs/architecture.md, tests included.
func TestModulesImportOnlyWhatTheyMay(t *testing.T) {
	const ours = "github.com/triplemesh/triplemesh/"
	stages := []string{"orchestrator", "generator", "retriever", "verifier", "evaluator", "reflector"}
	allowed := map[string][]string{
		"proto":       {"proto"},
		"internal":    {"proto", "internal"},
		"lab":         {"proto", "internal", "lab", "services/retriever/rank", "services/orchestrator/confidence"},
		"client":      {"proto", "client"},
		"examples/go": {"proto", "client", "examples/go"},
	}
	for _, stage := range stages {
		allowed["services/"+stage] = []string{"proto", "internal", "services/" + stage}
	}
	for module, prefixes := range allowed {
		t.Run(module, func(t *testing.T) {
			lines := packages(t, "./"+module+"/...", "-f",
				`{{$p := .ImportPath}}{{range .Imports}}{{$p}}>{{.}} {{end}}`+
					`{{range .TestImports}}{{$p}}>{{.}} {{end}}{{range .XTestImports}}{{$p}}>{{.}} {{end}}`)
			if len(lines) < 5 {
				t.Fatalf("%d imports", len(lines))
			}
			for _, line := range lines {
				from, to, _ := strings.Cut(line, ">")
				imported, isOurs := strings.CutPrefix(to, ours)
				if isOurs && !slices.ContainsFunc(prefixes, func(prefix string) bool {
					return imported == prefix || strings.HasPrefix(imported, prefix+"/")
				}) {
					t.Errorf("%s imports %s", from, to)
				}
			}
		})
	}
}
