package tests

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/triplemesh/triplemesh/internal/testkit"
)

// One model endpoint hangs. Questions whose stages call another one are answered, although more
// questions than the stage may have calls in flight wait for it.
func TestASlowModelEndpointHoldsUpNoneThatAskAnother(t *testing.T) {
	const stuck, others = 12, 24
	well, slow := scripted(t), testkit.NewLLM(t)
	release := make(chan struct{})
	var waiting atomic.Int64
	slow.On().ReplyFunc(func(r testkit.Request) string {
		waiting.Add(1)
		<-release
		waiting.Add(-1)
		if r.Task == "evaluate-answer" {
			return "yes"
		}
		return `{"reason": "it took its time", "correct": true, "incomplete": false}`
	})
	m := start(t, options{model: well, set: map[string]string{
		"evaluator.llm.base_url": slow.URL(), "evaluator.llm.max_in_flight": "4", "evaluator.llm.timeout": "5m",
		"generator.llm.max_in_flight": "4",
	}})
	var slowAnswered atomic.Int64
	var slowQuestions sync.WaitGroup
	for range stuck {
		slowQuestions.Go(func() {
			resp, err := m.orchestrator.Ask(timeoutContext(t, patience), question("ger"))
			slowAnswered.Add(1)
			if err != nil || names(resp.GetRun()) == "" || resp.GetRun().GetPartial() {
				t.Errorf("a question by ger: got %v, %v", resp.GetRun(), err)
			}
		})
	}
	slow.Await(4)
	var failed []error
	var mu sync.Mutex
	var group sync.WaitGroup
	for range others {
		group.Go(func() {
			resp, err := m.orchestrator.Ask(timeoutContext(t, patience), question("pg-akv"))
			if run := resp.GetRun(); err == nil && (run.GetPartial() || names(run) != employer) {
				err = fmt.Errorf("got %v", run)
			}
			if err != nil {
				mu.Lock()
				failed = append(failed, err)
				mu.Unlock()
			}
		})
	}
	group.Wait()
	if len(failed) > 0 {
		t.Errorf("%d of %d that ask another endpoint were not answered, the first: %v", len(failed), others, failed[0])
	}
	if got := slowAnswered.Load(); got != 0 || waiting.Load() != 4 {
		t.Errorf("%d that need the slow endpoint were answered before them, %d calls wait there: want none, and 4", got,
			waiting.Load())
	}
	close(release)
	slowQuestions.Wait()
	testkit.Measured(t, "%d of %d answered while %d hung", others, others, stuck)
}
