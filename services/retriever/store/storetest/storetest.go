// Package storetest is the suite that every store passes.
package storetest

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/services/retriever/encoder"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// Capability is something that not every kind of store does.
type Capability int

const (
	always Capability = iota
	// Deltas are snapshots that hold what differs from another one.
	Deltas
	// Files are snapshots exported and imported.
	Files
	// Exports are files alone that the store writes; it may import others'.
	Exports
	// Ties are equal scores told apart by number, every time: what an
	// approximate index cannot promise.
	Ties
)

// Run runs the suite but for what a store lacks, which it refuses with
// ErrUnsupported. open returns an empty store of its own for each test.
func Run(t *testing.T, open func(t *testing.T) store.Store, lacks ...Capability) {
	for _, part := range []struct {
		name  string
		test  func(*testing.T, store.Store)
		needs Capability
	}{
		{"names", testNames, always},
		{"keys", testKeys, always},
		{"keys of deltas", testKeysOfDeltas, Deltas},
		{"matching", testMatching, always},
		{"facts", testFacts, always},
		{"walking", testWalking, always},
		{"search", testSearch, always},
		{"ties", testTies, Ties},
		{"content", testContent, always},
		{"kinds", testKinds, always},
		{"filters", testFilters, always},
		{"no vectors", testNoVectors, always},
		{"deltas", testDeltas, Deltas},
		{"refused deltas", testRefusedDeltas, Deltas},
		{"chains of deltas", testChains, Deltas},
		{"differences", testDifferences, Deltas},
		{"export and import", testExport, Files},
		{"catalogue", testCatalogue, always},
		{"lifetime", testLifetime, always},
		{"concurrency", testConcurrency, always},
		{"activation while reading", testActivation, always},
	} {
		t.Run(part.name, func(t *testing.T) {
			lacking := part.needs
			if lacking == Files && slices.Contains(lacks, Exports) {
				lacking = Exports
			}
			if slices.Contains(lacks, lacking) {
				testLacking(t, open(t), lacking)
				return
			}
			part.test(t, open(t))
		})
	}
}

// testLacking asks for what a store lacks.
func testLacking(t *testing.T, st store.Store, lacks Capability) {
	Build(t, st, "world", World())
	errs := map[string]error{}
	switch lacks {
	case Deltas:
		_, errs["write a delta"] = st.WriteDelta(t.Context(), "world", Delta(World()[:1], nil))
	case Exports:
		errs["export"] = st.Export(t.Context(), "world", 0, io.Discard)
	case Files:
		errs["export"] = st.Export(t.Context(), "world", 0, io.Discard)
		_, errs["import"] = st.Import(t.Context(), "world", strings.NewReader("x"))
	}
	for what, err := range errs {
		if !errors.Is(err, store.ErrUnsupported) {
			t.Errorf("%s in a store that does not: %v", what, err)
		}
	}
}

// Dims is the length of the vectors that the suite uses.
const Dims = 64

// Encoder makes them.
func Encoder() encoder.Encoder { return HashEncoder(Dims) }

// fact is a fact of names alone.
func fact(subject, relation, object string) store.Fact {
	return store.Fact{Subject: namedEntity(subject), Relation: relation, Object: namedEntity(object)}
}

func namedEntity(name string) store.NamedEntity {
	return store.NamedEntity{Name: name, Kind: store.ClassifyName(name), Key: keys[name]}
}

// keys are those of the entities that have one besides their name.
var keys = map[string]string{
	"Paris": "http://world.example/Q90", "PARIS": "http://world.example/Q3361", "Rome": "Q220", "東京": "Q1490",
}

// World is a small knowledge graph with accents, homonyms in upper and lower
// case, keys, a self-loop, a validity and provenance.
func World() []store.Fact {
	mayor := func(name, start, end string) store.Fact {
		f := fact("Paris", "head of government", name)
		f.Validity, f.Provenance = store.Validity{Start: start, End: end}, "mayors.csv:"+start[:4]
		return f
	}
	return []store.Fact{
		fact("Paris", "capital of", "France"),
		fact("Paris", "located in", "France"),
		fact("Paris", "located in", "Europe"),
		fact("Lyon", "located in", "France"),
		fact("France", "located in", "Europe"),
		fact("São Paulo", "located in", "Brazil"),
		fact("Sao Paulo", "album by", "Ensemble"),
		fact("PARIS", "film by", "Cédric Klapisch"),
		fact("Ouroboros", "eats", "Ouroboros"),
		fact("東京", "located in", "Japan"),
		mayor("Anne Hidalgo", "2014-04-05", ""),
		mayor("Bertrand Delanoë", "2001-03-25", "2014-04-04"),
	}
}

// Build loads facts into a new snapshot, activates it and returns its number.
func Build(t testing.TB, s store.Store, kg string, facts []store.Fact, aliases ...[2]string) uint64 {
	t.Helper()
	info, err := s.Write(t.Context(), kg, Content(t, facts, aliases...))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Activate(t.Context(), kg, info.Number); err != nil {
		t.Fatal(err)
	}
	return info.Number
}

// Open opens a snapshot and releases it when the test ends.
func Open(t *testing.T, s store.Store, kg string, number uint64) store.Snapshot {
	t.Helper()
	snapshot, err := s.Open(t.Context(), kg, number)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(snapshot.Release)
	return snapshot
}

// entity returns the number of an entity that must be there.
func entity(t *testing.T, s store.Snapshot, name string) store.EntityID {
	t.Helper()
	id, ok, err := s.Entity(t.Context(), name)
	if err != nil || !ok {
		t.Fatalf("entity %q: found %v, error %v", name, ok, err)
	}
	return id
}

func relation(t *testing.T, s store.Snapshot, name string) store.RelationID {
	t.Helper()
	id, ok, err := s.Relation(t.Context(), name)
	if err != nil || !ok {
		t.Fatalf("relation %q: found %v, error %v", name, ok, err)
	}
	return id
}

// triples lists the numbers of all triples, ascending. In a delta there are
// gaps between them.
func triples(t *testing.T, s store.Snapshot) []store.TripleID {
	t.Helper()
	var ids []store.TripleID
	for e := range s.Entities() {
		lists, err := s.Edges(t.Context(), []store.EntityID{e}, store.Out, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, edge := range lists[0] {
			ids = append(ids, edge.Triple)
		}
	}
	slices.Sort(ids)
	return ids
}

// entityNames names entities, to be read in a failure.
func entityNames(s store.Snapshot, ids []store.EntityID) []string {
	names := []string{}
	for _, id := range ids {
		names = append(names, s.EntityName(id))
	}
	return names
}

// show writes a triple as "subject | relation | object".
func show(s store.Snapshot, id store.TripleID) string {
	t := s.Triple(id)
	return s.EntityName(t.Subject) + " | " + s.RelationName(t.Relation) + " | " + s.EntityName(t.Object)
}

func encode(t testing.TB, texts ...string) [][]float32 {
	t.Helper()
	vectors, err := Encoder().Encode(context.Background(), texts)
	if err != nil {
		t.Fatal(err)
	}
	return vectors
}
