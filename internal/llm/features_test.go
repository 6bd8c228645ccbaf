package llm_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/testkit"
)

var capital = &llm.Schema{Name: "capital",
	JSON: json.RawMessage(
		`{"type":"object","properties":{"capital":{"type":"string"}},` +
			`"required":["capital"],"additionalProperties":false}`)}

// everything uses each feature that an endpoint may lack.
func everything() llm.Request {
	req := ask("x")
	req.Schema, req.TopLogProbs, req.Delta = capital, 2, func(string) {}
	return req
}

func TestEndpointsThatLackSomething(t *testing.T) {
	for _, c := range []struct {
		name  string
		lacks []string
		asked int // requests until the first answer
		check func(testkit.Request) bool
	}{
		{"no JSON schema", []string{"json_schema"}, 2, func(r testkit.Request) bool {
			return r.Format == "json_object" && strings.Contains(r.LastUser(), `"required":["capital"]`)
		}},
		{"no JSON mode at all", []string{"json_schema", "json_object"}, 3, func(r testkit.Request) bool {
			return r.Format == "" && strings.Contains(r.LastUser(), `"required":["capital"]`)
		}},
		{"no probabilities", []string{"logprobs"}, 2, func(r testkit.Request) bool {
			return r.TopLogProbs == 0 &&
				r.Format == "json_schema"
		}},
		{"no seed", []string{"seed"}, 2, func(r testkit.Request) bool { return r.Seed == nil }},
		{"a temperature of its own", []string{"temperature"}, 2,
			func(r testkit.Request) bool { return r.Temperature == nil }},
		{"no usage in streams", []string{"stream_options"}, 2,
			func(r testkit.Request) bool { return r.Fields["stream_options"] == nil && r.Stream }},
		{"streams", []string{"stream_options", "streaming"}, 3, func(r testkit.Request) bool { return !r.Stream }},
		{"the newer token limit", []string{"max_tokens"}, 2, func(r testkit.Request) bool {
			return r.Fields["max_completion_tokens"] != nil && r.MaxTokens > 20
		}},
		{"several at once", []string{"seed", "logprobs", "json_schema"}, 4, func(r testkit.Request) bool {
			return r.Seed == nil && r.TopLogProbs == 0 && r.Format == "json_object"
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := testkit.NewLLM(t)
			m.On().Reply(`{"capital":"Paris"}`)
			m.Lacks(c.lacks...)
			client := client(t, m.Config())
			for round, want := range []int{c.asked, c.asked + 1} { // remembered in the second round
				if _, err := client.Complete(t.Context(), everything()); err != nil {
					t.Fatal(err)
				}
				got := m.Requests()
				if len(got) != want || !c.check(got[want-1]) {
					t.Errorf("round %d: %d requests, want %d, the last %+v", round, len(got), want, got[len(got)-1])
				}
			}
		})
	}
}

func TestReasoningModelsAreAskedTheirWay(t *testing.T) {
	m := testkit.NewLLM(t)
	m.On().Reply("x")
	cfg := m.Config()
	cfg.Model, cfg.ReasoningEffort = "gpt-5-mini", "low"
	req := ask("x")
	req.Temperature, req.TopLogProbs = 0.7, 5
	if _, err := client(t, cfg).Complete(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	r := m.Requests()[0]
	if len(m.Requests()) != 1 || r.Fields["max_tokens"] != nil || r.MaxTokens < 1000 || r.Temperature != nil ||
		r.TopLogProbs != 0 || string(r.Fields["reasoning_effort"]) != `"low"` {
		t.Errorf("sent %v", r.Fields)
	}
}

func TestOneBadSchemaIsNotHeldAgainstTheEndpoint(t *testing.T) {
	m := testkit.NewLLM(t)
	m.On().Reply(`{"capital":"Paris"}`)
	m.On(testkit.SchemaNamed("bad")).StatusBody(400,
		`{"error":{"message":"JSON schema error at #: unrecognized type"}}`)
	c := client(t, m.Config())
	for i, name := range []string{"good", "bad", "good"} {
		req := ask("x")
		req.Schema = &llm.Schema{Name: name, JSON: capital.JSON}
		if _, err := c.Complete(t.Context(), req); err != nil {
			t.Fatalf("request %d: %v", i, err)
		}
	}
	var formats []string
	for _, r := range m.Requests() {
		formats = append(formats, r.Format)
	}
	if got := strings.Join(formats, " "); got != "json_schema json_schema json_object json_schema" {
		t.Errorf("asked for %s", got)
	}
}

func TestWhatIsConfiguredIsNotTried(t *testing.T) {
	m := testkit.NewLLM(t)
	m.On().Reply(`{"capital":"Paris"}`)
	cfg := m.Config()
	cfg.Capabilities = llm.Capabilities{JSONSchema: "no", LogProbs: "no", Streaming: "no"}
	heard := ""
	req := everything()
	req.Delta = func(s string) { heard += s }
	if _, err := client(t, cfg).Complete(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	r := m.Requests()[0]
	if r.Format != "json_object" || r.TopLogProbs != 0 || r.Stream || heard == "" {
		t.Errorf("sent %+v, heard %q", r, heard)
	}
}

func TestEndpointThatAnswersStreamsInOnePiece(t *testing.T) {
	m := testkit.NewLLM(t)
	m.On().StatusBody(200, `{"choices":[{"index":0,"message":{"content":"Paris"},"finish_reason":"stop"}]}`)
	var pieces []string
	req := ask("x")
	req.Delta = func(s string) { pieces = append(pieces, s) }
	if resp, err := client(t, m.Config()).Complete(t.Context(), req); err != nil || resp.Text != "Paris" ||
		len(pieces) != 1 || len(m.Requests()) != 1 {
		t.Errorf("got %+v, %q, %v after %d requests", resp, pieces, err, len(m.Requests()))
	}
}

func TestLongAnswersAreStreamedThoughNobodyListens(t *testing.T) {
	m := testkit.NewLLM(t)
	m.On().Reply("Paris")
	c := client(t, m.Config())
	for tokens, want := range map[int]bool{20: false, 128: true, 0: true} {
		req := ask("x")
		req.MaxTokens = tokens
		if _, err := c.Complete(t.Context(), req); err != nil {
			t.Fatal(err)
		}
		if asked := m.Requests(); asked[len(asked)-1].Stream != want {
			t.Errorf("of %d tokens: streamed is %v, want %v", tokens, !want, want)
		}
	}
}

func TestSchemasAreStrictWhereOpenAITakesThem(t *testing.T) {
	for _, c := range []struct {
		schema string
		want   string
	}{
		{string(capital.JSON), "true"},
		{`{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}`, "false"},
	} {
		m := testkit.NewLLM(t)
		m.On().Reply(`{"capital":"Paris"}`)
		req := ask("x")
		req.Schema = &llm.Schema{Name: "s", JSON: json.RawMessage(c.schema)}
		if _, err := client(t, m.Config()).Complete(t.Context(), req); err != nil {
			t.Fatal(err)
		}
		if got := string(m.Requests()[0].Fields["response_format"]); !strings.Contains(got, `"strict":`+c.want) {
			t.Errorf("sent %s", got)
		}
	}
}
