package nameindex

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/services/retriever/extsort"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// build writes an index of keys and opens it.
func build(t testing.TB, keys map[string][]uint32) *Index {
	t.Helper()
	names, holders := files(t, keys)
	index, err := Open(names, holders)
	if err != nil {
		t.Fatal(err)
	}
	return index
}

func files(t testing.TB, keys map[string][]uint32) (names, holders []byte) {
	t.Helper()
	var n, h bytes.Buffer
	w, err := NewWriter(&n, &h, extsort.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if err := w.Add(key, keys[key]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	return n.Bytes(), h.Bytes()
}

// world numbers its names by their position.
var world = []string{
	"barack obama", "michelle obama", "neuse river", "rio grande river", "sao paulo", "paris", "parys",
	"東京", "the who", "who", "u2", "michael jackson", "jackson michael", "republic of the congo",
	"münchen", "ac dc", "john", "jon", "long " + strings.Repeat("longer ", 30) + "name",
}

func numbered(names []string) map[string][]uint32 {
	keys := map[string][]uint32{}
	for i, name := range names {
		keys[name] = append(keys[name], uint32(i))
	}
	return keys
}

func TestMatch(t *testing.T) {
	keys := numbered(world)
	keys["paris"] = []uint32{5, 40, 1<<32 - 1}
	index := build(t, keys)
	for key, want := range keys {
		if got, err := index.Match(key); err != nil || !slices.Equal(got, want) {
			t.Errorf("match %q: got %v, %v, want %v", key, got, err, want)
		}
	}
	for _, key := range []string{"", "pari", "pariss", "obama", "Paris", "zzz", "\xff",
		strings.Repeat("a", MaxKeyLength+1)} {
		if got, err := index.Match(key); err != nil || len(got) != 0 {
			t.Errorf("match %q: got %v, %v, want none", key, got, err)
		}
	}
}

func TestFuzzy(t *testing.T) {
	index := build(t, numbered(world))
	tests := []struct {
		name, text string
		least      float32
		want       []string
	}{
		{"the very name", "neuse river", 0.9, []string{"neuse river 1.00"}},
		{"a letter too many", "paris", 0.7, []string{"paris 1.00", "parys 0.80"}},
		{"neighbours swapped", "prais", 0.7, []string{"paris 0.80"}},
		{"two slips in a longer name", "sau paolo", 0.7, []string{"sao paulo 0.78"}},
		{"words run together", "acdc", 0.7, []string{"ac dc 0.80"}},
		{"a letter that takes two bytes", "munchen", 0.8, []string{"münchen 0.86"}},
		{"a name in another script", "東京", 0.9, []string{"東京 1.00"}},
		{"short texts only letter for letter", "u3", 0.1, nil},
		{"a part of the name", "neuse", 0.5, []string{"neuse river 0.67"}},
		{"a middle name", "barack hussein obama", 0.7, []string{"barack obama 0.76"}},
		{"another order of words", "obama barack", 0.7, []string{"barack obama 1.00"}},
		{"a slip in each of two words", "barrack obbama", 0.7, []string{"barack obama 0.92"}},
		{"a word that many keys have beside a rare one", "congo republic", 0.7, []string{"republic of the congo 0.84"}},
		{"two entities that share the only word", "obama", 0.5, []string{"barack obama 0.62", "michelle obama 0.56"}},
		{"equally alike in the order of their numbers", "michael jackson", 0.9, []string{"michael jackson 1.00",
			"jackson michael 1.00"}},
		{"initials", "bo", 0.5, []string{"barack obama 0.50"}},
		{"initials without small words", "rc", 0.5, []string{"republic of the congo 0.50"}},
		{"initials of small words too", "rotc", 0.5, []string{"republic of the congo 0.50"}},
		{"initials are not misspelt", "xbo", 0.1, nil},
		{"words that are not misspelt initials", "xrotc", 0.1, nil},
		{"nothing alike", "qqqqqq", 0.1, nil},
		{"nothing", "", 0, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			matches, err := index.Fuzzy(t.Context(), tt.text, tt.least, 10)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, m := range matches {
				got = append(got, fmt.Sprintf("%s %.2f", world[m.Entity], m.Similarity))
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("%q finds %q, want %q", tt.text, got, tt.want)
			}
		})
	}
}

func TestFuzzyReturnsDistinctEntitiesWithinTheLimit(t *testing.T) {
	keys := numbered(world)
	for i := range 20 {
		keys[fmt.Sprintf("congo %d", i)] = []uint32{100, uint32(200 + i)}
	}
	index := build(t, keys)
	for _, limit := range []int{-1, 0, 1, 5, 1000} {
		matches, err := index.Fuzzy(t.Context(), "congo", 0.1, limit)
		if err != nil {
			t.Fatal(err)
		}
		if want := max(0, min(limit, 22)); len(matches) != want {
			t.Errorf("limit %d gives %d, want %d", limit, len(matches), want)
		}
		seen := map[uint32]bool{}
		for i, m := range matches {
			if seen[m.Entity] || m.Similarity < 0.1 || m.Similarity > 1 {
				t.Errorf("limit %d: %+v", limit, m)
			}
			if i > 0 && (m.Similarity > matches[i-1].Similarity || m.Similarity == matches[i-1].Similarity &&
				m.Entity < matches[i-1].Entity) {
				t.Errorf("limit %d: out of order at %d", limit, i)
			}
			seen[m.Entity] = true
		}
	}
}

func TestFuzzyLooksUpCommonWordsByRareOnes(t *testing.T) {
	keys := map[string][]uint32{"lake wobegon": {1 << 20}}
	for i := range 3 * maxWalkedList {
		keys[fmt.Sprintf("lake %d", i)] = []uint32{uint32(i)}
	}
	index := build(t, keys)
	matches, err := index.Fuzzy(t.Context(), "wobegon the lake", 0.3, 3)
	if err != nil || len(matches) != 1 || matches[0].Entity != 1<<20 {
		t.Errorf("got %v, %v", matches, err)
	}
	if matches, err = index.Fuzzy(t.Context(), "lake", 0.3, 1e6); err != nil || len(matches) != len(keys) {
		t.Errorf("a common word alone finds %d of %d, %v", len(matches), len(keys), err)
	}
}

// distance is the textbook's: insertions, deletions, replacements, and swaps of neighbours that are
// not edited again.
func distance(a, b []rune) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		for j := range rows[i] {
			switch {
			case i == 0 || j == 0:
				rows[i][j] = i + j
			case a[i-1] == b[j-1]:
				rows[i][j] = rows[i-1][j-1]
			default:
				rows[i][j] = 1 + min(rows[i-1][j], rows[i][j-1], rows[i-1][j-1])
			}
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}

func TestSimilarKeysFindsAllKeysWithinItsDistance(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	letters := []rune("abé東𝔘")
	word := func() string {
		r := make([]rune, 1+random.IntN(11))
		for i := range r {
			r[i] = letters[random.IntN(len(letters)-random.IntN(len(letters)))]
		}
		return string(r)
	}
	keys := map[string][]uint32{}
	for range 5000 {
		keys[word()] = []uint32{0}
	}
	sorted := slices.Sorted(maps.Keys(keys))
	for i, key := range sorted {
		keys[key] = []uint32{uint32(i)}
	}
	index := build(t, keys)
	for range 300 {
		text := []rune(word())
		found, err := index.similarKeys(t.Context(), index.keys, string(text))
		if err != nil {
			t.Fatal(err)
		}
		var got, want []scoredKey
		for i, key := range sorted {
			k := []rune(key)
			most := map[bool]int{len(text) >= 4: 1, len(text) < 4: 0}[true]
			if len(text) >= 8 && k[0] == text[0] {
				most = 2
			} else if len(text) >= 8 {
				continue
			}
			if d := distance(text, k); d <= most {
				want = append(want, scoredKey{uint64(i), 1 - float32(d)/float32(max(len(text), len(k)))})
			}
		}
		if got = found; !slices.Equal(got, want) {
			t.Fatalf("%q: got %v, want %v", string(text), got, want)
		}
	}
}

func TestKeysMustAscend(t *testing.T) {
	w, err := NewWriter(io.Discard, io.Discard, extsort.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := w.Add("b", []uint32{1}); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"a", "b"} {
		if err := w.Add(key, []uint32{1}); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("add %q after b: %v", key, err)
		}
	}
}

func TestAddSkipsEmptyAndLongKeys(t *testing.T) {
	long := strings.Repeat("x", MaxKeyLength+1)
	index := build(t, map[string][]uint32{"": {1}, "a": {2}, "nobody": nil, long: {3}})
	for key, want := range map[string]int{"": 0, "a": 1, "nobody": 0, long: 0} {
		if got, err := index.Match(key); err != nil || len(got) != want {
			t.Errorf("match %.10q: got %v, %v", key, got, err)
		}
	}
}

func TestAnEmptyIndexFindsNothing(t *testing.T) {
	index := build(t, nil)
	if got, err := index.Match("a"); err != nil || got != nil {
		t.Errorf("match: %v, %v", got, err)
	}
	if got, err := index.Fuzzy(t.Context(), "barack obama", 0, 10); err != nil || got != nil {
		t.Errorf("fuzzy: %v, %v", got, err)
	}
}

// limitedWriter fails after some bytes.
type limitedWriter struct{ remaining int }

var errFull = errors.New("disk is full")

func (f *limitedWriter) Write(p []byte) (int, error) {
	if f.remaining -= len(p); f.remaining < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestAFullDiskIsReported(t *testing.T) {
	for _, c := range []struct {
		name           string
		names, holders int
	}{{"names", 1 << 10, 1 << 30}, {"holders", 1 << 30, 1 << 10}, {"names at the end", 0, 1 << 30}} {
		t.Run(c.name, func(t *testing.T) {
			w, err := NewWriter(&limitedWriter{c.names}, &limitedWriter{c.holders}, extsort.Options{Dir: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			for i := range 30_000 {
				if err = w.Add(fmt.Sprintf("%07d %d", i, i*7919), []uint32{uint32(i)}); err != nil {
					break
				}
			}
			if err == nil {
				err = w.Finish(t.Context())
			}
			if !errors.Is(err, errFull) {
				t.Errorf("error %v, want %v", err, errFull)
			}
		})
	}
}

func TestCancellationStopsTheSearch(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := build(t, numbered(world)).Fuzzy(ctx, "barrack obama", 0.1, 10); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
