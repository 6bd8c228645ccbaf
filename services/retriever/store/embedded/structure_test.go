package embedded

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
)

func structureOf(t *testing.T, s *Store, number uint64) []byte {
	t.Helper()
	var file bytes.Buffer
	if err := s.ExportStructure(t.Context(), "world", number, &file); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

func TestAStructureIsTheSnapshotWithoutTripleVectors(t *testing.T) {
	whole, bare, imported := New(t.TempDir()), New(t.TempDir()), New(t.TempDir())
	number := storetest.Build(t, whole, "world", storetest.World())
	file := structureOf(t, whole, number)
	content := storetest.Content(t, storetest.World())
	content.TripleVectors = nil
	if _, err := bare.Write(t.Context(), "world", content); err != nil {
		t.Fatal(err)
	}
	if _, err := imported.Import(t.Context(), "world", bytes.NewReader(file)); err != nil {
		t.Fatal(err)
	}
	var dumps []string
	for _, s := range []*Store{bare, imported} {
		dump, err := storetest.Dump(t.Context(), storetest.Open(t, s, "world", 1))
		if err != nil {
			t.Fatal(err)
		}
		dumps = append(dumps, dump)
	}
	if dumps[0] != dumps[1] {
		t.Errorf("it is\n%s, want\n%s", dumps[1], dumps[0])
	}
	if _, _, err := imported.Verify(t.Context(), "world", 1); err != nil {
		t.Error(err)
	}
}

func TestTheSameTriplesHaveTheSameStructure(t *testing.T) {
	one, other := New(t.TempDir()), New(t.TempDir())
	other.now = func() time.Time { return time.Now().Add(time.Hour) }
	first := storetest.Build(t, one, "world", storetest.World())
	storetest.Build(t, other, "world", storetest.World()[:3])
	second := storetest.Build(t, other, "world", storetest.World())
	if !bytes.Equal(structureOf(t, one, first), structureOf(t, other, second)) {
		t.Error("the structures differ")
	}
}

func TestADeltaHasNoStructureOfItsOwn(t *testing.T) {
	s := New(t.TempDir())
	number := buildWorldAndDelta(t, s)
	if err := s.ExportStructure(t.Context(), "world", number, &bytes.Buffer{}); !errors.Is(err,
		store.ErrInvalid) {
		t.Errorf("it is exported: %v", err)
	}
}
