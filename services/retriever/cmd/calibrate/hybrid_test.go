package main

import (
	"slices"
	"testing"

	"github.com/triplemesh/triplemesh/services/retriever/internal/graphtest"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

func TestRareWordsCountForMore(t *testing.T) {
	g := graphtest.New(
		[3]string{"Rhine", "mouth of the watercourse", "North Sea"}, [3]string{"Elbe", "mouth of the watercourse", "North Sea"},
		[3]string{"Main", "mouth of the watercourse", "Rhine"}, [3]string{"Neuse", "source", "Eno"},
	)
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
