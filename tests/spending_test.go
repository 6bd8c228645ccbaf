package tests

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/testkit"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
)

// modelFaults are ways in which a call of the model fails. A refused call costs nothing; a server
// that took a call charges it, whatever became of its answer.
var modelFaults = []struct {
	name    string
	refused bool
	script  func(*testkit.Rule)
}{
	{"rate limited", true, func(r *testkit.Rule) { r.Status(429, "Retry-After", "0") }},
	{"overloaded", true, func(r *testkit.Rule) { r.Status(503) }},
	{"disconnected", false, func(r *testkit.Rule) { r.Disconnect() }},
	{"hanging", false, func(r *testkit.Rule) { r.Hang() }},
	{"cut", false, func(r *testkit.Rule) { r.CutStream("Robert", " Stam") }},
	{"half an answer", false, func(r *testkit.Rule) { r.HalfJSON() }},
	{"garbage", false, func(r *testkit.Rule) { r.Garbage(100) }},
	{"without a choice", false, func(r *testkit.Rule) { r.EmptyChoices() }},
	{"null", false, func(r *testkit.Rule) { r.NullContent() }},
}

// spending counts what a scripted server charged.
type spending struct {
	mu     sync.Mutex
	random *rand.Rand
	share  float64 // of calls that fail
	next   int     // the fault of the request that is looked at; -1 for none
	calls  uint32
	faults map[string]int
}

// plan makes a share of the calls of a model fail, each in one of the ways.
func (s *spending) plan(model *testkit.LLM) {
	for i, fault := range modelFaults {
		fault.script(model.On(func(testkit.Request) bool { return s.next == i }))
	}
	// The rule that was added last is asked first, and takes nothing.
	model.On(func(testkit.Request) bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.next = -1
		s.calls++
		if s.random.Float64() < s.share {
			s.next = s.random.IntN(len(modelFaults))
			s.faults[modelFaults[s.next].name]++
			if modelFaults[s.next].refused {
				s.calls--
			}
		}
		return false
	}).Reply("")
}

func (s *spending) reset(seed uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.random, s.calls, s.faults = rand.New(rand.NewPCG(seed, 1)), 0, map[string]int{}
}

func (s *spending) charged() uint32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls
}

func TestTheLedgerEqualsWhatTheModelServerCharged(t *testing.T) {
	seen, questions := map[string]int{}, 0
	for i, method := range []string{"io", "cot", "sc", "rag", "pg-akv", "ger", "query", "tog", "rog"} {
		t.Run(method, func(t *testing.T) {
			model := scripted(t)
			model.On(testkit.Task("judge-sufficiency")).ReplyChoice(map[string]float64{"yes": .9, "no": .1})
			m := start(t, options{model: model, set: map[string]string{"llm.timeout": "300ms", "llm.retries": "2"}})
			s := &spending{share: .4}
			s.plan(model)
			for seed := range uint64(6) {
				s.reset(seed + 100*uint64(i))
				questions++
				model.Forget()
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				resp, err := m.orchestrator.Ask(ctx, question(method))
				cancel()
				usage := resp.GetRun().GetUsage()
				if err != nil {
					usage = llm.AttachedUsage(err)
				}
				if got, want := usage.GetCalls(), s.charged(); got != want {
					t.Errorf("seed %d: the ledger has %d calls, the server charged %d (of %d; %v); %v", seed, got, want,
						len(model.Requests()), s.faults, err)
				}
				for name, n := range s.faults {
					seen[name] += n
				}
			}
		})
	}
	for _, f := range modelFaults {
		if seen[f.name] == 0 {
			t.Errorf("no call was %s: the test says nothing of it", f.name)
		}
	}
	testkit.Measured(t, "%d questions, %d faults: the same number of calls in each", questions, len(modelFaults))
}

// A stage whose time runs out tells what it spent before.
func TestWhatAQuestionSpentBeforeItsDeadlineIsInTheLedger(t *testing.T) {
	for method, task := range map[string]string{"pg-akv": "answer", "ger": "reflect", "io": "answer"} {
		t.Run(fmt.Sprint(method, " in ", task), func(t *testing.T) {
			model := scripted(t)
			m := start(t, options{model: model})
			model.On(testkit.Task(task)).Hang()
			ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
			defer cancel()
			resp, err := m.orchestrator.Ask(ctx, question(method))
			var usage *llmv1.Usage = resp.GetRun().GetUsage()
			if err != nil {
				usage = llm.AttachedUsage(err)
			}
			if got, want := usage.GetCalls(), len(model.Requests()); int(got) != want || usage.GetPromptTokens() == 0 {
				t.Errorf("the ledger has %v, the server was asked %d times; %v", usage, want, err)
			}
		})
	}
}
