package tests

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// BenchmarkProcessorTime asks six processes the questions of BenchmarkOverhead, one at a time and by eight callers for
// each processor, and reports the processor time of each process for a question, in milliseconds, that of the kernel
// included.
func BenchmarkProcessorTime(b *testing.B) {
	all := six(b, binaries(b), benchGraphs(b), b.TempDir(), instant(b), nil)
	mesh := orchestratorv1.NewOrchestratorServiceClient(dial(b, all[len(all)-1].addr))
	questions := benchQuestions(b, 10_000)
	var asked atomic.Int64
	ask := func(b *testing.B) {
		_, err := mesh.Ask(b.Context(), &orchestratorv1.AskRequest{
			Question: questions[int(asked.Add(1))%len(questions)], Method: "pg-akv",
			Kg: &graphv1.KnowledgeGraphRef{Name: wikidata}})
		if err != nil {
			b.Error(err)
		}
	}
	for range 200 { // the first ones connect, and fill what is kept
		ask(b)
	}
	measure := func(b *testing.B, askAll func()) {
		before := processorTicks(b, all)
		askAll()
		after := processorTicks(b, all)
		for _, p := range all {
			const perTick = 1000 / 100 // milliseconds, whatever the kernel's own clock
			b.ReportMetric(float64(perTick*(after[p.name]-before[p.name]))/float64(b.N), p.name+"-cpu-ms")
		}
	}
	b.Run("one at a time", func(b *testing.B) {
		measure(b, func() {
			for b.Loop() {
				ask(b)
			}
		})
	})
	b.Run("many at once", func(b *testing.B) {
		b.SetParallelism(8)
		measure(b, func() {
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					ask(b)
				}
			})
		})
	})
}

// processorTicks returns the processor time of each process so far, in ticks of a hundredth of a second.
func processorTicks(b *testing.B, all []*process) map[string]int {
	b.Helper()
	ticks := map[string]int{}
	for _, p := range all {
		stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(p.cmd.Process.Pid), "stat"))
		if err != nil {
			b.Fatal(err)
		}
		_, after, _ := strings.Cut(string(stat), ") ") // the name of a program may have blanks
		for _, field := range strings.Fields(after)[11:13] {
			n, err := strconv.Atoi(field)
			if err != nil {
				b.Fatal(err)
			}
			ticks[p.name] += n
		}
	}
	return ticks
}
