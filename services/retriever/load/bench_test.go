package load

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/triplemesh/triplemesh/internal/testkit"
)

// writeRepeated writes n triples of the Wikidata slice to a file. Each round of the
// slice has names of its own, but for its relations.
func writeRepeated(b *testing.B, n int) string {
	b.Helper()
	packed, err := os.Open(testkit.SharedData(b, "wikidata", "triples.tsv.gz"))
	if err != nil {
		b.Fatal(err)
	}
	defer packed.Close()
	plain, err := gzip.NewReader(packed)
	if err != nil {
		b.Fatal(err)
	}
	var lines [][3][]byte
	for in := bufio.NewScanner(plain); in.Scan(); {
		cells := bytes.Split(bytes.Clone(in.Bytes()), []byte("\t"))
		lines = append(lines, [3][]byte{cells[0], cells[1], cells[2]})
	}
	path := filepath.Join(b.TempDir(), "repeated.tsv")
	file, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	out := bufio.NewWriterSize(file, 1<<20)
	var text []byte
	for i := range n {
		line, round := lines[i%len(lines)], int64(i/len(lines))
		text = strconv.AppendInt(append(append(text[:0], line[0]...), ' '), round, 36)
		text = append(append(append(text, '\t'), line[1]...), '\t')
		text = strconv.AppendInt(append(append(text, line[2]...), ' '), round, 36)
		if _, err := out.Write(append(text, '\n')); err != nil {
			b.Fatal(err)
		}
	}
	if err := out.Flush(); err != nil {
		b.Fatal(err)
	}
	return path
}

// BenchmarkBuild reads a TSV file of b.N triples and puts them in order, up to
// the content of a snapshot but for its vectors. For a large graph:
//
//	go test -run - -bench Build -benchtime 50000000x ./load
func BenchmarkBuild(b *testing.B) {
	path := writeRepeated(b, b.N)
	runtime.GC()
	debug.FreeOSMemory()
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(1600 << 20))
	before := cpuSeconds()
	l := New(Options{KG: "bench", Scratch: b.TempDir(), Progress: func(p Progress) {
		if p.Phase != Read && p.Done == p.Total {
			b.Logf("phase %d after %v", p.Phase, b.Elapsed())
		}
	}})
	b.ResetTimer()
	if err := l.readFile(context.Background(), path); err != nil {
		b.Fatal(err)
	}
	b.Logf("read after %v", b.Elapsed())
	g, err := l.builder.assemble(context.Background(), l.reportSorting)
	if err != nil {
		b.Fatal(err)
	}
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "triples/s")
	b.ReportMetric(float64(b.N)/(cpuSeconds()-before), "triples/cpu-s")
	b.ReportMetric(float64(g.entities.count), "entities")
	b.ReportMetric(peakMiB(b), "peak-MiB")
	if err := l.Close(); err != nil {
		b.Fatal(err)
	}
}

// cpuSeconds is the processor time of this process.
func cpuSeconds() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return float64(u.Utime.Sec+u.Stime.Sec) + float64(u.Utime.Usec+u.Stime.Usec)/1e6
}

// peakMiB is the most memory that this process ever had resident.
func peakMiB(b *testing.B) float64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Skip("the system does not say how much memory was used")
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	var kib float64
	if _, err := fmt.Sscan(rest, &kib); err != nil {
		b.Fatal(err)
	}
	return kib / 1024
}
