package embedded

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// FuzzManifest: no manifest is taken whose counts or files cannot be.
func FuzzManifest(f *testing.F) {
	whole, err := json.Marshal(manifest{Format: formatVersion, KG: "world", Number: 1,
		Files: map[string]fileSum{"objects": {Bytes: 8, SHA256: "00"}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	for _, seed := range []string{"", "{}", `{"format": 99}`, `{"format": 2, "files": {"../x": {"bytes": 1}}}`,
		`{"format": 2, "own": {"entities": -1}}`, `{"format": 2, "base": {"number": 1, "first_triple": 99999999999}}`,
		`{"format": 2, "triples": 1e3}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := parseManifest(data)
		if err != nil {
			if !errors.Is(err, store.ErrCorrupt) && !errors.Is(err, store.ErrFormat) {
				t.Fatal(err)
			}
			return
		}
		for name, sum := range m.Files {
			if filepath.Join("dir", name) != "dir/"+name || sum.Bytes < 0 {
				t.Errorf("the file %q of %d bytes was taken", name, sum.Bytes)
			}
		}
		if m.Triples < 0 || m.Own.Triples < 0 || m.first().FirstTriple < 0 || m.first().FirstEntity < 0 {
			t.Errorf("counts of %+v were taken", m)
		}
	})
}

// FuzzCurrent: what is read of a CURRENT is what is written again.
func FuzzCurrent(f *testing.F) {
	for _, seed := range []string{"", "{}", `{"active": 3, "previous": [1, 2]}`, `{"active": -1}`,
		`{"active": 3, "sum": "00"}`, `[]`, `{"active": 1}{"active": 2}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s := newStore(t)
		if err := os.MkdirAll(s.kgDir("world"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(s.kgDir("world"), currentName), data, 0o644); err != nil {
			t.Fatal(err)
		}
		read, err := s.readCurrent("world")
		if err != nil {
			if !errors.Is(err, store.ErrCorrupt) && !errors.Is(err, store.ErrFormat) {
				t.Fatal(err)
			}
			return
		}
		if err := s.writeCurrent("world", read); err != nil {
			t.Fatal(err)
		}
		again, err := s.readCurrent("world")
		if err != nil || again.Active != read.Active || len(again.Previous)+len(read.Previous) > 0 &&
			!reflect.DeepEqual(again.Previous, read.Previous) {
			t.Errorf("%q reads %+v, written again %+v, %v", data, read, again, err)
		}
	})
}
