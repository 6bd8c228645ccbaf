package dialect_test

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	openai "github.com/sashabaranov/go-openai"

	"github.com/triplemesh/triplemesh/internal/llm/dialect"
)

// translate returns the body as a client of whole answers or of streams sees it.
func translate(body io.Reader, streamed bool) (string, error) {
	out, err := io.ReadAll(dialect.NewBody(io.NopCloser(body), 1<<20, streamed, func() {}))
	return string(out), err
}

// readStream returns the text of a body that is translated to a stream, and its last chunk.
func readStream(t *testing.T, body io.Reader) (text string, last openai.ChatCompletionStreamResponse, err error) {
	t.Helper()
	out, err := translate(body, true)
	for line := range strings.SplitSeq(out, "\n\n") {
		data := strings.TrimPrefix(line, "data: ")
		if data == "" || data == "[DONE]" {
			continue
		}
		var c openai.ChatCompletionStreamResponse
		if err := json.Unmarshal([]byte(data), &c); err != nil {
			t.Fatalf("the client cannot parse %q: %v", data, err)
		}
		last = c
		for _, choice := range c.Choices {
			text += choice.Delta.Content
		}
	}
	if complete := strings.HasSuffix(out, "data: [DONE]\n\n"); complete != (err == nil) {
		t.Errorf("the stream is complete: %v, but ended in %v", complete, err)
	}
	return text, last, err
}

// readWhole returns the text of a body that is translated to one JSON object.
func readWhole(t *testing.T, body io.Reader) (text string, err error) {
	t.Helper()
	out, err := translate(body, false)
	if err != nil {
		return "", err
	}
	var c openai.ChatCompletionResponse
	if err := json.Unmarshal([]byte(out), &c); err != nil {
		t.Fatalf("the client cannot parse %q: %v", out, err)
	}
	for _, choice := range c.Choices {
		text += choice.Message.Content
	}
	return text, nil
}

const whole = `{"model":"m","choices":[{"index":0,"message":{"content":"Paris"},` +
	`"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1}}`

func TestTranslatedText(t *testing.T) {
	const par, is = `data: {"choices":[{"delta":{"content":"Par"}}]}`, `data: {"choices":[{"delta":{"content":"is"}}]}`
	for _, c := range []struct {
		name, body, want string
		truncated        bool
	}{
		{"a whole answer", whole, "Paris", false},
		{"behind space and a byte order mark", " \n\xef\xbb\xbf" + whole, "Paris", false},
		{"what stands behind it does not matter", whole + "\n{", "Paris", false},
		{"parts", `{"choices":[{"message":{"content":[{"text":"Par"},{"type":"image"},7,{"text":"is"}]}}]}`,
			"Paris", false},
		{"the text of a plain completion", `{"choices":[{"text":"Paris"}]}`, "Paris", false},
		{"the first of several",
			`{"choices":[{"index":1,"message":{"content":"Rome"}},{"index":0,"message":{"content":"Paris"}}]}`,
			"Paris", false},
		{"fields of wrong types",
			`{"model":7,"usage":[],"choices":["x",{"message":{"content":"Paris","tool_calls":{}},"logprobs":3}]}`, "",
			false},
		{"a stream", par + "\n\n" + is + "\n\ndata: [DONE]\n\n", "Paris", false},
		{"a stream that only ends", par + "\n\n" + is + "\n", "Paris", true},
		{"its last line without an end", par + "\n\n" + is, "Paris", true},
		{"one without empty lines", par + "\n" + is + "\ndata: [DONE]", "Paris", false},
		{"one of other line ends", strings.ReplaceAll(par+"\n\n"+is+"\n\ndata:[DONE]\n\n", "\n", "\r\n"),
			"Paris", false},
		{"comments and other fields", ": hello\n\nevent: x\nid: 1\n" + par + "\n\n: bye\n" + is + "\n\ndata: [DONE]\n",
			"Paris", false},
		{"data in several lines", "data: {\"choices\":\ndata: [{\"delta\":{\"content\":\"Paris\"}}]}\n\ndata: [DONE]\n",
			"Paris", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, _, err := readStream(t, strings.NewReader(c.body))
			if got != c.want || (err != nil) != c.truncated || err != nil && !errors.Is(err, dialect.ErrTruncated) {
				t.Errorf("got %q, %v, want %q", got, err, c.want)
			}
			if got, _, _ = readStream(t, iotest.OneByteReader(strings.NewReader(c.body))); got != c.want {
				t.Errorf("byte by byte it is %q", got)
			}
			got, err = readWhole(t, strings.NewReader(c.body))
			if c.truncated != errors.Is(err, dialect.ErrTruncated) || !c.truncated && got != c.want {
				t.Errorf("in one object it is %q, %v, want %q", got, err, c.want)
			}
		})
	}
}

func TestNumbersInAnySpelling(t *testing.T) {
	for usage, want := range map[string]*openai.Usage{
		`{"prompt_tokens":3,"completion_tokens":1}`:        {PromptTokens: 3, CompletionTokens: 1},
		`{"prompt_tokens":"3","completion_tokens":1.0}`:    {PromptTokens: 3, CompletionTokens: 1},
		`{"prompt_tokens":-1e300,"completion_tokens":1e9}`: {PromptTokens: -1 << 31, CompletionTokens: 1e9},
		`{"prompt_tokens":[],"completion_tokens":null}`:    nil,
		`null`: nil,
	} {
		_, last, err := readStream(t, strings.NewReader(`{"choices":[],"usage":`+usage+`}`))
		if err != nil || (last.Usage == nil) != (want == nil) || want != nil && *last.Usage != *want {
			t.Errorf("%s: got %+v, %v", usage, last.Usage, err)
		}
	}
}

func TestReportedErrors(t *testing.T) {
	for _, c := range []struct {
		name, body, message, typ, code string
		status                         int
	}{
		{"an object", `{"error":{"message":"boom","type":"t","code":"c"}}`, "boom", "t", "c", 0},
		{"with a status", `{"error":{"message":"boom","code":429}}`, "boom", "", "429", 429},
		{"a status as text", `{"error":{"message":"boom","code":"503"}}`, "boom", "", "503", 503},
		{"a text", `{"error":"boom"}`, "boom", "", "", 0},
		{"vLLM's own", `{"object":"error","message":"boom","code":400}`, "boom", "", "400", 400},
		{"FastAPI's", `{"detail":"boom"}`, "boom", "", "", 0},
		{"an object of another form", `{"error":{"why":"boom"}}`, `{"why":"boom"}`, "", "", 0},
		{"as an event", "data: {\"error\":{\"message\":\"boom\"}}\n\ndata: [DONE]\n", "boom", "", "", 0},
		{"as a field of its own", "error: {\"code\":400,\"message\":\"boom\"}\n\ndata: [DONE]\n", "boom",
			"", "400", 400},
		{"beside choices", `{"choices":[{"message":{"content":"x"}}],"error":{"message":"boom","code":502}}`,
			"boom", "", "502", 502},
	} {
		t.Run(c.name, func(t *testing.T) {
			for name, streamed := range map[string]bool{"a stream": true, "one object": false} {
				_, err := translate(strings.NewReader(c.body), streamed)
				var e *openai.APIError
				if !errors.As(err, &e) || e.Message != c.message || e.Type != c.typ || e.HTTPStatusCode != c.status ||
					c.code != "" && e.Code != c.code {
					t.Errorf("%s: got %#v (%v)", name, e, err)
				}
			}
		})
	}
}

func TestErrorResponses(t *testing.T) {
	for body, want := range map[string]string{
		"oops":                               "oops",
		`{"error":"boom"}`:                   "boom",
		"\xef\xbb\xbf" + `{"detail":"boom"}`: "boom",
		`{"object":"error","message":"boom","code":400}`: "boom",
		"": "",
	} {
		var got openai.ErrorResponse
		if err := json.Unmarshal(dialect.NormaliseError([]byte(body)), &got); err != nil || got.Error == nil ||
			got.Error.Message != want {
			t.Errorf("%q: got %+v, %v", body, got.Error, err)
		}
	}
}

func TestBytesThatAreNotACompletion(t *testing.T) {
	for name, body := range map[string]string{
		"a text": "Internal error", "bytes": "\xff\x00~", "broken JSON": `{"choices":[}`, "an array": `[1]`,
		"a broken event": "data: {\"a\n\ndata: [DONE]\n", "lines without end": strings.Repeat("data: [\n", 1000),
	} {
		var e *dialect.NotCompletionError
		if _, err := translate(strings.NewReader(body), true); !errors.As(err, &e) || e.WebPage {
			t.Errorf("%s: got %v", name, err)
		}
	}
	var page *dialect.NotCompletionError
	if _, err := translate(strings.NewReader("<!DOCTYPE html>"), true); !errors.As(err, &page) || !page.WebPage {
		t.Errorf("got %v", err)
	}
	for name, body := range map[string]string{"nothing": "", "half": `{"choices":[`} {
		if _, err := translate(strings.NewReader(body), true); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestLimits(t *testing.T) {
	const event = `data: {"choices":[{"delta":{"content":"four"}}]}` + "\n\n"
	stream := strings.Repeat(event, 3)
	t.Run("a stream ends in an error at the byte limit", func(t *testing.T) {
		body := dialect.NewBody(io.NopCloser(strings.NewReader(stream)), int64(2*len(event)), true, func() {})
		out, err := io.ReadAll(body)
		if !errors.Is(err, dialect.ErrTooLarge) || strings.Count(string(out), "four") != 2 {
			t.Errorf("got %q, %v", out, err)
		}
	})
	t.Run("one object is truncated at the byte limit", func(t *testing.T) {
		body := dialect.NewBody(io.NopCloser(strings.NewReader(stream)), int64(2*len(event)), false, func() {})
		out, err := io.ReadAll(body)
		if err != nil || !strings.Contains(string(out), "fourfour") || !strings.Contains(string(out), `"length"`) {
			t.Errorf("got %q, %v", out, err)
		}
	})
	t.Run("a server that stays silent after the answer is left", func(t *testing.T) {
		in, out := io.Pipe()
		body := dialect.NewBody(in, 1<<20, true, func() { in.CloseWithError(io.ErrClosedPipe) })
		go io.WriteString(out, strings.Replace(event, `"delta"`, `"finish_reason":"stop","delta"`, 1))
		start := time.Now()
		got, err := io.ReadAll(body)
		if err != nil || !strings.HasSuffix(string(got), "data: [DONE]\n\n") || time.Since(start) > 10*time.Second {
			t.Errorf("got %q, %v after %v", got, err, time.Since(start))
		}
	})
}

// Any bytes end in JSON that the client parses, or in an error, read at once or byte by byte.
func FuzzBody(f *testing.F) {
	for _, s := range []string{whole, "data: " + whole + "\n\ndata: [DONE]\n", ": x\nevent: y\ndata: {\ndata: }\n\n",
		"error: {\"code\":1}\n", `{"error":{"message":["a"],"code":"500"}}`, "<p>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		text, _, err := readStream(t, strings.NewReader(body))
		slow, _, slowErr := readStream(t, iotest.OneByteReader(strings.NewReader(body)))
		if slow != text || (err == nil) != (slowErr == nil) {
			t.Errorf("at once %q, %v; byte by byte %q, %v", text, err, slow, slowErr)
		}
		if whole, wholeErr := readWhole(t, strings.NewReader(body)); wholeErr == nil && whole != text {
			t.Errorf("as a stream %q, in one object %q", text, whole)
		}
		if !json.Valid(dialect.NormaliseError([]byte(body))) {
			t.Error("the error is not JSON")
		}
	})
}
