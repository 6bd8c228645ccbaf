//go:build versions

package versions

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// askers ask at once, without a pause.
const askers = 4

// asking is a steady stream of questions, and what came of them.
type asking struct {
	client orchestratorv1.OrchestratorServiceClient
	kinds  []kind
	stop   func()

	mu    sync.Mutex
	asked int
	lost  []string
	said  map[string]map[string]int // how often each answer came, by kind
}

// ask begins to ask a mesh, until the test ends or stop is called.
func ask(tb testing.TB, m *running, kinds []kind) *asking {
	tb.Helper()
	a := &asking{client: orchestratorv1.NewOrchestratorServiceClient(m.dial(tb, "orchestrator")), kinds: kinds, said: map[string]map[string]int{}}
	ctx, cancel := context.WithCancel(context.Background())
	var group sync.WaitGroup
	for i := range askers {
		group.Go(func() {
			for n := i; ctx.Err() == nil; n++ {
				a.once(kinds[n%len(kinds)])
			}
		})
	}
	a.stop = sync.OnceFunc(func() {
		cancel()
		group.Wait()
	})
	tb.Cleanup(a.stop)
	return a
}

// once asks to the end: what is under way when the asking stops is answered.
func (a *asking) once(k kind) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	answer, err := k.ask(ctx, a.client)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked++
	if err != nil {
		a.lost = append(a.lost, k.name+": "+err.Error())
		return
	}
	if a.said[k.name] == nil {
		a.said[k.name] = map[string]int{}
	}
	a.said[k.name][answer]++
}

// counted is what came of the questions since the last look, which is begun
// anew.
type counted struct {
	asked int
	lost  []string
	said  map[string]map[string]int
}

// look waits until each kind was answered some times more, and counts.
func (a *asking) look(tb testing.TB) counted {
	tb.Helper()
	for deadline := time.Now().Add(patience); ; {
		a.mu.Lock()
		enough := len(a.lost) > 0 || !slices.ContainsFunc(a.kinds, func(k kind) bool { return total(a.said[k.name]) < 5 })
		if enough || time.Now().After(deadline) {
			c := counted{a.asked, a.lost, a.said}
			a.asked, a.lost, a.said = 0, nil, map[string]map[string]int{}
			a.mu.Unlock()
			if !enough {
				tb.Errorf("within %s the mesh answered %d questions, not five of each kind", patience, c.asked)
			}
			return c
		}
		a.mu.Unlock()
		time.Sleep(20 * time.Millisecond)
	}
}

func total(answers map[string]int) (n int) {
	for times := range maps.Values(answers) {
		n += times
	}
	return n
}

// rest is what came of the questions since the last look.
func (a *asking) rest() counted {
	a.mu.Lock()
	defer a.mu.Unlock()
	return counted{a.asked, a.lost, a.said}
}

// known are the kinds that a mesh of one version answers, and the answers. A
// kind whose call it does not have is left out.
func known(tb testing.TB, m *running) (there []kind, answers map[string]string) {
	tb.Helper()
	client, answers := orchestratorv1.NewOrchestratorServiceClient(m.dial(tb, "orchestrator")), map[string]string{}
	for _, k := range kinds() {
		ctx, cancel := context.WithTimeout(tb.Context(), patience)
		answer, err := k.ask(ctx, client)
		cancel()
		switch {
		case status.Code(err) == codes.Unimplemented:
		case err != nil:
			tb.Fatalf("%s: %v", k.name, err)
		default:
			there, answers[k.name] = append(there, k), answer
		}
	}
	return there, answers
}

// check fails the test where a question was lost, or answered otherwise than by
// a mesh of one version.
func (c counted) check(tb testing.TB, state string, pure ...map[string]string) {
	tb.Helper()
	if len(c.lost) > 0 {
		tb.Errorf("%s: %d of %d questions lost, the first: %s", state, len(c.lost), c.asked, c.lost[0])
	}
	for _, name := range slices.Sorted(maps.Keys(c.said)) {
		for answer, times := range c.said[name] {
			if !slices.ContainsFunc(pure, func(p map[string]string) bool { return p[name] == answer }) {
				tb.Errorf("%s: %d of the answers to %s are none that either version gives: %s", state, times, name, difference(answer, pure[0][name]))
			}
		}
	}
}

// difference is the first line in which two answers differ.
func difference(got, want string) string {
	gotLines, wantLines := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(gotLines), len(wantLines)) {
		if gotLines[i] != wantLines[i] {
			return fmt.Sprintf("line %d is %q, not %q", i+1, gotLines[i], wantLines[i])
		}
	}
	return fmt.Sprintf("it has %d lines, not %d", len(gotLines), len(wantLines))
}

// names are those of some kinds.
func names(kinds []kind) string {
	var all []string
	for _, k := range kinds {
		all = append(all, k.name)
	}
	return strings.Join(all, ", ")
}
