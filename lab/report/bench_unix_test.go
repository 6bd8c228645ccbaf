//go:build unix

package report

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/triplemesh/triplemesh/lab/dataset"
	"github.com/triplemesh/triplemesh/lab/report/reporttest"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// writeRecorded writes 10,000 recorded runs, of the size that runs over real
// knowledge graphs have: ten evaluations of a thousand questions.
func writeRecorded(b *testing.B, root string) (size int64) {
	for _, name := range []string{"one", "three"} {
		for _, method := range []string{"io", "cot", "pg-akv", "ger", "auto"} {
			lines := reporttest.Lines(1000, func(i int, q dataset.Question) (*orchestratorv1.Run, error) {
				if method == "io" || method == "cot" {
					return reporttest.IO(q, q.Answers[0]), nil
				}
				return reporttest.PgAkv(q, reporttest.Depth(i%5), 85), nil
			})
			dir := reporttest.Write(b, root, reporttest.Manifest(name, "wikidata", method), lines...)
			info, err := os.Stat(filepath.Join(dir, "runs.jsonl"))
			if err != nil {
				b.Fatal(err)
			}
			size += info.Size()
		}
	}
	return size
}

// BenchmarkReport makes a page of 10,000 recorded runs, and reports how large
// they and the page are, how much memory the program held at most, and how long
// it computed: on a busy machine the clock says more of its other work.
func BenchmarkReport(b *testing.B) {
	root := b.TempDir()
	size := writeRecorded(b, root)
	runtime.GC()
	var peak atomic.Uint64
	done := make(chan struct{})
	go func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(20 * time.Millisecond):
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				peak.Store(max(peak.Load(), m.Sys))
			}
		}
	}()
	out := filepath.Join(root, "report.html")
	before := computed(b)
	for b.Loop() {
		c := Command{Dirs: []string{root}, Out: out, Baseline: "io"}
		if err := c.Run(io.Discard); err != nil {
			b.Fatal(err)
		}
	}
	close(done)
	b.ReportMetric((computed(b)-before).Seconds()/float64(b.N), "cpu-s/op")
	info, err := os.Stat(out)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(size)/1e6, "MB-of-runs")
	b.ReportMetric(float64(info.Size())/1e6, "MB-of-page")
	b.ReportMetric(float64(peak.Load())/1e6, "MB-of-memory")
}

// computed returns how long the process has kept processors busy.
func computed(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
