package llm_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/testkit"
)

// recorder is telemetry that keeps everything.
type recorder struct {
	spans  *tracetest.SpanRecorder
	tracer *sdktrace.TracerProvider
	reader *sdkmetric.ManualReader
	meter  *sdkmetric.MeterProvider
	log    bytes.Buffer
	logger *slog.Logger
}

func newRecorder() *recorder {
	r := &recorder{spans: tracetest.NewSpanRecorder(), reader: sdkmetric.NewManualReader()}
	r.tracer = sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(r.spans))
	r.meter = sdkmetric.NewMeterProvider(sdkmetric.WithReader(r.reader))
	r.logger = slog.New(slog.NewTextHandler(&r.log, nil))
	return r
}

func (r *recorder) TracerProvider() trace.TracerProvider { return r.tracer }
func (r *recorder) MeterProvider() metric.MeterProvider  { return r.meter }
func (r *recorder) Logger() *slog.Logger                 { return r.logger }

func client(t testing.TB, cfg llm.Config) *llm.Client {
	t.Helper()
	c, err := llm.New(cfg, newRecorder())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func ask(text string) llm.Request {
	return llm.Request{
		Task: "answer", Messages: []llm.Message{{Role: llm.RoleSystem, Content: "Be short."},
			{Role: llm.RoleUser, Content: text}},
		MaxTokens: 20, Ledger: llm.NewLedger(nil),
	}
}

func TestRequestOnTheWire(t *testing.T) {
	m := testkit.NewLLM(t)
	m.On().Reply("Paris")
	req := ask("Capital?")
	req.Stop, req.Seed, req.Temperature = []string{"\n"}, 7, 0.5
	resp, err := client(t, m.Config()).Complete(t.Context(), req)
	if err != nil || resp.Text != "Paris" || resp.FinishReason != "stop" || resp.Model != "scripted" || resp.Cached {
		t.Fatalf("got %+v, %v", resp, err)
	}
	r := m.Requests()[0]
	if r.Task != "answer" || r.MaxTokens != 20 || *r.Temperature != 0.5 || *r.Seed != 7 ||
		!slices.Equal(r.Stop, []string{"\n"}) || !slices.Equal(r.Messages, req.Messages) {
		t.Errorf("sent %+v", r)
	}
	if u := req.Ledger.Usage(); u.Calls != 1 || u.PromptTokens != 3 || u.CompletionTokens != 1 {
		t.Errorf("usage %v", u)
	}
}

func TestTemperatureZeroAndSeedZeroAreSent(t *testing.T) {
	m := testkit.NewLLM(t)
	m.On().Reply("x")
	if _, err := client(t, m.Config()).Complete(t.Context(), ask("x")); err != nil {
		t.Fatal(err)
	}
	r := m.Requests()[0]
	if r.Temperature == nil || *r.Temperature != 0 || r.Seed == nil || *r.Seed != 0 {
		t.Errorf("temperature %v, seed %v: want both sent as 0", r.Temperature, r.Seed)
	}
}

func TestCallerChoosesTheModel(t *testing.T) {
	m := testkit.NewLLM(t)
	m.On().Reply("x")
	req := ask("x")
	req.Ledger = ledger(0, 0, 0, "larger")
	cfg := m.Config()
	cfg.AllowedModels = []string{"larger"}
	if _, err := client(t, cfg).Complete(t.Context(), req); err != nil || m.Requests()[0].Model != "larger" {
		t.Errorf("asked %q, %v", m.Requests()[0].Model, err)
	}
}

func TestCallersMayNameOnlyAllowedAndPricedModels(t *testing.T) {
	for _, c := range []struct {
		name, model string
		cost        float64
		want        string // of the error
	}{
		{"the configured model", "scripted", 0, ""},
		{"that of a fallback", "second", 0, ""},
		{"an allowed model", "larger", 0, ""},
		{"a model that is not configured", "gpt-expensive", 0, `"gpt-expensive" is not allowed; name one of larger, ` +
			"priced, scripted, second"},
		{"a priced model within a cost budget", "priced", 1, ""},
		{"a model without a price within a cost budget", "larger", 1, `"larger" has no price`},
		{"no model within a cost budget", "", 1, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := testkit.NewLLM(t)
			m.On().Reply("x")
			cfg := m.Config()
			cfg.AllowedModels = []string{"larger", "priced"}
			cfg.Prices = []llm.Price{{Model: "priced", Input: 1}}
			cfg.Fallbacks = []llm.Endpoint{{BaseURL: m.URL(), Model: "second"}}
			req := ask("x")
			req.Ledger = ledger(0, 0, c.cost, c.model)
			_, err := client(t, cfg).Complete(t.Context(), req)
			if c.want == "" && err == nil {
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.want) || status.Code(err) != codes.InvalidArgument ||
				len(m.Requests()) > 0 {
				t.Errorf("got %v after %d calls, want %q", err, len(m.Requests()), c.want)
			}
		})
	}
}

func TestTokenProbabilities(t *testing.T) {
	for _, streamed := range []bool{false, true} {
		m := testkit.NewLLM(t)
		m.On().ReplyChoice(map[string]float64{"yes": 0.75, "no": 0.25})
		req := ask("Is it?")
		req.TopLogProbs = 2
		if streamed {
			req.Delta = func(string) {}
		}
		resp, err := client(t, m.Config()).Complete(t.Context(), req)
		if err != nil || len(resp.Tokens) != 1 || resp.Tokens[0].Text != "yes" || len(resp.Tokens[0].Top) != 2 {
			t.Fatalf("streamed %v: got %+v, %v", streamed, resp, err)
		}
		if p := math.Exp(resp.Tokens[0].Top[1].LogProb); math.Abs(p-0.25) > 1e-9 {
			t.Errorf("streamed %v: P(no) = %v", streamed, p)
		}
	}
}

func TestStreaming(t *testing.T) {
	m := testkit.NewLLM(t)
	m.On().Reply("to Paris by train").Pieces("to Par", "is by", " train").Usage(11, 5)
	var pieces []string
	req := ask("How?")
	req.Delta = func(s string) { pieces = append(pieces, s) }
	resp, err := client(t, m.Config()).Complete(t.Context(), req)
	if err != nil || resp.Text != "to Paris by train" || resp.FinishReason != "stop" {
		t.Fatalf("got %+v, %v", resp, err)
	}
	if !slices.Equal(pieces, []string{"to Par", "is by", " train"}) {
		t.Errorf("pieces %q", pieces)
	}
	if u := req.Ledger.Usage(); u.PromptTokens != 11 || u.CompletionTokens != 5 {
		t.Errorf("usage %v", u)
	}
}

func TestUsageIsEstimatedWhereTheServerCountsNothing(t *testing.T) {
	for _, streamed := range []bool{false, true} {
		m := testkit.NewLLM(t)
		m.On().Reply("four letters").Usage(-1, -1)
		req := ask(strings.Repeat("word ", 80))
		if streamed {
			req.Delta = func(string) {}
		}
		resp, err := client(t, m.Config()).Complete(t.Context(), req)
		if err != nil || !resp.Usage.Estimated || resp.Usage.CompletionTokens != 3 || resp.Usage.PromptTokens < 100 {
			t.Errorf("streamed %v: got %+v, %v", streamed, resp.Usage, err)
		}
	}
}

func TestCallsInFlightAreLimited(t *testing.T) {
	m := testkit.NewLLM(t)
	m.On().Hang()
	cfg := m.Config()
	cfg.MaxInFlight = 1
	c := client(t, cfg)
	ctx, stop := context.WithCancel(t.Context())
	var first sync.WaitGroup
	first.Go(func() { c.Complete(ctx, ask("first")) })
	m.Await(1)
	waiting, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	_, err := c.Complete(waiting, ask("second"))
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "llm.max_in_flight") {
		t.Errorf("got %v", err)
	}
	if n := len(m.Requests()); n != 1 {
		t.Errorf("%d requests reached the server", n)
	}
	stop()
	first.Wait()
}

func TestRequestWithoutLedgerIsRefused(t *testing.T) {
	m := testkit.NewLLM(t)
	req := ask("x")
	req.Ledger = nil
	if _, err := client(t, m.Config()).Complete(t.Context(), req); err == nil ||
		!strings.Contains(err.Error(), "no ledger") {
		t.Errorf("got %v", err)
	}
}

func TestFallbacks(t *testing.T) {
	t.Run("the next endpoint answers when the first is down", func(t *testing.T) {
		down, up := testkit.NewLLM(t), testkit.NewLLM(t)
		down.On().Disconnect()
		up.On().Reply("here")
		cfg := down.Config()
		cfg.Retries = 1
		cfg.Fallbacks = []llm.Endpoint{{BaseURL: up.URL(), Model: "spare"}}
		c := client(t, cfg)
		for range 2 {
			if resp, err := c.Complete(t.Context(), ask("x")); err != nil || resp.Text != "here" {
				t.Fatalf("got %+v, %v", resp, err)
			}
		}
		if up.Requests()[0].Model != "spare" {
			t.Errorf("asked %q", up.Requests()[0].Model)
		}
		// The second question goes to the endpoint that works at once.
		if n := len(down.Requests()); n != 2 {
			t.Errorf("%d requests to the one that is down, want 2", n)
		}
	})
	t.Run("another model of the same endpoint is a fallback too", func(t *testing.T) {
		m := testkit.NewLLM(t)
		m.On().Status(429)
		m.On(func(r testkit.Request) bool { return r.Model == "small" }).Reply("here")
		cfg := m.Config()
		cfg.Fallbacks = []llm.Endpoint{{BaseURL: m.URL(), Model: "small"}}
		if resp, err := client(t, cfg).Complete(t.Context(), ask("x")); err != nil || resp.Text != "here" {
			t.Errorf("got %+v, %v", resp, err)
		}
	})
	t.Run("when all fail the error names each", func(t *testing.T) {
		a, b := testkit.NewLLM(t), testkit.NewLLM(t)
		a.On().Disconnect()
		b.On().Status(http.StatusTooManyRequests)
		cfg := a.Config()
		cfg.Fallbacks = []llm.Endpoint{{BaseURL: b.URL()}}
		_, err := client(t, cfg).Complete(t.Context(), ask("x"))
		if !errors.Is(err, llm.ErrRateLimited) || !errors.Is(err, llm.ErrUnavailable) || !strings.Contains(err.Error(),
			a.URL()) || !strings.Contains(err.Error(), b.URL()) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("an unusable answer is no reason to ask elsewhere", func(t *testing.T) {
		a, b := testkit.NewLLM(t), testkit.NewLLM(t)
		a.On().NullContent()
		cfg := a.Config()
		cfg.Fallbacks = []llm.Endpoint{{BaseURL: b.URL()}}
		if _, err := client(t, cfg).Complete(t.Context(), ask("x")); !errors.Is(err, llm.ErrUnusable) ||
			len(b.Requests()) > 0 {
			t.Errorf("got %v", err)
		}
	})
}

func TestCallsFailUntilTheModelServerHasStarted(t *testing.T) {
	m := testkit.NewLLM(t)
	m.On().Reply("yes")
	cfg, started := m.Config(), make(chan struct{})
	cfg.Started = started
	c := client(t, cfg)
	_, err := c.Complete(t.Context(), ask("x"))
	if !errors.Is(err, llm.ErrUnavailable) || status.Code(err) != codes.Unavailable ||
		!strings.Contains(err.Error(), "is starting") {
		t.Errorf("got %v", err)
	}
	if len(m.Requests()) > 0 {
		t.Error("the model was called")
	}
	close(started)
	if resp, err := c.Complete(t.Context(), ask("x")); err != nil || resp.Text != "yes" {
		t.Errorf("got %+v, %v", resp, err)
	}
}
