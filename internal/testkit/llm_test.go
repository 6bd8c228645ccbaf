package testkit_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/testkit"
)

// post sends a request by hand, as another client would.
func post(t testing.TB, m *testkit.LLM, fields map[string]any) (*http.Response, string) {
	t.Helper()
	body, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequest(http.MethodPost, m.URL()+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("User-Agent", "triplemesh/answer")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err.Error()
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return resp, string(data) + err.Error()
	}
	return resp, string(data)
}

func user(text string) map[string]any {
	return map[string]any{"model": "m", "messages": []any{map[string]any{"role": "user", "content": text}}}
}

func content(t testing.TB, body string) string {
	t.Helper()
	var got struct {
		Choices []struct{ Message struct{ Content string } }
	}
	if err := json.Unmarshal([]byte(body), &got); err != nil || len(got.Choices) != 1 {
		t.Fatalf("not a completion: %s", body)
	}
	return got.Choices[0].Message.Content
}

func TestScript(t *testing.T) {
	m := testkit.NewLLM(t)
	m.On().Reply("else")
	m.On(testkit.Contains("Mars")).Reply("first").Reply("then").Times(2).Reply("last")
	m.On(testkit.Matches(`^\d+$`), testkit.Task("answer")).ReplyFunc(func(r testkit.Request) string {
		return r.LastUser() + "!"
	})
	m.On(testkit.Task("another")).Reply("not asked for")
	for i, c := range []struct{ ask, want string }{
		{"Venus", "else"}, {"Mars", "first"}, {"on Mars", "then"}, {"42", "42!"}, {"Mars", "then"}, {"Mars", "last"},
		{"Mars", "last"},
	} {
		if _, body := post(t, m, user(c.ask)); content(t, body) != c.want {
			t.Errorf("request %d, %q: got %s, want %q", i, c.ask, body, c.want)
		}
	}
	if got := m.Requests(); len(got) != 7 || got[2].LastUser() != "on Mars" || got[0].Task != "answer" {
		t.Errorf("recorded requests: %+v", got)
	}
}

func TestRequestFields(t *testing.T) {
	m := testkit.NewLLM(t)
	m.On(testkit.SchemaNamed("shape")).ReplyJSON(map[string]int{"n": 1})
	ask := user("x")
	ask["max_completion_tokens"], ask["temperature"], ask["seed"], ask["stop"] = 9, 0.5, 3, []string{"."}
	ask["response_format"] = map[string]any{"type": "json_schema", "json_schema": map[string]any{"name": "shape",
		"schema": map[string]any{"type": "object"}}}
	if _, body := post(t, m, ask); content(t, body) != `{"n":1}` {
		t.Errorf("got %s", body)
	}
	r := m.Requests()[0]
	if r.MaxTokens != 9 || *r.Temperature != 0.5 || *r.Seed != 3 || r.Stop[0] != "." ||
		string(r.Schema.JSON) != `{"type":"object"}` || r.Model != "m" {
		t.Errorf("got %+v", r)
	}
}

func TestStreamIsCutIntoPieces(t *testing.T) {
	m := testkit.NewLLM(t)
	m.On().Reply("yes no").Pieces("ye", "s no").LogProbs(llm.Token{Text: "ye", LogProb: -0.5})
	ask := user("x")
	ask["stream"], ask["top_logprobs"], ask["stream_options"] = true, 1, map[string]any{"include_usage": true}
	resp, body := post(t, m, ask)
	if got := resp.Header.Get("Content-Type"); got != "text/event-stream" {
		t.Errorf("content type %q", got)
	}
	var events []string
	for lines := bufio.NewScanner(strings.NewReader(body)); lines.Scan(); {
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			events = append(events, data)
		}
	}
	if len(events) != 6 || events[5] != "[DONE]" {
		t.Fatalf("want role, two pieces, end, usage and DONE, got %q", events)
	}
	for i, want := range map[int]string{1: `"content":"ye"`, 2: `"content":"s no"`, 3: `"finish_reason":"stop"`,
		4: `"completion_tokens":2`} {
		if !strings.Contains(events[i], want) {
			t.Errorf("event %d: got %s, want %s in it", i, events[i], want)
		}
	}
	if !strings.Contains(events[1], `"logprob":-0.5`) {
		t.Errorf("no probability in %s", events[1])
	}
}

func TestFaults(t *testing.T) {
	for _, c := range []struct {
		name   string
		fault  func(*testkit.Rule)
		status int // 0: no answer
		has    string
	}{
		{"down breaks the connection", func(r *testkit.Rule) { r.Disconnect() }, 0, "EOF"},
		{"a status comes with its headers", func(r *testkit.Rule) { r.Status(429, "Retry-After", "7") }, 429,
			"Too Many Requests"},
		{"a web page is no JSON", func(r *testkit.Rule) { r.HTML() }, 200, "<html>"},
		{"no choice", func(r *testkit.Rule) { r.EmptyChoices() }, 200, `"choices":[]`},
		{"null content", func(r *testkit.Rule) { r.NullContent() }, 200, `"content":null`},
		{"half a JSON", func(r *testkit.Rule) { r.HalfJSON() }, 200, `"cont`},
		{"garbage has its size", func(r *testkit.Rule) { r.Garbage(5) }, 200, "\xff\x00~\xff\x00"},
		{"an answer that is cut", func(r *testkit.Rule) { r.CutStream("half an ans") }, 200, "unexpected EOF"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := testkit.NewLLM(t)
			c.fault(m.On())
			resp, body := post(t, m, user("x"))
			if (resp == nil) != (c.status == 0) || (resp != nil && resp.StatusCode != c.status) ||
				!strings.Contains(body, c.has) {
				t.Errorf("got %v, %q", resp, body)
			}
			if c.status == 429 && resp.Header.Get("Retry-After") != "7" {
				t.Errorf("headers %v", resp.Header)
			}
		})
	}
}

func TestKilledServerComesBackAtItsAddress(t *testing.T) {
	m := testkit.NewLLM(t)
	m.On().Reply("here")
	m.Kill()
	if resp, _ := post(t, m, user("x")); resp != nil {
		t.Fatal("a killed server answered")
	}
	m.Start()
	if _, body := post(t, m, user("x")); content(t, body) != "here" {
		t.Errorf("got %s", body)
	}
}

func TestLackingFeaturesAreRefused(t *testing.T) {
	m := testkit.NewLLM(t)
	m.On().Reply("fine")
	m.Lacks("seed")
	ask := user("x")
	ask["seed"] = 1
	if resp, body := post(t, m, ask); resp.StatusCode != 400 || !strings.Contains(body, "'seed'") {
		t.Errorf("got %d %s", resp.StatusCode, body)
	}
	if resp, _ := post(t, m, user("x")); resp.StatusCode != 200 {
		t.Errorf("without it: %d", resp.StatusCode)
	}
	if len(m.Requests()) != 2 {
		t.Error("refused requests are recorded too")
	}
}

func BenchmarkReply(b *testing.B) {
	m := testkit.NewLLM(b)
	m.On().Reply("yes")
	for b.Loop() {
		post(b, m, user("x"))
	}
}
