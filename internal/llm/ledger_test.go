package llm_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/testkit"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
)

func ledger(calls uint32, tokens uint64, cost float64, model string) *llm.Ledger {
	return llm.NewLedger(&llmv1.Limits{
		Budget: &llmv1.Budget{MaxCalls: calls, MaxTokens: tokens, MaxCostUsd: cost},
		Model:  &llmv1.ModelRef{Model: model},
	})
}

func TestBudgets(t *testing.T) {
	for _, c := range []struct {
		name    string
		ledger  *llm.Ledger
		allowed int
	}{
		{"calls", ledger(2, 0, 0, ""), 2},
		{"tokens end with the call that reaches the limit", ledger(0, 100, 0, ""), 2},
		{"cost", ledger(0, 0, 0.00025, ""), 3},
		{"no limit", ledger(0, 0, 0, ""), 5},
		{"nil limits are open", llm.NewLedger(nil), 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := testkit.NewLLM(t)
			m.On().Reply("x").Usage(50, 10)
			cfg := m.Config()
			cfg.Prices = []llm.Price{{Model: "scripted", Input: 1, Output: 5}} // 100 millionths a call
			client := client(t, cfg)
			req := ask("x")
			req.Ledger, req.MaxTokens = c.ledger, 1
			var err error
			n := 0
			for ; n < 5; n++ {
				if _, err = client.Complete(t.Context(), req); err != nil {
					break
				}
			}
			if n != c.allowed || len(m.Requests()) != n {
				t.Fatalf("%d calls answered, want %d; then %v", n, c.allowed, err)
			}
			if n == 5 {
				return
			}
			if !errors.Is(err, llm.ErrBudget) || status.Code(err) != codes.ResourceExhausted {
				t.Errorf("got %v", err)
			}
			if _, err := c.ledger.Remaining(); !errors.Is(err, llm.ErrBudget) {
				t.Errorf("remaining: %v", err)
			}
		})
	}
}

func TestParallelCallsDoNotOverrunTheBudget(t *testing.T) {
	m := testkit.NewLLM(t)
	m.On().Reply("x").Usage(10, 10)
	c := client(t, m.Config())
	l := ledger(7, 0, 0, "")
	var answered, refused atomic.Int64
	var all sync.WaitGroup
	for range 40 {
		all.Go(func() {
			req := ask("x")
			req.Ledger = l
			switch _, err := c.Complete(context.Background(), req); {
			case err == nil:
				answered.Add(1)
			case errors.Is(err, llm.ErrBudget):
				refused.Add(1)
			}
		})
	}
	all.Wait()
	if answered.Load() != 7 || refused.Load() != 33 || len(m.Requests()) != 7 {
		t.Errorf("%d answered, %d refused, %d requests", answered.Load(), refused.Load(), len(m.Requests()))
	}
}

func TestFailedCallsCostNothing(t *testing.T) {
	m := testkit.NewLLM(t)
	m.On().Status(500).Times(2).Reply("x").Usage(3, 2)
	req := ask("x")
	req.Ledger = ledger(1, 0, 0, "")
	if _, err := client(t, m.Config()).Complete(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if u := req.Ledger.Usage(); u.Calls != 1 || u.PromptTokens != 3 || u.CompletionTokens != 2 {
		t.Errorf("usage %v", u)
	}
}

func TestRemainingIsWhatOthersMaySpend(t *testing.T) {
	l := ledger(5, 1000, 2, "")
	l.Charge(&llmv1.Usage{Calls: 2, CachedCalls: 9, CachedPromptTokens: 9000, CachedCostUsd: 9, PromptTokens: 300,
		CompletionTokens: 100, CostUsd: 0.5})
	left, err := l.Remaining()
	if err != nil || left.MaxCalls != 3 || left.MaxTokens != 600 || left.MaxCostUsd != 1.5 {
		t.Errorf("got %v, %v", left, err)
	}
	if left, err := llm.NewLedger(nil).Remaining(); err != nil || left.MaxCalls != 0 || left.MaxTokens != 0 {
		t.Errorf("open limits: %v, %v", left, err)
	}
	l.Charge(&llmv1.Usage{Calls: 8})
	if left, err := l.Remaining(); !errors.Is(err, llm.ErrBudget) {
		t.Errorf("overrun: %v, %v", left, err)
	}
}

func ledgerUsage(calls uint32) *llmv1.Usage { return &llmv1.Usage{Calls: calls} }
