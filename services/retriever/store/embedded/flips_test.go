package embedded

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/internal/testkit"
	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
)

// flips are the places of a file at which a bit is to be flipped, and which:
// with FLIPS=all every bit of a file up to 4 KiB and one of each byte of a
// larger one; without it, no more than some.
func flips(random *rand.Rand, size, some int) (places []flip) {
	for at := range size {
		if size > 4096 {
			places = append(places, flip{at, random.IntN(8)})
			continue
		}
		for bit := range 8 {
			places = append(places, flip{at, bit})
		}
	}
	if os.Getenv("FLIPS") != "all" {
		random.Shuffle(len(places), func(i, j int) { places[i], places[j] = places[j], places[i] })
		places = places[:min(len(places), some)]
	}
	return places
}

type flip struct{ at, bit int }

// apply flips the bit of a file, and again when the test is done with it.
func (f flip) apply(t *testing.T, path string, test func()) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	turn := func() {
		var b [1]byte
		_, err := file.ReadAt(b[:], int64(f.at))
		b[0] ^= 1 << f.bit
		if _, failed := file.WriteAt(b[:], int64(f.at)); err != nil || failed != nil {
			t.Fatal(err, failed)
		}
	}
	turn()
	test()
	turn()
}

// TestNoFlippedBitIsServed flips bits of each file of a snapshot and of a delta
// of it, and of CURRENT, one at a time. What is read then is what it was, or
// ErrCorrupt; and what no question reads, Verify finds.
func TestNoFlippedBitIsServed(t *testing.T) {
	s := newStore(t)
	storetest.Build(t, s, "world", storetest.World(), [2]string{"Paris", "City of Light"})
	changed, err := s.WriteDelta(t.Context(), "world", storetest.Delta(storetest.World()[2:4], moved(),
		store.NamedAlias{Entity: "Rome", Name: "Eternal City"}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Activate(t.Context(), "world", changed.Number); err != nil {
		t.Fatal(err)
	}
	want := readWhole(t, s)
	random := rand.New(rand.NewPCG(3, 4))
	count, files, onlyVerified := 0, 0, 0
	for _, path := range filesOf(t, s.dir) {
		intact, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files++
		for _, f := range flips(random, len(intact), 8) {
			if filepath.Base(path) == sumName && f.at >= bytes.IndexByte(intact, ' ') {
				continue // behind the sum stands only its name
			}
			count++
			f.apply(t, path, func() {
				fresh := New(s.dir)
				defer fresh.Close()
				got, err := openWhole(t, fresh)
				if err == nil && got != want || err != nil && !errors.Is(err, store.ErrCorrupt) {
					t.Errorf("%s with bit %d of byte %d flipped: error is %v", path, f.bit, f.at, err)
				}
				if err != nil || filepath.Base(path) == currentName {
					return
				}
				onlyVerified++
				if _, _, err := fresh.Verify(t.Context(), "world", changed.Number); !errors.Is(err, store.ErrCorrupt) {
					t.Errorf("%s with bit %d of byte %d flipped was not found: %v", path, f.bit, f.at, err)
				}
			})
		}
	}
	if files < 40 {
		t.Errorf("there are only %d files", files)
	}
	testkit.Measured(t, "%d flips in %d files: 0 served; `kg verify` finds the %d that no question reads", count, files,
		onlyVerified)
}

// A flipped bit of CURRENT never leads back to another snapshot either.
func TestNoFlippedBitChangesWhatIsRolledBackTo(t *testing.T) {
	s := newStore(t)
	for range 7 {
		storetest.Build(t, s, "world", storetest.World()[:3])
	}
	path := filepath.Join(s.dir, "world", currentName)
	intact, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want, err := s.readCurrent("world")
	if err != nil {
		t.Fatal(err)
	}
	for at := range intact {
		for bit := range 8 {
			(flip{at, bit}).apply(t, path, func() {
				got, err := s.readCurrent("world")
				switch {
				case errors.Is(err, store.ErrCorrupt):
				case err != nil || got.Active != want.Active || !slices.Equal(got.Previous, want.Previous):
					t.Errorf("bit %d of byte %d flipped: %+v, %v", bit, at, got, err)
				}
			})
		}
	}
	testkit.Measured(t, "%d flips in `CURRENT`: 0 lead elsewhere", 8*len(intact))
}

// TestNoFlippedBitIsImported flips bits of the file of an export.
func TestNoFlippedBitIsImported(t *testing.T) {
	s := newStore(t)
	storetest.Build(t, s, "world", storetest.World(), [2]string{"Paris", "City of Light"})
	want := readWhole(t, s)
	var file bytes.Buffer
	if err := s.Export(t.Context(), "world", 0, &file); err != nil {
		t.Fatal(err)
	}
	places := flips(rand.New(rand.NewPCG(5, 6)), file.Len(), 50)
	for _, f := range places {
		flipped := bytes.Clone(file.Bytes())
		flipped[f.at] ^= 1 << f.bit
		inTempDir(t, func(dir string) {
			into := New(dir)
			into.disk = unsynced{}
			defer into.Close()
			info, err := into.Import(t.Context(), "world", bytes.NewReader(flipped))
			if errors.Is(err, store.ErrCorrupt) || errors.Is(err, store.ErrInvalid) || errors.Is(err, store.ErrFormat) {
				return
			}
			if err == nil {
				_, err = into.Activate(t.Context(), "world", info.Number)
			}
			if err != nil {
				t.Fatalf("bit %d of byte %d: %v", f.bit, f.at, err)
			}
			// It is in the padding, or in a header that is not looked at.
			if got := readWhole(t, into); got != want {
				t.Errorf("bit %d of byte %d flipped: something else is imported", f.bit, f.at)
			}
		})
	}
	testkit.Measured(t, "%d flips in archives: 0 change what is imported", len(places))
}

func moved() []store.Fact {
	facts := slices.Clone(storetest.World()[:2])
	for i := range facts {
		facts[i].Subject.Name = strings.Replace(facts[i].Subject.Name, "Paris", "Rome", 1)
		facts[i].Relation += " once"
	}
	return facts
}

func filesOf(t *testing.T, dir string) (files []string) {
	t.Helper()
	if err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() && entry.Name() != lockName {
			files = append(files, path)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return files
}
