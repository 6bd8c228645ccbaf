package nameindex

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/internal/testkit"
	"github.com/triplemesh/triplemesh/services/retriever/extsort"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// freebaseNames returns the folded names of the Freebase slice.
func freebaseNames(b *testing.B) map[string][]uint32 {
	b.Helper()
	file, err := os.Open(testkit.SharedData(b, "freebase", "triples.tsv.gz"))
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		b.Fatal(err)
	}
	keys := map[string][]uint32{}
	seen := map[string]bool{}
	for lines := bufio.NewScanner(unpacked); lines.Scan(); {
		fields := strings.Split(lines.Text(), "\t")
		for _, name := range []string{fields[0], fields[2]} {
			if !seen[name] {
				seen[name] = true
				key := store.Fold(name)
				keys[key] = append(keys[key], uint32(len(seen)))
			}
		}
	}
	return keys
}

// generateNames returns names of two or three words of real names, drawn with their frequencies.
func generateNames(b *testing.B, n int) map[string][]uint32 {
	b.Helper()
	var words []string
	for _, key := range slices.Sorted(maps.Keys(freebaseNames(b))) {
		words = append(words, strings.Fields(key)...)
	}
	random := rand.New(rand.NewPCG(1, 2))
	keys := make(map[string][]uint32, n)
	for i := uint32(0); len(keys) < n; i++ {
		parts := make([]string, 2+random.IntN(2))
		for j := range parts {
			parts[j] = words[random.IntN(len(words))]
		}
		key := strings.Join(parts, " ")
		keys[key] = append(keys[key], i)
	}
	return keys
}

func BenchmarkIndex(b *testing.B) {
	for _, set := range []struct {
		name string
		keys func() map[string][]uint32
	}{
		{"real", func() map[string][]uint32 { return freebaseNames(b) }},
		{"generated 1M", func() map[string][]uint32 { return generateNames(b, 1_000_000) }},
	} {
		b.Run(set.name, func(b *testing.B) {
			keys := set.keys()
			sorted := slices.Sorted(maps.Keys(keys))
			var names, holders bytes.Buffer
			b.Run("write", func(b *testing.B) {
				for b.Loop() {
					names.Reset()
					holders.Reset()
					write(b, &names, &holders, sorted, keys)
				}
				b.ReportMetric(float64(len(keys)*b.N)/b.Elapsed().Seconds(), "keys/s")
				b.ReportMetric(float64(names.Len())/float64(len(keys)), "names-B/key")
				b.ReportMetric(float64(holders.Len())/float64(len(keys)), "holders-B/key")
			})
			index, err := Open(names.Bytes(), holders.Bytes())
			if err != nil {
				b.Fatal(err)
			}
			b.Run("match", func(b *testing.B) {
				for i := 0; b.Loop(); i++ {
					if found, err := index.Match(sorted[i*7919%len(sorted)]); err != nil || len(found) == 0 {
						b.Fatal(found, err)
					}
				}
			})
			for _, text := range []string{"obama", "neuse", "barrack obbama", "barack hussein obama",
				"republic of congo", "washington", "qwertyuiop"} {
				b.Run(fmt.Sprintf("fuzzy %s", text), func(b *testing.B) {
					for b.Loop() {
						if _, err := index.Fuzzy(b.Context(), text, 0.4, 40); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		})
	}
}

func write(b *testing.B, names, holders *bytes.Buffer, sorted []string, keys map[string][]uint32) {
	w, err := NewWriter(names, holders, extsort.Options{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	for _, key := range sorted {
		if err := w.Add(key, keys[key]); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Finish(b.Context()); err != nil {
		b.Fatal(err)
	}
}
