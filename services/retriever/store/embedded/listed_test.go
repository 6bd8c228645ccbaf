package embedded

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
)

func TestListSeesChangedManifests(t *testing.T) {
	s := newStore(t)
	storetest.Build(t, s, "world", storetest.World())
	triples := func() int {
		t.Helper()
		listed, err := s.List(t.Context(), "world")
		if err != nil || len(listed) != 1 {
			t.Fatalf("listed %v, %v", listed, err)
		}
		return listed[0].Triples
	}
	for range 2 {
		if got := triples(); got != len(storetest.World()) {
			t.Errorf("it has %d triples", got)
		}
	}
	path := filepath.Join(s.snapshotDir("world", 1), manifestName)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		content []byte
		want    int
	}{
		{"one that was damaged says nothing", whole[:len(whole)-2], 0},
		{"one that was mended says what it said", whole, len(storetest.World())},
	} {
		if err := os.WriteFile(path, c.content, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := triples(); got != c.want {
			t.Errorf("%s: it has %d triples", c.name, got)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if got := triples(); got != 0 {
		t.Errorf("without a manifest it has %d triples", got)
	}
}

// BenchmarkList is what a question takes to learn which of ten snapshots is
// active.
func BenchmarkList(b *testing.B) {
	s := newStore(b)
	for range 10 {
		storetest.Build(b, s, "world", storetest.World())
	}
	for b.Loop() {
		if listed, err := s.List(b.Context(), "world"); err != nil || len(listed) != 10 {
			b.Fatal(len(listed), err)
		}
	}
}
