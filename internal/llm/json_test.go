package llm_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/testkit"
)

type edits struct {
	Edits []struct {
		Kind     string `json:"kind"`
		Evidence int    `json:"evidence"`
	} `json:"edits"`
}

var editsSchema = &llm.Schema{Name: "edits", JSON: json.RawMessage(`{
	"type": "object", "required": ["edits"],
	"properties": {"edits": {"type": "array", "items": {
		"type": "object", "required": ["kind", "evidence"],
		"properties": {"kind": {"enum": ["keep", "replace"]}, "evidence": {"type": "integer"}}}}}}`)}

func TestCompleteJSON(t *testing.T) {
	const good = `{"edits":[{"kind":"keep","evidence":3}]}`
	for _, c := range []struct {
		name   string
		script func(*testkit.Rule)
		asked  int
		says   string // of the error; empty: usable
	}{
		{"plain JSON", func(r *testkit.Rule) { r.Reply(good) }, 1, ""},
		{"in a fence with prose around it", func(r *testkit.Rule) {
			r.Reply("Sure! [1] says:\n```json\n" + good +
				"\n```\nAnything else?")
		}, 1, ""},
		{"repaired", func(r *testkit.Rule) { r.Reply(`{'edits': [{'kind': 'keep', 'evidence': 3,},`) }, 1, ""},
		{"a key too many is no fault",
			func(r *testkit.Rule) { r.Reply(`{"why":"so","edits":[{"kind":"keep","evidence":3,"x":1}]}`) }, 1, ""},
		{"prose, then JSON", func(r *testkit.Rule) { r.Reply("I keep the third.").Reply(good) }, 2, ""},
		{"a key too few, then JSON", func(r *testkit.Rule) { r.Reply(`{"edits":[{"kind":"keep"}]}`).Reply(good) }, 2,
			""},
		{"empty, then JSON", func(r *testkit.Rule) { r.Reply("").Reply(good) }, 2, ""},
		{"prose twice", func(r *testkit.Rule) { r.Reply("I keep the third.") }, 2, "no JSON in the text"},
		{"text in another language", func(r *testkit.Rule) { r.Reply("我保留第三个") }, 2, "no JSON"},
		{"a value that is not allowed", func(r *testkit.Rule) { r.Reply(`{"edits":[{"kind":"burn","evidence":3}]}`) },
			2, "edits[0].kind is not one of"},
		{"a wrong type", func(r *testkit.Rule) { r.Reply(`{"edits":[{"kind":"keep","evidence":"three"}]}`) }, 2,
			"edits[0].evidence is string, want integer"},
		{"a number out of range",
			func(r *testkit.Rule) { r.Reply(`{"edits":[{"kind":"keep","evidence":99999999999999999999}]}`) }, 2,
			"read the model's answer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := testkit.NewLLM(t)
			c.script(m.On())
			req := ask("Which?")
			req.Schema = editsSchema
			v, resp, err := llm.CompleteJSON[edits](t.Context(), client(t, m.Config()), req)
			if n := len(m.Requests()); n != c.asked {
				t.Errorf("asked %d times, want %d", n, c.asked)
			}
			if c.says != "" {
				if !errors.Is(err, llm.ErrUnusable) || !strings.Contains(err.Error(), c.says) || len(v.Edits) > 0 {
					t.Errorf("got %+v, %v, want ErrUnusable with %q", v, err, c.says)
				}
				return
			}
			if err != nil || len(v.Edits) != 1 || v.Edits[0].Kind != "keep" || v.Edits[0].Evidence != 3 ||
				resp.Text == "" {
				t.Errorf("got %+v, %+v, %v", v, resp, err)
			}
		})
	}
}

func TestSecondTryTellsTheModelWhatWasWrong(t *testing.T) {
	m := testkit.NewLLM(t)
	m.On().Reply(`{"edits":[{"kind":"keep"}]}`).Reply(`{"edits":[]}`)
	req := ask("Which?")
	req.Schema = editsSchema
	if _, _, err := llm.CompleteJSON[edits](t.Context(), client(t, m.Config()), req); err != nil {
		t.Fatal(err)
	}
	second := m.Requests()[1].Messages
	if len(second) != 4 || second[2] != (llm.Message{Role: llm.RoleAssistant,
		Content: `{"edits":[{"kind":"keep"}]}`}) || !strings.Contains(second[3].Content,
		`edits[0] lacks the key "evidence"`) {
		t.Errorf("asked %+v", second)
	}
	if len(req.Messages) != 2 {
		t.Error("the caller's messages were changed")
	}
}

func TestSecondTryIsWithinTheBudget(t *testing.T) {
	m := testkit.NewLLM(t)
	m.On().Reply("no JSON here")
	req := ask("Which?")
	req.Schema, req.Ledger = editsSchema, ledger(1, 0, 0, "")
	_, resp, err := llm.CompleteJSON[edits](t.Context(), client(t, m.Config()), req)
	if !errors.Is(err, llm.ErrUnusable) || !errors.Is(err, llm.ErrBudget) || resp.Text != "no JSON here" ||
		len(m.Requests()) != 1 {
		t.Errorf("got %+v, %v", resp, err)
	}
}

func TestWhatIsNotTheAnswersFaultIsNotAskedAgain(t *testing.T) {
	m := testkit.NewLLM(t)
	m.On().Status(401)
	req := ask("Which?")
	req.Schema = editsSchema
	if _, _, err := llm.CompleteJSON[edits](t.Context(), client(t, m.Config()), req); !errors.Is(err, llm.ErrRefused) ||
		len(m.Requests()) != 1 {
		t.Errorf("got %v after %d requests", err, len(m.Requests()))
	}
	req.Schema = &llm.Schema{Name: "broken", JSON: json.RawMessage(`{`)}
	if _, _, err := llm.CompleteJSON[edits](t.Context(), client(t, m.Config()), req); err == nil ||
		!strings.Contains(err.Error(), `schema "broken"`) {
		t.Errorf("got %v", err)
	}
}

func TestCutAnswerIsUsedAsFarAsItGoes(t *testing.T) {
	m := testkit.NewLLM(t)
	m.On().Reply(`{"edits":[{"kind":"keep","evidence":3},{"kind":"replace","evidence":4}`).Finish("length")
	req := ask("Which?")
	req.Schema = editsSchema
	v, resp, err := llm.CompleteJSON[edits](t.Context(), client(t, m.Config()), req)
	if err != nil || len(v.Edits) != 2 || resp.FinishReason != "length" {
		t.Errorf("got %+v, %+v, %v", v, resp, err)
	}
}
