package llm_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/testkit"
)

func caching(m *testkit.LLM, dir string) llm.Config {
	cfg := m.Config()
	cfg.Cache = llm.CacheConfig{Dir: dir, MemoryEntries: 8}
	cfg.AllowedModels = []string{"other"}
	return cfg
}

func asDefault(ctx context.Context) context.Context {
	return auth.WithTenant(ctx, auth.DefaultTenant())
}

func as(t *testing.T, name string) context.Context {
	t.Helper()
	id, err := auth.ParseTenant(name)
	if err != nil {
		t.Fatal(err)
	}
	return auth.WithTenant(t.Context(), id)
}

func TestCachedAnswers(t *testing.T) {
	m := testkit.NewLLM(t)
	m.On().ReplyChoice(map[string]float64{"yes": 0.9, "no": 0.1}).Usage(40, 1)
	dir := t.TempDir()
	req := ask("Is it?")
	req.TopLogProbs = 2
	first, err := client(t, caching(m, dir)).Complete(asDefault(t.Context()), req)
	if err != nil || first.Cached {
		t.Fatalf("got %+v, %v", first, err)
	}
	// Another process, the model gone, the answer wanted as a stream, no budget.
	m.Kill()
	heard := ""
	req.Delta = func(s string) { heard += s }
	req.Ledger = ledger(1, 0, 0, "")
	second := client(t, caching(m, dir))
	for range 2 {
		resp, err := second.Complete(asDefault(t.Context()), req)
		if err != nil || !resp.Cached || resp.Text != "yes" || len(resp.Tokens) != 1 || resp.FinishReason != "stop" {
			t.Fatalf("got %+v, %v", resp, err)
		}
	}
	if u := req.Ledger.Usage(); heard != "yesyes" || u.Calls != 0 || u.CachedCalls != 2 || u.PromptTokens != 0 ||
		u.CachedPromptTokens != 80 || u.CachedCompletionTokens != 2 {
		t.Errorf("heard %q, usage %v", heard, u)
	}
}

func TestStreamedAnswersAreCachedWhenWhole(t *testing.T) {
	m := testkit.NewLLM(t)
	m.On().CutStream("half an").Reply("a whole answer")
	cfg := caching(m, "")
	cfg.Retries = 0
	c := client(t, cfg)
	req := ask("x")
	req.Delta = func(string) {}
	if _, err := c.Complete(asDefault(t.Context()), req); !errors.Is(err, llm.ErrUnavailable) {
		t.Fatalf("got %v", err)
	}
	for i, cached := range []bool{false, true} {
		resp, err := c.Complete(asDefault(t.Context()), req)
		if err != nil || resp.Text != "a whole answer" || resp.Cached != cached {
			t.Errorf("call %d: got %+v, %v", i, resp, err)
		}
	}
}

func TestWhatMakesAnotherQuestion(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*llm.Request)
		asked  int
	}{
		{"the messages", func(r *llm.Request) { r.Messages = ask("y").Messages }, 2},
		{"the seed", func(r *llm.Request) { r.Seed = 1 }, 2},
		{"the temperature", func(r *llm.Request) { r.Temperature = 0.7 }, 2},
		{"the tokens", func(r *llm.Request) { r.MaxTokens = 21 }, 2},
		{"the stops", func(r *llm.Request) { r.Stop = []string{"."} }, 2},
		{"the schema", func(r *llm.Request) { r.Schema = capital }, 2},
		{"the probabilities", func(r *llm.Request) { r.TopLogProbs = 3 }, 2},
		{"the model", func(r *llm.Request) { r.Ledger = ledger(0, 0, 0, "other") }, 2},
		{"the task does not", func(r *llm.Request) { r.Task = "other" }, 1},
		{"streaming does not", func(r *llm.Request) { r.Delta = func(string) {} }, 1},
		{"the ledger does not", func(r *llm.Request) { r.Ledger = ledger(9, 9, 9, "") }, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := testkit.NewLLM(t)
			m.On().Reply("x")
			client := client(t, caching(m, ""))
			req := ask("x")
			if _, err := client.Complete(asDefault(t.Context()), req); err != nil {
				t.Fatal(err)
			}
			c.change(&req)
			if _, err := client.Complete(asDefault(t.Context()), req); err != nil || len(m.Requests()) != c.asked {
				t.Errorf("%d requests, want %d; %v", len(m.Requests()), c.asked, err)
			}
		})
	}
}

func TestTheDefaultTenantsKeysStayAsTheyAre(t *testing.T) {
	m := testkit.NewLLM(t)
	m.On().Reply("Paris")
	dir := t.TempDir()
	if _, err := client(t, caching(m, dir)).Complete(asDefault(t.Context()), ask("x")); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "v1", "9c", "80",
		"159f7f7dde9917944ec98ff79163cf9520e1b65c8b3f654e4a6ba90269a3")); err != nil {
		t.Errorf("answers that were kept are not found any more: %v", err)
	}
}

func TestNoTenantGetsTheAnswerOfAnother(t *testing.T) {
	for _, kept := range []string{"in memory", "on disk"} {
		t.Run(kept, func(t *testing.T) {
			m := testkit.NewLLM(t)
			m.On().Reply("Paris")
			cfg := caching(m, "")
			if kept == "on disk" {
				cfg.Cache = llm.CacheConfig{Dir: t.TempDir()}
			}
			c := client(t, cfg)
			for round, cached := range []bool{false, true} {
				for _, name := range []string{"default", "acme", "globex"} {
					resp, err := c.Complete(as(t, name), ask("x"))
					if err != nil || resp.Cached != cached {
						t.Errorf("round %d as %s: cached %v, %v; want %v", round, name, resp.Cached, err, cached)
					}
				}
				// What is asked for nobody is kept for nobody.
				if resp, err := c.Complete(t.Context(), ask("x")); err != nil || resp.Cached {
					t.Errorf("round %d as nobody: cached %v, %v", round, resp.Cached, err)
				}
			}
			if asked := len(m.Requests()); asked != 5 {
				t.Errorf("the model was asked %d times, want once by each tenant and twice by nobody", asked)
			}
		})
	}
}

func TestTenantsDoNotWaitForOneAnothersQuestions(t *testing.T) {
	m := testkit.NewLLM(t)
	answer := make(chan struct{})
	m.On().ReplyFunc(func(testkit.Request) string { <-answer; return "Paris" })
	c := client(t, caching(m, ""))
	var all sync.WaitGroup
	for _, ctx := range []context.Context{as(t, "acme"), as(t, "globex")} {
		all.Go(func() {
			if resp, err := c.Complete(ctx, ask("x")); err != nil || resp.Cached {
				t.Errorf("cached %v, %v", resp.Cached, err)
			}
		})
	}
	m.Await(2)
	close(answer)
	all.Wait()
}

func TestDamagedEntriesAreAskedAgain(t *testing.T) {
	m := testkit.NewLLM(t)
	m.On().Reply("Paris")
	dir := t.TempDir()
	if _, err := client(t, caching(m, dir)).Complete(asDefault(t.Context()), ask("x")); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "v1", "*", "*", "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("files %v, %v", files, err)
	}
	if err := os.Truncate(files[0], 60); err != nil {
		t.Fatal(err)
	}
	if resp, err := client(t, caching(m, dir)).Complete(asDefault(t.Context()), ask("x")); err != nil || resp.Cached ||
		resp.Text != "Paris" {
		t.Errorf("got %+v, %v", resp, err)
	}
	if resp, err := client(t, caching(m, dir)).Complete(asDefault(t.Context()), ask("x")); err != nil || !resp.Cached {
		t.Errorf("not mended: %+v, %v", resp, err)
	}
}

func TestCacheThatCannotBeWrittenCostsNoAnswer(t *testing.T) {
	m := testkit.NewLLM(t)
	m.On().Reply("Paris")
	dir := t.TempDir()
	c := client(t, caching(m, dir))
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if resp, err := c.Complete(asDefault(t.Context()), ask("x")); err != nil || resp.Text != "Paris" {
		t.Errorf("got %+v, %v", resp, err)
	}
}

func TestIdenticalQuestionsUnderWayAreAskedOnce(t *testing.T) {
	m := testkit.NewLLM(t)
	answer := make(chan struct{})
	m.On().ReplyFunc(func(testkit.Request) string { <-answer; return "Paris" })
	c := client(t, caching(m, ""))
	shared := llm.NewLedger(nil)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			req := ask("x")
			req.Ledger = shared
			if resp, err := c.Complete(asDefault(context.Background()), req); err != nil || resp.Text != "Paris" {
				t.Errorf("got %+v, %v", resp, err)
			}
		})
	}
	m.Await(1)
	close(answer)
	all.Wait()
	if u := shared.Usage(); len(m.Requests()) != 1 || u.Calls != 1 || u.CachedCalls != 19 {
		t.Errorf("%d requests, usage %v", len(m.Requests()), u)
	}
}

func TestWhoeverGivesUpLeavesTheQuestionToOthers(t *testing.T) {
	m := testkit.NewLLM(t)
	m.On().Hang().Reply("Paris")
	c := client(t, caching(m, ""))
	impatient, leave := context.WithCancel(asDefault(t.Context()))
	var all sync.WaitGroup
	all.Go(func() {
		if _, err := c.Complete(impatient, ask("x")); !errors.Is(err, context.Canceled) {
			t.Errorf("impatient: %v", err)
		}
	})
	m.Await(1)
	all.Go(func() {
		if resp, err := c.Complete(asDefault(t.Context()), ask("x")); err != nil || resp.Text != "Paris" {
			t.Errorf("patient: %+v, %v", resp, err)
		}
	})
	leave()
	all.Wait()
}

func TestBudgetOfOneIsNotTheBudgetOfOthers(t *testing.T) {
	m := testkit.NewLLM(t)
	m.On().Reply("Paris")
	c := client(t, caching(m, ""))
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			req := ask("x")
			if i%2 == 0 {
				req.Ledger = ledger(1, 0, 0, "")
				req.Ledger.Charge(ledgerUsage(1))
			}
			_, err := c.Complete(asDefault(context.Background()), req)
			if i%2 == 1 && err != nil {
				t.Errorf("with a budget: %v", err)
			}
			if err != nil && !errors.Is(err, llm.ErrBudget) {
				t.Errorf("without: %v", err)
			}
		})
	}
	all.Wait()
}

func TestPanicOfOneCallerLeavesNobodyWaiting(t *testing.T) {
	m := testkit.NewLLM(t)
	answer := make(chan struct{})
	m.On().ReplyFunc(func(testkit.Request) string { <-answer; return "Paris" })
	c := client(t, caching(m, ""))
	var all sync.WaitGroup
	all.Go(func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		req := ask("x")
		req.Delta = func(string) { panic("caller's fault") }
		c.Complete(asDefault(t.Context()), req)
	})
	m.Await(1)
	all.Go(func() {
		if resp, err := c.Complete(asDefault(t.Context()), ask("x")); err != nil || resp.Text != "Paris" {
			t.Errorf("got %+v, %v", resp, err)
		}
	})
	close(answer)
	all.Wait()
}

func BenchmarkComplete(b *testing.B) {
	for _, c := range []struct {
		name    string
		entries int
	}{{"asked over loopback", 0}, {"cached in memory", 8}} {
		b.Run(c.name, func(b *testing.B) {
			m := testkit.NewLLM(b)
			m.On().Reply("Paris")
			cfg := m.Config()
			cfg.Cache.MemoryEntries = c.entries
			client := client(b, cfg)
			for b.Loop() {
				if _, err := client.Complete(asDefault(b.Context()), ask("Capital of France?")); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
