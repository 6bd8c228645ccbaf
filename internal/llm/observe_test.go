package llm_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/testkit"
)

// observe asks once and returns all that telemetry kept.
func observe(t *testing.T, cfg llm.Config, req llm.Request) (*recorder, sdktrace.ReadOnlySpan, string) {
	t.Helper()
	r := newRecorder()
	c, err := llm.New(cfg, r)
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Complete(as(t, "acme"), req)
	ended := r.spans.Ended()
	if len(ended) != 1 {
		t.Fatalf("%d spans", len(ended))
	}
	s := ended[0]
	all := fmt.Sprint(err, s.Attributes(), s.Events(), s.Status(), r.log.String())
	return r, s, all
}

func TestSpan(t *testing.T) {
	m := testkit.NewLLM(t)
	m.On().Reply("Paris").Usage(12, 3)
	req := ask("Capital of France?")
	req.Seed, req.Temperature = 7, 0.5
	_, s, all := observe(t, m.Config(), req)
	got := map[attribute.Key]string{}
	for _, a := range s.Attributes() {
		got[a.Key] = a.Value.String()
	}
	for key, want := range map[attribute.Key]string{
		"gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai", "gen_ai.request.model": "scripted",
		"gen_ai.request.temperature": "0.5", "gen_ai.request.max_tokens": "20", "gen_ai.request.seed": "7",
		"gen_ai.response.model": "scripted", "gen_ai.response.finish_reasons": `["stop"]`,
		"gen_ai.usage.input_tokens": "12", "gen_ai.usage.output_tokens": "3",
		"triplemesh.task": "answer", "triplemesh.tenant": "acme", "triplemesh.cached": "false",
		"server.address": "127.0.0.1",
	} {
		if got[key] != want {
			t.Errorf("%s: got %q, want %q", key, got[key], want)
		}
	}
	if s.Name() != "chat answer" || strings.Contains(all, "France") || strings.Contains(all, "Paris") {
		t.Errorf("span %q holds %s: prompts and answers only when switched on", s.Name(), all)
	}
}

func TestSpanSaysWhatTheServerReused(t *testing.T) {
	for cached, want := range map[string]string{"9": "9", "99": "12", "-1": "0"} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `{"model": "m", "choices": [{"message": {"content": "Paris"}, "finish_reason": "stop"}], `+
				`"usage": {"prompt_tokens": 12, "completion_tokens": 3, `+
				`"prompt_tokens_details": {"cached_tokens": %s}}}`, cached)
		}))
		t.Cleanup(server.Close)
		cfg := llm.DefaultConfig()
		cfg.BaseURL, cfg.Model = server.URL, "m"
		_, s, all := observe(t, cfg, ask("Capital of France?"))
		got := ""
		for _, a := range s.Attributes() {
			if a.Key == "gen_ai.usage.cache_read.input_tokens" {
				got = a.Value.String()
			}
		}
		if got != want {
			t.Errorf("%s cached: got %q, want %q: %s", cached, got, want, all)
		}
	}
}

func TestPromptsAreCapturedWhenSwitchedOn(t *testing.T) {
	m := testkit.NewLLM(t)
	m.On().Reply("Paris")
	cfg := m.Config()
	cfg.CapturePrompts = true
	_, s, all := observe(t, cfg, ask("Capital of France?"))
	if len(s.Events()) != 3 || !strings.Contains(all, "France") || !strings.Contains(all, "Paris") {
		t.Errorf("events %v", s.Events())
	}
}

func TestSecretsStayInside(t *testing.T) {
	m := testkit.NewLLM(t)
	m.On().StatusBody(401, `{"error":{"message":"Incorrect API key provided: sk-secret"}}`)
	cfg := m.Config()
	cfg.APIKey = "sk-secret"
	cfg.BaseURL = strings.Replace(cfg.BaseURL, "://", "://someone:pass-word@", 1)
	down := testkit.NewLLM(t)
	cfg.Fallbacks = []llm.Endpoint{{BaseURL: strings.Replace(down.URL(), "://", "://token@", 1), APIKey: "sk-other"}}
	down.Kill()
	_, _, all := observe(t, cfg, ask("x"))
	for _, secret := range []string{"sk-secret", "someone", "pass-word", "token@", "sk-other"} {
		if strings.Contains(all, secret) {
			t.Errorf("%q is in %s", secret, all)
		}
	}
	if !strings.Contains(all, "Incorrect API key provided: [key]") {
		t.Errorf("the server's words are missing in %s", all)
	}
	if m.Requests()[0].Header.Get("Authorization") != "Bearer sk-secret" {
		t.Error("the key was not sent")
	}
	cfg.BaseURL = "ftp://someone:pass-word@host"
	if err := cfg.Validate(); err == nil || strings.Contains(err.Error(), "pass-word") {
		t.Errorf("got %v", err)
	}
}

func TestMetrics(t *testing.T) {
	m := testkit.NewLLM(t)
	m.On().Reply("Paris").Usage(1000, 10)
	cfg := m.Config()
	cfg.Cache.MemoryEntries = 4
	cfg.Prices = []llm.Price{{Model: "scripted", Input: 2, Output: 100}}
	cfg.AllowedModels = []string{"a-model-the-caller-made-up"}
	r := newRecorder()
	c, err := llm.New(cfg, r)
	if err != nil {
		t.Fatal(err)
	}
	strange := ask("x")
	strange.Ledger = ledger(0, 0, 0, "a-model-the-caller-made-up")
	for _, req := range []llm.Request{ask("x"), ask("x"), strange} {
		if _, err := c.Complete(as(t, "acme"), req); err != nil {
			t.Fatal(err)
		}
	}
	var data sdkmetric.ResourceMetrics
	if err := r.reader.Collect(t.Context(), &data); err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, metric := range data.ScopeMetrics[0].Metrics {
		switch d := metric.Data.(type) {
		case sdkmetric.Sum[int64]:
			for _, p := range d.DataPoints {
				got[metric.Name+label(p.Attributes, "outcome")+label(p.Attributes,
					"gen_ai.request.model")+label(p.Attributes, "triplemesh.tenant")] = float64(p.Value)
			}
		case sdkmetric.Sum[float64]:
			for _, p := range d.DataPoints {
				got[metric.Name+label(p.Attributes, "gen_ai.request.model")+label(p.Attributes,
					"triplemesh.tenant")] = p.Value
			}
		case sdkmetric.Histogram[int64]:
			for _, p := range d.DataPoints {
				got[metric.Name+label(p.Attributes, "gen_ai.token.type")+label(p.Attributes,
					"gen_ai.request.model")+label(p.Attributes, "triplemesh.tenant")] = float64(p.Sum)
			}
		case sdkmetric.Histogram[float64]:
			for _, p := range d.DataPoints {
				got[metric.Name] += float64(p.Count)
			}
		}
	}
	for name, want := range map[string]float64{
		"triplemesh.llm.calls answered scripted acme":    1,
		"triplemesh.llm.calls cached scripted acme":      1,
		"triplemesh.llm.calls answered other acme":       1,
		"triplemesh.llm.cost scripted acme":              0.003,
		"gen_ai.client.token.usage input scripted acme":  1000,
		"gen_ai.client.token.usage output scripted acme": 10,
		"gen_ai.client.operation.duration":               3,
	} {
		if got[name] != want {
			t.Errorf("%s: got %v, want %v (all: %v)", name, got[name], want, got)
		}
	}
}

func label(set attribute.Set, key attribute.Key) string {
	v, _ := set.Value(key)
	return " " + v.String()
}
