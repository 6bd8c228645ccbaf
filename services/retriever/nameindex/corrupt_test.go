package nameindex

import (
	"errors"
	"slices"
	"testing"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

func TestDamageIsAnErrorNotAPanic(t *testing.T) {
	names, holders := files(t, numbered(world))
	for _, c := range []struct {
		name           string
		names, holders []byte
	}{
		{"no bytes", nil, nil},
		{"names cut off", names[:len(names)-1], holders},
		{"holders cut off", names, holders[:len(holders)-1]},
		{"holders of another index", names, names},
		{"zeroes", make([]byte, len(names)), make([]byte, len(holders))},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := Open(c.names, c.holders); !errors.Is(err, store.ErrCorrupt) {
				t.Errorf("error %v, want %v", err, store.ErrCorrupt)
			}
		})
	}
	t.Run("each byte in turn", func(t *testing.T) {
		for i := range names {
			damaged := slices.Clone(names)
			damaged[i] ^= 0x55
			tryAll(t, damaged, holders)
		}
		for i := range holders {
			damaged := slices.Clone(holders)
			damaged[i] ^= 0x55
			tryAll(t, names, damaged)
		}
	})
}

// tryAll looks up names in possibly damaged files; every error must be ErrCorrupt.
func tryAll(t *testing.T, names, holders []byte) {
	index, err := Open(names, holders)
	if err != nil {
		if !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("open: %v", err)
		}
		return
	}
	for _, key := range []string{"barack obama", "rivr grande rio", "東京"} {
		if _, err := index.Match(key); err != nil && !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("match: %v", err)
		}
		if _, err := index.Fuzzy(t.Context(), key, 0, 5); err != nil && !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("fuzzy: %v", err)
		}
	}
}

func FuzzOpen(f *testing.F) {
	names, holders := files(f, numbered(world))
	f.Add(uint16(0), byte(0), uint16(0), byte(0), "paris")
	f.Add(uint16(1), byte(0xff), uint16(20), byte(0x80), "barack hussein obama")
	f.Add(uint16(40), byte(1), uint16(2), byte(0x7f), "\xff\xfe 東")
	f.Fuzz(func(t *testing.T, at uint16, flip byte, from uint16, with byte, text string) {
		n, h := slices.Clone(names), slices.Clone(holders)
		n[int(at)%len(n)] ^= flip
		h[int(from)%len(h)] ^= with
		index, err := Open(n, h)
		if err != nil {
			return
		}
		entities, err := index.Match(text)
		if err != nil && !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("match: %v", err)
		}
		matches, err := index.Fuzzy(t.Context(), text, 0, 5)
		if err != nil && !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("fuzzy: %v", err)
		}
		if len(matches) > 5 || (text == "" && len(entities) > 0) {
			t.Errorf("%q finds %v, %v", text, entities, matches)
		}
	})
}
