//go:build versions

package versions

import (
	"testing"

	"github.com/triplemesh/triplemesh/internal/testkit"
)

// data returns a directory with the tests' knowledge graph, loaded by a version.
func data(tb testing.TB, by revision) string {
	tb.Helper()
	dir := tb.TempDir()
	return loaded(tb, by, dir)
}

func loaded(tb testing.TB, by revision, dir string) string {
	tb.Helper()
	m := &running{ports: map[string]string{"retriever": freePort(tb)}, dir: tb.TempDir()}
	m.env = environment(tb, dir, testkit.NewLLM(tb))
	p := m.launch(tb, by, "retriever", 0)
	load(tb, m.addr("retriever", 0), wikidata, facts(tb))
	p.stop(tb)
	return dir
}
