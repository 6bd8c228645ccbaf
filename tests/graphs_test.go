package tests

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/triplemesh/triplemesh/internal/testkit"
)

// The knowledge graphs of the tests: wikidata@1 is a part of the bundled facts; in wikidata@2,
// which is active at first, Robert Stam has another employer; rivers has two facts; idle has no
// active snapshot.
const (
	wikidata = "wikidata"
	rivers   = "rivers"
	idle     = "idle"
)

const (
	employer      = "New York University"
	otherEmployer = "University of Ljubljana"
)

// about are entities whose facts are all loaded; of the others every everyNth is.
var about = []string{"Robert Stam", "Alexander", "Oliver Stone", "Heaven & Earth"}

const everyNth = 100

var load struct {
	sync.Once
	err error
}

// graphs returns a new data directory that contains the knowledge graphs. A mesh loads them once
// per test run.
func graphs(tb testing.TB) string {
	tb.Helper()
	load.Do(func() { load.err = loadGraphs(tb) })
	if load.err != nil {
		tb.Fatalf("load the knowledge graphs of the tests: %v", load.err)
	}
	data := tb.TempDir()
	if err := link(filepath.Join(built, "kg"), filepath.Join(data, "kg")); err != nil {
		tb.Fatalf("hand out the knowledge graphs of the tests: %v", err)
	}
	return data
}

// link hard-links the files of a directory: a store never writes to an existing file.
func link(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		}
		return os.Link(path, filepath.Join(to, rel))
	})
}

func loadGraphs(tb testing.TB) error {
	facts := testkit.Facts(tb, func(n int, fields []string) bool {
		return n%everyNth == 0 || slices.Contains(about, fields[0]) || slices.Contains(about, fields[2])
	})
	m := start(tb, options{data: built, targets: []string{"retriever"}})
	defer m.stop()
	first := facts
	second := bytes.ReplaceAll(facts, []byte("Robert Stam\temployer\t"+employer),
		[]byte("Robert Stam\temployer\t"+otherEmployer))
	for _, l := range []struct {
		kg       string
		facts    []byte
		inactive bool
	}{
		{wikidata, first, false},
		{wikidata, second, false},
		{rivers, []byte("Velmora\triver\tTessen\nVelmora\triver\tOrla\n"), false},
		{idle, []byte("Velmora\triver\tTessen\n"), true},
	} {
		if _, err := testkit.LoadTSV(context.Background(), m.graphs, l.kg, l.facts, l.inactive); err != nil {
			return err
		}
	}
	return nil
}
