package llm_test

import (
	"context"
	"errors"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/testkit"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
)

// substitute answers by a function.
type substitute func(llm.Request) (llm.Response, bool, error)

func (s substitute) Substitute(_ context.Context, req llm.Request) (llm.Response, bool, error) {
	return s(req)
}

func (substitute) ReadingShare() float32 { return 1 }

func TestASubstituteAnswersSomeRequests(t *testing.T) {
	m := testkit.NewLLM(t)
	m.On().Reply("from the model")
	cfg := m.Config()
	cfg.Cache = llm.CacheConfig{MemoryEntries: 10, Dir: t.TempDir()}
	cfg.Substitute = substitute(func(req llm.Request) (llm.Response, bool, error) {
		switch req.Task {
		case "read":
			return llm.Response{Text: "substituted", Model: "oracle",
				Tokens: []llm.Token{{Text: "substituted"}}}, true, nil
		case "empty":
			return llm.Response{}, true, nil
		case "fail":
			return llm.Response{}, true, errors.New("no such question")
		}
		return llm.Response{}, false, nil
	})
	substituted := client(t, cfg)
	cfg.Substitute = nil
	plain := client(t, cfg)

	ledger := llm.NewLedger(&llmv1.Limits{Budget: &llmv1.Budget{MaxCalls: 3}})
	request := func(task string) llm.Request {
		req := ask("x")
		req.Task, req.Ledger = task, ledger
		return req
	}
	var streamed string
	req := request("read")
	req.Delta = func(piece string) { streamed += piece }
	resp, err := substituted.Complete(asDefault(t.Context()), req)
	if err != nil || resp.Text != "substituted" || resp.Cached || len(resp.Tokens) > 0 || streamed != resp.Text {
		t.Errorf("got %+v, %v, streamed %q", resp, err, streamed)
	}
	if u := ledger.Usage(); u.GetCalls() != 1 || u.GetPromptTokens() == 0 || u.GetModels()[0] != "oracle" {
		t.Errorf("used %v", u)
	}
	req = request("read")
	req.TopLogProbs = 1
	resp, err = substituted.Complete(asDefault(t.Context()), req)
	if err != nil || len(resp.Tokens) != 1 || resp.Cached {
		t.Errorf("got %+v, %v; want the tokens, and no answer of the cache", resp, err)
	}
	if _, err := substituted.Complete(asDefault(t.Context()), request("empty")); !errors.Is(err, llm.ErrUnusable) {
		t.Errorf("got %v", err)
	}
	_, err = substituted.Complete(asDefault(t.Context()), request("fail"))
	if status.Code(err) != codes.FailedPrecondition {
		t.Errorf("got %v", err)
	}
	if len(m.Requests()) > 0 {
		t.Errorf("the model was asked %d times", len(m.Requests()))
	}
	// The substitute's answers are not in the cache; those of the model are, under the same keys.
	resp, err = plain.Complete(asDefault(t.Context()), request("read"))
	if err != nil || resp.Text != "from the model" {
		t.Errorf("got %+v, %v", resp, err)
	}
	if resp, err := substituted.Complete(asDefault(t.Context()), request("draft")); err != nil || !resp.Cached {
		t.Errorf("got %+v, %v; want the model's cached answer", resp, err)
	}
	if _, err := substituted.Complete(asDefault(t.Context()), request("read")); !errors.Is(err, llm.ErrBudget) {
		t.Errorf("got %v; want the budget to hold for the substitute too", err)
	}
}
