//go:build soak

package tests

import (
	"cmp"
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/triplemesh/triplemesh/internal/testkit"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

const (
	// soakers is the number of concurrent callers.
	soakers = 16
	// windows is the number of intervals of a soak. In the first quarter caches fill, so it is not
	// judged.
	windows = 80
)

// TestItGoesOnForLong asks a mesh for SOAK (10 minutes), or until QUESTIONS were asked, and after
// each window, when nothing is in flight, measures what must not grow. If interrupted, it judges
// the windows so far.
func TestItGoesOnForLong(t *testing.T) {
	length, count := soakLength(t)
	s := newSoak(t, expected(length, count))
	ctx, stop := signal.NotifyContext(t.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	defer context.AfterFunc(ctx, s.tally.changed.Broadcast)()
	var group sync.WaitGroup
	group.Go(func() { s.reference.run(ctx, t) })
	for i := range soakers {
		group.Go(func() { s.soak(ctx, uint64(i)) })
	}
	began := time.Now()
	s.before.at = began
	var all []vitals
	for i := range windows {
		if count > 0 {
			s.await(ctx, count*int64(i+1)/windows)
		} else {
			sleepUntil(ctx, began.Add(length*time.Duration(i+1)/windows))
		}
		if ctx.Err() != nil {
			break
		}
		// No questions run while the mesh is measured.
		s.gate.Lock()
		if err := s.deleteFeedback(ctx); err != nil && ctx.Err() == nil {
			t.Errorf("delete the feedback of a window: %v", err)
		}
		all = append(all, s.look(i))
		if i%4 == 3 {
			s.switchSnapshot()
		}
		s.gate.Unlock()
		if i%8 == 5 {
			s.model.down.Store(true)
			time.AfterFunc(200*time.Millisecond, func() { s.model.down.Store(false) })
		}
		if i%10 == 9 {
			t.Logf("%s: %v; open: %v", time.Since(began).Round(time.Second), all[i], s.open())
		}
	}
	stop()
	group.Wait()
	if len(all) < windows/8 {
		t.Fatalf("stopped after %d windows: no growth can be seen in fewer than %d", len(all), windows/8)
	}
	s.report(all, time.Since(began))
}

// sleepUntil sleeps until a time, or until the context ends.
func sleepUntil(ctx context.Context, then time.Time) {
	select {
	case <-time.After(time.Until(then)):
	case <-ctx.Done():
	}
}

// soakLength returns for how long to ask, or how many questions.
func soakLength(t *testing.T) (length time.Duration, count int64) {
	var err error
	if v := cmp.Or(os.Getenv("SOAK"), "10m"); os.Getenv("QUESTIONS") == "" {
		if length, err = time.ParseDuration(v); err != nil {
			t.Fatalf("SOAK: %v", err)
		}
	}
	if v := os.Getenv("QUESTIONS"); v != "" {
		if count, err = strconv.ParseInt(v, 10, 64); err != nil || count < windows {
			t.Fatalf("QUESTIONS=%s: want a number of at least %d", v, windows)
		}
	}
	return length, count
}

// soak is a mesh under sustained load, and the results.
type soak struct {
	*running
	marks     orchestratorv1.FeedbackServiceClient
	t         *testing.T
	questions []string
	model     *soakModel
	log       *byteCounter
	metrics   string
	audit     string
	scratch   string

	// gate is read-locked by callers.
	gate   sync.RWMutex
	tally  callTally
	active uint64
	before usage
	// reference runs beside the callers.
	reference *reference
}

// expected is the number of questions, on a machine like the one this was written on.
func expected(length time.Duration, count int64) int64 {
	const aSecond = 500
	return max(count, int64(length.Seconds())*aSecond)
}

func newSoak(t *testing.T, expected int64) *soak {
	s := &soak{
		t: t, questions: soakQuestions(t, expected), model: newSoakModel(t), log: &byteCounter{},
		metrics: testkit.FreeAddr(t),
		audit:   filepath.Join(t.TempDir(), "audit.jsonl"), scratch: t.TempDir(), active: 2,
		reference: newReference(),
	}
	t.Setenv("TMPDIR", s.scratch)
	s.tally.start()
	s.running = start(t, options{http: true, log: s.log, set: map[string]string{
		"llm.base_url": s.model.url(), "llm.model": "scripted",
		"telemetry.log_level": "info",
		// Small enough to rotate many times in an hour.
		"llm.cache.memory_entries": "2000", "llm.cache.dir": "",
		"retriever.encoder.cache.dir":       filepath.Join(t.TempDir(), "vectors"),
		"retriever.encoder.cache.max_bytes": strconv.Itoa(48 << 20),
		"orchestrator.runs.keep":            "500",
		"orchestrator.server.audit.file":    s.audit,
		"orchestrator.server.metrics_addr":  s.metrics,
	}})
	s.marks = orchestratorv1.NewFeedbackServiceClient(s.dial(t, "orchestrator"))
	return s
}

// switchSnapshot activates the other snapshot of the tests' wikidata.
func (s *soak) switchSnapshot() {
	s.active = 3 - s.active
	if err := s.activate(s.active); err != nil {
		s.t.Errorf("activate snapshot %d: %v", s.active, err)
	}
}
