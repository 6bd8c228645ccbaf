package load

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestEveryQuestionHasOneAnswerInTheFacts(t *testing.T) {
	facts := string(ScriptedFacts())
	seen := map[string]bool{}
	for n := range Questions {
		text, subject, answer := ScriptedQuestion(n)
		relation := asked.FindStringSubmatch(text)
		if relation == nil || strings.Count(facts, subject+"\t"+relation[1]+"\t"+answer+"\n") != 1 {
			t.Fatalf("question %d, %q: the facts do not say %s", n, text, answer)
		}
		seen[text] = true
	}
	if len(seen) != Questions {
		t.Errorf("of %d questions %d differ", Questions, len(seen))
	}
}

func TestTheModelReadsTheAnswerOffTheFacts(t *testing.T) {
	text, subject, answer := ScriptedQuestion(7)
	for name, c := range map[string]struct{ task, message, want string }{
		"a draft": {"pseudo-graph", "Question: " + text, `"unknown"`},
		"from a graph": {"answer", "Facts:\n- " + subject + " | capital | " + answer + " (unconfirmed)\nQuestion: " +
			text, "{" + answer + "}"},
		"from paths": {"candidate-answers", "Question: " + text + "\n" + subject + " -> capital: " + answer +
			"; Other\n", "{" + answer + "}"},
		"without a fact":  {"answer", "Question: " + text, "{unknown}"},
		"relation paths":  {"relation-paths", "Question: " + text, "capital"},
		"another message": {"answer", "?", "{unknown}"},
	} {
		if got := reply(c.task, c.message); !strings.Contains(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// call asks the model and returns what it says.
func call(ctx context.Context, url, body string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/chat/completions", strings.NewReader(body))
	if err != nil {
		return "", err
	}
	req.Header.Set("User-Agent", "triplemesh/answer")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return string(text), err
}

func TestNoMoreAreWorkedOnThanTheCapacity(t *testing.T) {
	m := &ScriptedModel{Latency: time.Hour, Capacity: 2}
	url, stop, err := m.Serve()
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	const body = `{"messages": [{"content": "?"}]}`
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 3)
	for range 3 {
		go func() { _, err := call(ctx, url, body); ended <- err }()
	}
	for len(m.places) < 2 {
		time.Sleep(time.Millisecond)
	}
	cancel() // who goes away gives the place back
	for range 3 {
		if err := <-ended; err == nil {
			t.Error("an answer of an hour came at once")
		}
	}
	for len(m.places) > 0 {
		time.Sleep(time.Millisecond)
	}
}

func TestAnAnswerIsWholeOrStreamed(t *testing.T) {
	const body = `{"messages": [{"content": "?"}]}`
	url, stop, err := new(ScriptedModel).Serve()
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	whole, err := call(t.Context(), url, body)
	if err != nil || !json.Valid([]byte(whole)) || !strings.Contains(whole, "{unknown}") {
		t.Errorf("got %q, %v", whole, err)
	}
	piece, err := call(t.Context(), url, `{"stream": true, "messages": [{"content": "?"}]}`)
	if err != nil || !strings.Contains(piece, "{unknown}") || !strings.HasSuffix(piece, "data: [DONE]\n\n") {
		t.Errorf("streamed: got %q, %v", piece, err)
	}
	if text, err := call(t.Context(), url, "no JSON"); err != nil || !strings.Contains(text, "chat completion") {
		t.Errorf("got %q, %v", text, err)
	}
}
