package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/triplemesh/triplemesh/services/retriever/load"
	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/embedded"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
)

// loadTriples loads triples in TSV into a snapshot.
func loadTriples(t *testing.T, tsv string) store.Snapshot {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "triples.tsv")
	if err := os.WriteFile(file, []byte(tsv), 0o600); err != nil {
		t.Fatal(err)
	}
	graphs := embedded.New(filepath.Join(dir, "graphs"))
	t.Cleanup(func() { _ = graphs.Close() })
	if _, err := load.Files(t.Context(), graphs, storetest.HashEncoder(8), []string{file},
		load.Options{KG: "rivers", Scratch: dir}); err != nil {
		t.Fatal(err)
	}
	snapshot, err := graphs.Open(t.Context(), "rivers", 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(snapshot.Release)
	return snapshot
}

func TestRareWordsCountForMore(t *testing.T) {
	g := loadTriples(t, "Rhine\tmouth of the watercourse\tNorth Sea\nElbe\tmouth of the watercourse\tNorth Sea\n"+
		"Main\tmouth of the watercourse\tRhine\nNeuse\tsource\tEno\n")
	index := newBM25(g)
	got := index.search("where is the mouth of the ELBE?", 2)
	if len(got) != 2 || g.EntityName(g.Triple(got[0]).Subject) != "Elbe" {
		t.Errorf("found %v, want the Elbe first of two", got)
	}
	if got := index.search("qwertz", 5); len(got) != 0 {
		t.Errorf("a word that is nowhere finds %v", got)
	}
}

func TestFusion(t *testing.T) {
	vectors := []store.Hit{{Triple: 1}, {Triple: 2}, {Triple: 3}}
	words := []store.TripleID{3, 9, 1}
	for name, tt := range map[string]struct{ got, want []store.TripleID }{
		"vectors alone":      {vectorsAlone(vectors, words, 2), []store.TripleID{1, 2}},
		"text alone":         {textAlone(vectors, words, 2), []store.TripleID{3, 9}},
		"reciprocal rank":    {byReciprocalRank(vectors, words, 2), []store.TripleID{1, 3}},
		"some by text added": {withFiveByText(vectors, words, 2), []store.TripleID{1, 2, 3, 9}},
	} {
		if !slices.Equal(tt.got, tt.want) {
			t.Errorf("%s: %v, want %v", name, tt.got, tt.want)
		}
	}
}
