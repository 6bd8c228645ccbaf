package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/services/retriever/ground"
)

func writePseudo(t *testing.T, b *bench, text string) {
	t.Helper()
	b.pseudo = t.TempDir()
	if err := os.WriteFile(filepath.Join(b.pseudo, "p.jsonl"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

var set = groundSet{file: "q.jsonl", pseudo: "p.jsonl"}

func TestPseudoGraphsAreJoinedWithTheirQuestions(t *testing.T) {
	b := write(t, five)
	writePseudo(t, b, `{"id":"c","question":"other words","pseudo_graph":[["s","r","o"],["s","r","p"]]}
{"id":"a","pseudo_graph":null}
`)
	got, err := b.drafted(set)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || got[0].Question != "qc" || got[1].Question != "qa" {
		t.Fatalf("questions %+v, want c and a in the order of the pseudo-graphs", got)
	}
	if want := []ground.Fact{{Subject: "s", Relation: "r", Object: "o"}, {Subject: "s", Relation: "r",
		Object: "p"}}; !slices.Equal(got[0].pseudo, want) {
		t.Errorf("pseudo-graph %v, want %v", got[0].pseudo, want)
	}
}

func TestAPseudoGraphThatCannotBeUsedIsNamed(t *testing.T) {
	for name, text := range map[string]string{
		"a bad line":                 "{\"id\":\"a\"}\nnonsense\n",
		"a question unheard of":      "{\"id\":\"a\"}\n{\"id\":\"z\"}\n",
		"a triple that is no triple": "{\"id\":\"a\"}\n{\"id\":\"b\",\"pseudo_graph\":[[1,2,3]]}\n",
	} {
		b := write(t, five)
		writePseudo(t, b, text)
		if _, err := b.drafted(set); err == nil || !strings.Contains(err.Error(), "p.jsonl:2") {
			t.Errorf("%s: error %v does not name the line", name, err)
		}
	}
}

func TestHalvesAreOfLikeSize(t *testing.T) {
	held := 0
	for i := range 1000 {
		id := string(rune('a'+i%26)) + strings.Repeat("x", i/26)
		if inHeldHalf(id) {
			held++
		}
	}
	if held < 400 || held > 600 {
		t.Errorf("%d of 1000 are in the second half", held)
	}
}
