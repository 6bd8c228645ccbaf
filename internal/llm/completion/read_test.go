package completion_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/triplemesh/triplemesh/internal/llm/completion"
)

// read puts a completion's texts together.
func read(body string) (text string, last completion.Chunk, err error) {
	err = completion.Read(strings.NewReader(body), func(c completion.Chunk) error {
		text += c.Text
		last = c
		return nil
	})
	return text, last, err
}

const whole = `{"model":"m","choices":[{"index":0,"message":{"content":"Paris"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1}}`

func TestRead(t *testing.T) {
	const par, is = `data: {"choices":[{"delta":{"content":"Par"}}]}`, `data: {"choices":[{"delta":{"content":"is"}}]}`
	for _, c := range []struct {
		name, body, want string
		cut              bool
	}{
		{"a whole answer", whole, "Paris", false},
		{"behind space and a byte order mark", " \n\xef\xbb\xbf" + whole, "Paris", false},
		{"what stands behind it does not matter", whole + "\n{", "Paris", false},
		{"parts", `{"choices":[{"message":{"content":[{"text":"Par"},{"type":"image"},7,{"text":"is"}]}}]}`, "Paris", false},
		{"the text of a plain completion", `{"choices":[{"text":"Paris"}]}`, "Paris", false},
		{"the first of several", `{"choices":[{"index":1,"message":{"content":"Rome"}},{"index":0,"message":{"content":"Paris"}}]}`, "Paris", false},
		{"fields of wrong types", `{"model":7,"usage":[],"choices":["x",{"message":{"content":"Paris","tool_calls":{}},"logprobs":3}]}`, "", false},
		{"a stream", par + "\n\n" + is + "\n\ndata: [DONE]\n\n", "Paris", false},
		{"a stream that only ends", par + "\n\n" + is + "\n", "Paris", true},
		{"its last line without an end", par + "\n\n" + is, "Paris", true},
		{"one without empty lines", par + "\n" + is + "\ndata: [DONE]", "Paris", false},
		{"one of other line ends", strings.ReplaceAll(par+"\n\n"+is+"\n\ndata:[DONE]\n\n", "\n", "\r\n"), "Paris", false},
		{"comments and other fields", ": hello\n\nevent: x\nid: 1\n" + par + "\n\n: bye\n" + is + "\n\ndata: [DONE]\n", "Paris", false},
		{"data in several lines", "data: {\"choices\":\ndata: [{\"delta\":{\"content\":\"Paris\"}}]}\n\ndata: [DONE]\n", "Paris", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, _, err := read(c.body)
			if got != c.want || (err != nil) != c.cut || c.cut && !errors.Is(err, completion.ErrCut) {
				t.Errorf("got %q, %v, want %q", got, err, c.want)
			}
			var bytewise string
			_ = completion.Read(iotest.OneByteReader(strings.NewReader(c.body)), func(c completion.Chunk) error {
				bytewise += c.Text
				return nil
			})
			if bytewise != c.want {
				t.Errorf("byte by byte it is %q", bytewise)
			}
		})
	}
}

func TestNumbersInAnySpelling(t *testing.T) {
	for usage, want := range map[string]*completion.Usage{
		`{"prompt_tokens":3,"completion_tokens":1}`:        {Prompt: 3, Completion: 1},
		`{"prompt_tokens":"3","completion_tokens":1.0}`:    {Prompt: 3, Completion: 1},
		`{"prompt_tokens":-1e300,"completion_tokens":1e9}`: {Prompt: -1 << 31, Completion: 1e9},
		`{"prompt_tokens":[],"completion_tokens":null}`:    nil,
		`null`: nil,
	} {
		_, last, err := read(`{"choices":[],"usage":` + usage + `}`)
		if err != nil || (last.Usage == nil) != (want == nil) || want != nil && *last.Usage != *want {
			t.Errorf("%s: got %+v, %v", usage, last.Usage, err)
		}
	}
}

func TestFailures(t *testing.T) {
	for _, c := range []struct {
		name, body, message, kind string
		status                    int
	}{
		{"an object", `{"error":{"message":"boom","type":"t","code":"c"}}`, "boom", "t c", 0},
		{"with a status", `{"error":{"message":"boom","code":429}}`, "boom", "429", 429},
		{"a status as text", `{"error":{"message":"boom","code":"503"}}`, "boom", "503", 503},
		{"a text", `{"error":"boom"}`, "boom", "", 0},
		{"vLLM's own", `{"object":"error","message":"boom","code":400}`, "boom", "400", 400},
		{"FastAPI's", `{"detail":"boom"}`, "boom", "", 0},
		{"an object of another form", `{"error":{"why":"boom"}}`, `{"why":"boom"}`, "", 0},
		{"as an event", "data: {\"error\":{\"message\":\"boom\"}}\n\ndata: [DONE]\n", "boom", "", 0},
		{"as a field of its own", "error: {\"code\":400,\"message\":\"boom\"}\n\ndata: [DONE]\n", "boom", "400", 400},
		{"beside choices", `{"choices":[{"message":{"content":"x"}}],"error":{"message":"boom","code":502}}`, "boom", "502", 502},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := read(c.body)
			var f *completion.Failure
			if !errors.As(err, &f) || f.Message != c.message || f.Kind != c.kind || f.Status != c.status {
				t.Errorf("got %+v (%v)", f, err)
			}
		})
	}
	if f := completion.ParseFailure([]byte("oops")); f.Message != "oops" {
		t.Errorf("got %+v", f)
	}
}

func TestWhatIsNoCompletion(t *testing.T) {
	for name, body := range map[string]string{
		"a text": "Internal error", "bytes": "\xff\x00~", "broken JSON": `{"choices":[}`, "an array": `[1]`,
		"a broken event": "data: {\"a\n\ndata: [DONE]\n", "lines without end": strings.Repeat("data: [\n", 1000),
	} {
		var none *completion.NoCompletion
		if _, _, err := read(body); !errors.As(err, &none) || none.Page {
			t.Errorf("%s: got %v", name, err)
		}
	}
	var page *completion.NoCompletion
	if _, _, err := read("<!DOCTYPE html>"); !errors.As(err, &page) || !page.Page {
		t.Errorf("got %v", err)
	}
	for name, body := range map[string]string{"nothing": "", "half": `{"choices":[`} {
		if _, _, err := read(body); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// FuzzRead: any bytes end in pieces or in an error, as they come at once or one
// by one.
func FuzzRead(f *testing.F) {
	for _, s := range []string{whole, "data: " + whole + "\n\ndata: [DONE]\n", ": x\nevent: y\ndata: {\ndata: }\n\n", "error: {\"code\":1}\n", `{"error":{"message":["a"],"code":"500"}}`, "<p>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		text, _, err := read(body)
		var slow string
		again := completion.Read(iotest.OneByteReader(strings.NewReader(body)), func(c completion.Chunk) error {
			slow += c.Text
			return nil
		})
		if slow != text || (err == nil) != (again == nil) {
			t.Errorf("at once %q, %v; one by one %q, %v", text, err, slow, again)
		}
		if completion.ParseFailure([]byte(body)) == nil {
			t.Error("no failure")
		}
	})
}
