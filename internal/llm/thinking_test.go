package llm_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/triplemesh/triplemesh/internal/testkit"
)

// completion is a response with a message and a finish reason.
func completion(message, finish string) string {
	return fmt.Sprintf(`{"object":"chat.completion","model":"scripted","choices":[{"index":0,"message":%s,`+
		`"finish_reason":%q}],"usage":{"prompt_tokens":7,"completion_tokens":20}}`, message, finish)
}

func TestAModelThatThinksFirstGetsTokensForItFromThenOn(t *testing.T) {
	for _, c := range []struct {
		name string
		cut  func(*testkit.Rule)
		then func(*testkit.Rule)
	}{
		{"vLLM with a reasoning parser", func(r *testkit.Rule) {
			r.StatusBody(200, completion(
				`{"role":"assistant","content":null,"reasoning_content":"They ask"}`, "length"))
		}, func(r *testkit.Rule) {
			r.StatusBody(200, completion(
				`{"role":"assistant","content":"\n\nParis","reasoning_content":"They ask for a city."}`, "stop"))
		}},
		{"vLLM without one", func(r *testkit.Rule) {
			r.Reply("<think>\nThey ask").Finish("length")
		}, func(r *testkit.Rule) { r.Reply("<think>\nThey ask for a city.\n</think>\n\nParis") }},
		{"Ollama", func(r *testkit.Rule) {
			r.StatusBody(200, completion(`{"role":"assistant","content":"","reasoning":"They ask"}`, "length"))
		}, func(r *testkit.Rule) {
			r.StatusBody(200, completion(
				`{"role":"assistant","content":"Paris","reasoning":"They ask for a city."}`, "stop"))
		}},
		{"OpenRouter", func(r *testkit.Rule) {
			r.StatusBody(200, completion(`{"role":"assistant","content":"","refusal":null,"reasoning":"They ask",`+
				`"reasoning_details":[{"type":"reasoning.text","text":"They ask","index":0}]}`, "length"))
		}, func(r *testkit.Rule) {
			r.StatusBody(200, completion(`{"role":"assistant","content":"Paris","refusal":null,`+
				`"reasoning":"They ask for a city.","reasoning_details":[{"type":"reasoning.text",`+
				`"text":"They ask for a city.","index":0}]}`, "stop"))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := testkit.NewLLM(t)
			rule := m.On()
			c.cut(rule)
			c.then(rule)
			cfg := m.Config()
			cfg.ReasoningTokens = 500
			client := client(t, cfg)
			for _, text := range []string{"x", "y"} {
				req := ask(text)
				req.MaxTokens = 20
				resp, err := client.Complete(t.Context(), req)
				if err != nil || resp.Text != "Paris" {
					t.Fatalf("it answered %q, %v", resp.Text, err)
				}
			}
			if got := tokenLimits(m); !slices.Equal(got, []int{20, 520, 520}) {
				t.Errorf("requests of %d tokens, want 20, 520 and then 520 at once", got)
			}
		})
	}
}

func TestWithoutTokensForThoughtsACutAnswerIsNotAskedForAgain(t *testing.T) {
	m := testkit.NewLLM(t)
	m.On().Reply("<think>\nThey ask").Finish("length")
	cfg := m.Config()
	cfg.ReasoningTokens = 0
	req := ask("x")
	req.MaxTokens = 20
	if _, err := client(t, cfg).Complete(t.Context(), req); err == nil {
		t.Error("thoughts were taken for an answer")
	}
	if got := tokenLimits(m); !slices.Equal(got, []int{20}) {
		t.Errorf("requests of %d tokens, want one of 20", got)
	}
}

// tokenLimits returns the token limit of each request.
func tokenLimits(m *testkit.LLM) []int {
	var limits []int
	for _, r := range m.Requests() {
		limits = append(limits, r.MaxTokens)
	}
	return limits
}
