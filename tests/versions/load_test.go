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

// askers is the number of concurrent clients.
const askers = 4

// asking is a steady stream of questions, and its results.
type asking struct {
	client orchestratorv1.OrchestratorServiceClient
	kinds  []kind
	stop   func()

	mu      sync.Mutex
	asked   int
	lost    []string
	answers map[string]map[string]int // the count of each answer, by kind
}

// ask starts asking a mesh, until the test ends or stop is called.
func ask(tb testing.TB, m *running, kinds []kind) *asking {
	tb.Helper()
	a := &asking{client: orchestratorv1.NewOrchestratorServiceClient(m.dial(tb, "orchestrator")), kinds: kinds,
		answers: map[string]map[string]int{}}
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

// once asks one question; questions in flight when the asking stops are completed.
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
	if a.answers[k.name] == nil {
		a.answers[k.name] = map[string]int{}
	}
	a.answers[k.name][answer]++
}

// tallyResult has the results since the last look.
type tallyResult struct {
	asked   int
	lost    []string
	answers map[string]map[string]int
}

// look waits until each kind was answered some times more, and returns the results.
func (a *asking) look(tb testing.TB) tallyResult {
	tb.Helper()
	for deadline := time.Now().Add(patience); ; {
		a.mu.Lock()
		enough := len(a.lost) > 0 || !slices.ContainsFunc(a.kinds,
			func(k kind) bool { return total(a.answers[k.name]) < 5 })
		if enough || time.Now().After(deadline) {
			c := tallyResult{a.asked, a.lost, a.answers}
			a.asked, a.lost, a.answers = 0, nil, map[string]map[string]int{}
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

// rest returns the results since the last look.
func (a *asking) rest() tallyResult {
	a.mu.Lock()
	defer a.mu.Unlock()
	return tallyResult{a.asked, a.lost, a.answers}
}

// supportedKinds returns the kinds of question that a mesh of one version supports, and the
// answers.
func supportedKinds(tb testing.TB, m *running) (there []kind, answers map[string]string) {
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

// check fails the test if a question was lost, or got an answer that no mesh of one version gives.
func (c tallyResult) check(tb testing.TB, state string, pure ...map[string]string) {
	tb.Helper()
	if len(c.lost) > 0 {
		tb.Errorf("%s: %d of %d questions lost, the first: %s", state, len(c.lost), c.asked, c.lost[0])
	}
	for _, name := range slices.Sorted(maps.Keys(c.answers)) {
		for answer, times := range c.answers[name] {
			if !slices.ContainsFunc(pure, func(p map[string]string) bool { return p[name] == answer }) {
				tb.Errorf("%s: %d of the answers to %s are none that either version gives: %s", state, times, name,
					difference(answer, pure[0][name]))
			}
		}
	}
}

// difference returns the first line in which two answers differ.
func difference(got, want string) string {
	gotLines, wantLines := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(gotLines), len(wantLines)) {
		if gotLines[i] != wantLines[i] {
			return fmt.Sprintf("line %d is %q, not %q", i+1, gotLines[i], wantLines[i])
		}
	}
	return fmt.Sprintf("it has %d lines, not %d", len(gotLines), len(wantLines))
}

// names joins the names of kinds.
func names(kinds []kind) string {
	var all []string
	for _, k := range kinds {
		all = append(all, k.name)
	}
	return strings.Join(all, ", ")
}
