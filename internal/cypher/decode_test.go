package cypher

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write what Decode gives as the expected triples and diagnostics")

// TestDecode reads testdata/decode: answers of models (*.cypher), each with the
// triples and diagnostics that are expected (*.want).
func TestDecode(t *testing.T) {
	paths, err := filepath.Glob("testdata/decode/*.cypher")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no testdata: %v", err)
	}
	for _, path := range paths {
		name := strings.ReplaceAll(strings.TrimSuffix(filepath.Base(path), ".cypher"), "-", " ")
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			pseudo, diagnostics, err := Decode(context.Background(), string(text), Limits{})
			if err != nil {
				t.Fatal(err)
			}
			got := formatResult(pseudo, diagnostics)
			wantPath := strings.TrimSuffix(path, ".cypher") + ".want"
			if *update {
				if err := os.WriteFile(wantPath, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(wantPath)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func formatResult(p Pseudo, diagnostics []Diagnostic) string {
	var s strings.Builder
	for _, one := range p.Triples {
		s.WriteString(one.Subject + " | " + one.Relation + " | " + one.Object + "\n")
	}
	for _, d := range diagnostics {
		s.WriteString("! " + d.String() + "\n")
	}
	return s.String()
}
