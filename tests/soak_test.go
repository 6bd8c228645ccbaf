//go:build soak

package tests

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

const (
	// soakers ask at once.
	soakers = 8
	// periods is into how many parts a soak is cut; the first quarter warms up.
	periods = 20
	// slack is by what share anything may be more in the last quarter than in the
	// second: what the garbage collector leaves one time and not another.
	slack = 0.1
)

// vitals are what must not grow.
type vitals struct {
	heap       uint64 // bytes, after a collection
	goroutines int
	files      int
	p99        time.Duration
	answered   int64
}

// TestItGoesOnForLong asks a mesh questions of every kind for SOAK (10 minutes),
// some of whose callers go away, and looks whether it holds more and more.
func TestItGoesOnForLong(t *testing.T) {
	length := 10 * time.Minute
	if s := os.Getenv("SOAK"); s != "" {
		var err error
		if length, err = time.ParseDuration(s); err != nil {
			t.Fatal(err)
		}
	}
	model := scripted(t)
	m := start(t, options{model: model, set: map[string]string{"orchestrator.runs.keep": "500"}})
	var took latencies
	var answered, failed, gone atomic.Int64
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var group sync.WaitGroup
	for i := range soakers {
		group.Go(func() {
			random := rand.New(rand.NewPCG(uint64(i), 0))
			for ctx.Err() == nil {
				began := time.Now()
				switch err := m.once(ctx, random); {
				case err == nil:
					answered.Add(1)
					took.add(time.Since(began))
				case ctx.Err() != nil:
				case status.Code(err) == codes.Canceled || errors.Is(err, context.Canceled):
					gone.Add(1)
				default:
					failed.Add(1)
					t.Errorf("a question failed: %v", err)
				}
			}
		})
	}
	var seen []vitals
	for range periods {
		time.Sleep(length / periods)
		model.Forget()
		runtime.GC()
		var mem runtime.MemStats
		runtime.ReadMemStats(&mem)
		files, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		v := vitals{heap: mem.HeapAlloc, goroutines: runtime.NumGoroutine(), files: len(files), p99: took.p99(), answered: answered.Load()}
		seen = append(seen, v)
		t.Logf("%d answered, heap %.1f MB, %d goroutines, %d files, p99 %v", v.answered, float64(v.heap)/1e6, v.goroutines, v.files, v.p99.Round(100*time.Microsecond))
	}
	stop()
	group.Wait()
	t.Logf("%d questions answered, %d callers went away, %d failed", answered.Load(), gone.Load(), failed.Load())
	for name, of := range map[string]func(vitals) float64{
		"heap":       func(v vitals) float64 { return float64(v.heap) },
		"goroutines": func(v vitals) float64 { return float64(v.goroutines) },
		"open files": func(v vitals) float64 { return float64(v.files) },
	} {
		before, after := middle(seen[periods/4:periods/2], of), middle(seen[periods*3/4:], of)
		t.Logf("%s: %.0f, then %.0f", name, before, after)
		if after > before*(1+slack)+2 {
			t.Errorf("%s grew from %.0f to %.0f", name, before, after)
		}
	}
}

// once does one thing that callers do.
func (m *running) once(ctx context.Context, random *rand.Rand) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if random.IntN(50) == 0 { // the caller goes away in the middle
		time.AfterFunc(time.Duration(random.IntN(3000))*time.Microsecond, cancel)
	}
	switch random.IntN(6) {
	case 0:
		_, err := m.orchestrator.Ask(ctx, question("ger"))
		return err
	case 1:
		stream, err := m.orchestrator.AskStream(ctx, &orchestratorv1.AskStreamRequest{Request: question("pg-akv")})
		for err == nil {
			_, err = stream.Recv()
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		return err
	case 2:
		_, err := m.orchestrator.Check(ctx, &orchestratorv1.CheckRequest{
			Text: "Robert Stam works at Google.", Kg: &graphv1.KnowledgeGraphRef{Name: wikidata},
		})
		return err
	case 3:
		_, err := m.orchestrator.ListRuns(ctx, &orchestratorv1.ListRunsRequest{PageSize: 20, Query: "stam"})
		return err
	}
	_, err := m.orchestrator.Ask(ctx, question("pg-akv"))
	return err
}

// latencies are those since they were last looked at.
type latencies struct {
	mu  sync.Mutex
	all []time.Duration
}

func (l *latencies) add(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, d)
}

func (l *latencies) p99() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.all) == 0 {
		return 0
	}
	slices.Sort(l.all)
	p := l.all[len(l.all)*99/100]
	l.all = l.all[:0]
	return p
}

// middle is the median of something.
func middle(seen []vitals, of func(vitals) float64) float64 {
	var values []float64
	for _, v := range seen {
		values = append(values, of(v))
	}
	slices.Sort(values)
	return values[len(values)/2]
}
