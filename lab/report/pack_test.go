package report

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/triplemesh/triplemesh/lab/results"
)

func TestPackedResultsGiveTheSameReport(t *testing.T) {
	root, packed := sample(t), t.TempDir()
	var out bytes.Buffer
	if err := (&PackCommand{Dirs: []string{root}, Out: packed}).Run(&out); err != nil {
		t.Fatal(err)
	}
	if strings.Count(out.String(), "\n") != 4 {
		t.Errorf("said %q", out.String())
	}
	var pages [2]string
	for i, dir := range []string{root, packed} {
		evaluations, err := OpenEvaluations([]string{dir})
		if err != nil {
			t.Fatal(err)
		}
		var page bytes.Buffer
		if err := New(evaluations, Options{Now: time.Unix(0, 0)}).HTML(&page); err != nil {
			t.Fatal(err)
		}
		pages[i] = page.String()
	}
	if pages[0] != pages[1] || len(pages[0]) < 10_000 {
		t.Errorf("the pages differ: %d and %d bytes", len(pages[0]), len(pages[1]))
	}
	if err := (&PackCommand{Dirs: []string{root}, Out: packed}).Run(&out); err == nil ||
		!strings.Contains(err.Error(), "has results already") {
		t.Errorf("packed over what is there: error %v", err)
	}
}

func TestPackedResultsAreNotAddedTo(t *testing.T) {
	packed := t.TempDir()
	if err := (&PackCommand{Dirs: []string{sample(t)}, Out: packed}).Run(&bytes.Buffer{}); err != nil {
		t.Fatal(err)
	}
	dirs, err := ResultDirs([]string{packed})
	if err != nil {
		t.Fatal(err)
	}
	found, err := results.Open(dirs[0])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := results.Resume(dirs[0], found.Manifest); err == nil || !strings.Contains(err.Error(), "gunzip") {
		t.Errorf("error %v", err)
	}
	name := filepath.Join(dirs[0], "runs.jsonl.gz")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, text[:len(text)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := results.Open(dirs[0]); err == nil || !strings.Contains(err.Error(), "runs.jsonl.gz") {
		t.Errorf("a file that was cut short: error %v", err)
	}
}
