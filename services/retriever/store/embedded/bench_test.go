package embedded

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// generatedContent is a graph of n triples without vectors, made as it is read: two
// triples to an entity, some of which are hubs, as in Wikidata.
func generatedContent(n int) store.Content {
	const perSubject = 8
	entities := n / 2
	relations := make([]string, 1000)
	for i := range relations {
		relations[i] = fmt.Sprintf("relation %04d", i)
	}
	return store.Content{
		EntityCount: entities, TripleCount: n, Relations: relations,
		Entities: func(_ context.Context, emit func(store.NamedEntity) error) error {
			for i := range entities {
				if err := emit(store.NamedEntity{Name: fmt.Sprintf("entity number %09d", i)}); err != nil {
					return err
				}
			}
			return nil
		},
		Triples: func(_ context.Context, emit func(store.DatedTriple) error) error {
			r := rand.New(rand.NewPCG(5, 6))
			for i := range n {
				// The relation rises within a subject, so all are in order.
				object := r.IntN(entities)
				if r.IntN(4) == 0 {
					object = object % 1000 * (entities / 1000)
				}
				if err := emit(store.DatedTriple{Triple: store.Triple{
					Subject:  store.EntityID(i / perSubject * (entities / (n / perSubject))),
					Relation: store.RelationID(i%perSubject*125 + r.IntN(125)),
					Object:   store.EntityID(object),
				}}); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// benchTriples is the number of triples the benchmarks below are of;
// TRIPLEMESH_BENCH_TRIPLES says otherwise.
func benchTriples() int {
	if n, err := strconv.Atoi(os.Getenv("TRIPLEMESH_BENCH_TRIPLES")); err == nil {
		return n
	}
	return 500_000
}

func benchStore(b *testing.B) *Store {
	b.Helper()
	s := New(b.TempDir())
	b.Cleanup(func() { _ = s.Close() })
	if _, err := s.Write(b.Context(), "bench", generatedContent(benchTriples())); err != nil {
		b.Fatal(err)
	}
	return s
}

// BenchmarkWrite builds a snapshot without vectors.
func BenchmarkWrite(b *testing.B) {
	s := New(b.TempDir())
	n := benchTriples()
	var bytes int64
	defer busy(b)()
	for b.Loop() {
		info, err := s.Write(b.Context(), "bench", generatedContent(n))
		if err != nil {
			b.Fatal(err)
		}
		bytes = info.Bytes
		if _, err := s.Drop(b.Context(), "bench", 0); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "triples/s")
	b.ReportMetric(float64(bytes)/float64(n), "bytes/triple")
}

// BenchmarkSnapshot reads one snapshot in all ways.
func BenchmarkSnapshot(b *testing.B) {
	s := benchStore(b)
	snap, err := s.open(b.Context(), "bench", 1)
	if err != nil {
		b.Fatal(err)
	}
	defer snap.Release()
	b.Run("open", func(b *testing.B) { benchOpen(b, s, 1) })
	b.Run("open with vectors", func(b *testing.B) { benchOpen(b, s, withVectors(b, s, 384)) })
	b.Run("open again", func(b *testing.B) { benchOpenAgain(b, s) })
	b.Run("edges", func(b *testing.B) { benchEdges(b, snap) })
	b.Run("triple", func(b *testing.B) { benchTriple(b, snap) })
	b.Run("match", func(b *testing.B) { benchMatch(b, snap) })
}

// benchOpen opens a snapshot that is on the disk and not in memory.
func benchOpen(b *testing.B, s *Store, number uint64) {
	dir := s.snapshotDir("bench", number)
	graph := int64(0)
	for _, name := range []string{tripleRelFile, tripleObjFile, outFile, samplesFile, byObjectFile, inSubjectsFile,
		inRelationsFile, inFile} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			b.Fatal(err)
		}
		graph += info.Size()
	}
	touched := 0
	for b.Loop() {
		b.StopTimer()
		evict(b, dir)
		b.StartTimer()
		fresh := New(s.dir)
		snap, err := fresh.open(b.Context(), "bench", number)
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		touched = resident(b, dir)
		snap.Release()
		_ = fresh.Close()
		b.StartTimer()
	}
	b.ReportMetric(float64(touched)/(1<<20), "MB-touched")
	b.ReportMetric(float64(graph)/float64(benchTriples()), "graph-bytes/triple")
}

// withVectors makes a copy of the snapshot that has vectors of zeros, in files
// that take no room on the disk: opening does not read them.
func withVectors(b *testing.B, s *Store, dims int) uint64 {
	b.Helper()
	m, err := s.build(b.Context(), "bench", func(f *folder) (manifest, error) {
		l, err := s.cached("bench", 1).acquire(s.snapshotDir("bench", 1))
		if err != nil {
			return manifest{}, err
		}
		defer l.mapping.release()
		sums := l.mapping.data[pagesFile]
		for _, name := range l.mapping.manifest.names() {
			f.sums[name] = l.mapping.manifest.Files[name]
			n := pageCount(f.sums[name].Bytes) * pageSumSize
			f.pages[name], sums = sums[:n], sums[n:]
			if err := os.Link(filepath.Join(l.mapping.dir, name), filepath.Join(f.dir, name)); err != nil {
				return manifest{}, err
			}
		}
		n := int64(l.own.Triples)
		for name, size := range map[string]int64{
			relVectorFile: int64(l.own.Relations * dims * 4),
			vectorsFile:   n * int64(dims) * 4, codesFile: n * int64(dims), scalesFile: n * 4,
			// 64 rows of bits and a number for each.
			bitsFile: (n + 63) / 64 * int64(64*dims/8+64*4),
		} {
			path := filepath.Join(f.dir, name)
			if err := os.WriteFile(path, nil, 0o644); err != nil {
				return manifest{}, err
			}
			if err := os.Truncate(path, size); err != nil {
				return manifest{}, err
			}
			f.sums[name], f.pages[name] = fileSum{Bytes: size}, make([]byte, pageCount(size)*pageSumSize)
		}
		m := l.mapping.manifest
		m.Dims, m.Encoder, m.TripleVectors = dims, "none", true
		return m, nil
	})
	if err != nil {
		b.Fatal(err)
	}
	return m.Number
}

// busy reports the processor's time for each operation from its call to the
// call of what it returns, which others on the machine disturb less than the
// clock's.
func busy(b *testing.B) (report func()) {
	before := residentBytes(b)
	return func() { b.ReportMetric(float64(residentBytes(b)-before)/float64(b.N), "cpu-ns/op") }
}

func residentBytes(b *testing.B) int64 {
	var usage unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return usage.Utime.Nano() + usage.Stime.Nano()
}

// evict asks for the files to be dropped from memory.
func evict(b *testing.B, dir string) {
	eachFile(b, dir, func(f *os.File, size int64) {
		if err := unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
			b.Fatal(err)
		}
	})
}

// resident is the number of bytes of the files are in memory.
func resident(b *testing.B, dir string) int {
	pages := 0
	eachFile(b, dir, func(f *os.File, size int64) {
		if size == 0 {
			return
		}
		data, err := unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
		if err != nil {
			b.Fatal(err)
		}
		defer func() { _ = unix.Munmap(data) }()
		pages += residentPages(b, data)
	})
	return pages * os.Getpagesize()
}

func eachFile(b *testing.B, dir string, do func(f *os.File, size int64)) {
	b.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		b.Fatal(err)
	}
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			b.Fatal(err)
		}
		info, err := f.Stat()
		if err != nil {
			b.Fatal(err)
		}
		do(f, info.Size())
		_ = f.Close()
	}
}

// benchEdges reads the edges of 100 entities at once.
func benchEdges(b *testing.B, snap *snapshot) {
	r := rand.New(rand.NewPCG(1, 2))
	var subjects, objects, hubs []store.EntityID
	for range 100 {
		t := snap.Triple(store.TripleID(r.IntN(snap.info.Triples)))
		subjects, objects = append(subjects, t.Subject), append(objects, t.Object)
		hubs = append(hubs, store.EntityID(r.IntN(1000)*(snap.info.Entities/1000)))
	}
	for _, c := range []struct {
		name      string
		entities  []store.EntityID
		dir       store.Direction
		relations []store.RelationID
	}{
		{"out", subjects, store.Out, nil},
		{"out of two relations", subjects, store.Out, []store.RelationID{3, 300}},
		{"in", objects, store.In, nil},
		{"into hubs of two relations", hubs, store.In, []store.RelationID{3, 300}},
	} {
		b.Run(c.name, func(b *testing.B) {
			edges := 0
			report := busy(b)
			for b.Loop() {
				lists, err := snap.Edges(b.Context(), c.entities, c.dir, c.relations)
				if err != nil {
					b.Fatal(err)
				}
				edges = 0
				for _, l := range lists {
					edges += len(l)
				}
			}
			report()
			b.ReportMetric(float64(edges), "edges")
		})
	}
}

// benchTriple reads triples in no order.
func benchTriple(b *testing.B, snap *snapshot) {
	i, n := 0, snap.info.Triples
	defer busy(b)()
	for b.Loop() {
		i = (i + 611_953) % n
		_ = snap.Triple(store.TripleID(i))
	}
}

// benchMatch looks names up.
func benchMatch(b *testing.B, snap *snapshot) {
	i := 0
	defer busy(b)()
	for b.Loop() {
		i = (i + 61_953) % snap.info.Entities
		found, err := snap.Match(b.Context(), fmt.Sprintf("entity number %09d", i))
		if err != nil || len(found) != 1 {
			b.Fatal(found, err)
		}
	}
}

// benchOpenAgain opens a snapshot that is open already, as each question
// does.
func benchOpenAgain(b *testing.B, s *Store) {
	if _, err := s.Activate(b.Context(), "bench", 1); err != nil {
		b.Fatal(err)
	}
	defer busy(b)()
	for b.Loop() {
		snap, err := s.Open(b.Context(), "bench", 0)
		if err != nil {
			b.Fatal(err)
		}
		snap.Release()
	}
}
