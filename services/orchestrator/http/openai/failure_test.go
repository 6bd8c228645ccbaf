package openai_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/triplemesh/triplemesh/services/orchestrator/http/openai"
	"github.com/triplemesh/triplemesh/services/orchestrator/method/stagetest"
)

// fault is an error as clients read it.
type fault struct{ Message, Type, Param, Code string }

func errorOf(t *testing.T, text []byte) fault {
	t.Helper()
	e := decode[struct{ Error fault }](t, text).Error
	if e.Message == "" || e.Type == "" || e.Code == "" {
		t.Errorf("the error lacks something: %s", text)
	}
	return e
}

func TestRequestsThatCannotBeAnswered(t *testing.T) {
	url := serve(t, stagetest.New(t), openai.Config{})
	says := func(messages string) string { return `{"model": "triplemesh/pg-akv", "messages": ` + messages + `}` }
	for _, c := range []struct {
		name, body string
		status     int
		param      string
		message    string
	}{
		{"no JSON", `{"model": `, 400, "", "no JSON"},
		{"JSON of another kind", `[]`, 400, "", "array"},
		{"a field of another kind", film("triplemesh/pg-akv", `, "n": "two"`), 400, "n", "string"},
		{"no model", `{"messages": []}`, 400, "model", "/v1/models"},
		{"an unknown model names those there are", film("gpt-5", ""), 404, "model", "triplemesh/auto, triplemesh/cot"},
		{"an unknown method of a knowledge graph", film("triplemesh/guess:wikidata", ""), 404, "model",
			"triplemesh/pg-akv"},
		{"a knowledge graph with a name that none has", film("triplemesh/pg-akv:Wikidata", ""), 404, "model",
			"triplemesh/pg-akv"},
		{"snapshot 0", film("triplemesh/pg-akv:wikidata@0", ""), 404, "model", "triplemesh/pg-akv"},
		{"an unknown knowledge graph names those there are", film("triplemesh/pg-akv:dbpedia", ""), 404, "",
			"wikidata, idle"},
		{"a knowledge graph with no active snapshot", film("triplemesh/pg-akv:idle", ""), 400, "", "kg activate"},
		{"no messages", says(`[]`), 400, "messages", "user's question"},
		{"an answer as the last message",
			says(`[{"role": "user", "content": "?"}, {"role": "assistant", "content": "!"}]`), 400, "messages",
			"user's question"},
		{"an empty question", says(`[{"role": "user", "content": " "}]`), 400, "messages[0].content", "empty"},
		{"a question of nothing", says(`[{"role": "user"}]`), 400, "messages[0].content", "empty"},
		{"an image",
			says(
				`[{"role": "user", "content": [{"type": "text", "text": "who is this"}, ` +
					`{"type": "image_url", "image_url": {"url": "data:"}}]}]`),
			400, "messages[0].content", "image_url"},
		{"a content that is none", says(`[{"role": "user", "content": 7}]`), 400, "messages[0].content",
			"array of parts"},
		{"a role that is none", says(`[{"role": "oracle", "content": "?"}]`), 400, "messages[0].role", "oracle"},
		{"a question of 20 kB", says(`[{"role": "user", "content": "` + strings.Repeat("a", 20000) + `"}]`), 400,
			"messages", "question"},
		{"two answers", film("triplemesh/pg-akv", `, "n": 2`), 400, "n", "one answer"},
		{"JSON as an answer", film("triplemesh/pg-akv", `, "response_format": {"type": "json_object"}`), 400,
			"response_format", "json_object"},
		{"speech", film("triplemesh/pg-akv", `, "modalities": ["text", "audio"]`), 400, "modalities", "text"},
		{"a tool that must be called", film("triplemesh/pg-akv", `, "tool_choice": "required"`), 400, "tool_choice",
			"no model here"},
		{"a certain tool", film("triplemesh/pg-akv",
			`, "tool_choice": {"type": "function", "function": {"name": "f"}}`), 400, "tool_choice", "no model here"},
		{"a certain function", film("triplemesh/pg-akv", `, "function_call": {"name": "f"}`), 400, "function_call",
			"no model here"},
		{"options that are no object", film("triplemesh/pg-akv", `, "triplemesh": "wikidata"`), 400, "triplemesh",
			"want an object"},
		{"an unknown option", film("triplemesh/pg-akv", `, "triplemesh": {"verification": "align"}`), 400, "triplemesh",
			`unknown field "verification"`},
		{"an option of another kind", film("triplemesh/pg-akv", `, "triplemesh": {"options": {"maxHops": "many"}}`),
			400, "triplemesh", "maxHops"},
		{"an option that the contract refuses", film("triplemesh/pg-akv",
			`, "triplemesh": {"options": {"max_hops": 9}}`), 400, "triplemesh.options.max_hops", "max_hops"},
		{"an option that says what a message says", film("triplemesh/pg-akv", `, "triplemesh": {"question": "?"}`), 400,
			"triplemesh.question", "last message"},
		{"a knowledge graph that is no name", film("triplemesh/pg-akv", `, "triplemesh": {"kg": {"name": "wikidata"}}`),
			400, "triplemesh.kg", "wikidata@3"},
		{"others that are no names", film("triplemesh/pg-akv", `, "triplemesh": {"otherKgs": ["x", 1]}`), 400,
			"triplemesh.otherKgs", "wikidata@3"},
		{"a knowledge graph named twice", film("triplemesh/pg-akv", `, "triplemesh": {"other_kgs": ["wikidata"]}`), 400,
			"triplemesh.other_kgs", "twice"},
		{"two knowledge graphs for one", film("triplemesh/pg-akv:idle", `, "triplemesh": {"kg": "wikidata"}`), 400,
			"triplemesh.kg", "name one"},
	} {
		for _, stream := range []string{"", `{"stream": true, `} {
			body := c.body
			if stream != "" {
				body = strings.Replace(body, "{", stream, 1)
			}
			t.Run(c.name+stream, func(t *testing.T) {
				resp, text := call(t, "POST", url+"/chat/completions", body)
				e := errorOf(t, text)
				if resp.StatusCode != c.status || e.Param != c.param || !strings.Contains(e.Message, c.message) {
					t.Errorf("%s: %s; want %d of %q with %q", resp.Status, text, c.status, c.param, c.message)
				}
				if c.status == http.StatusBadRequest && e.Type != "invalid_request_error" {
					t.Errorf("of type %s", e.Type)
				}
			})
		}
	}
}

func TestErrorsOfTheMeshHaveOpenAIsShape(t *testing.T) {
	quota := func(after time.Duration) error {
		return detailed(t, codes.ResourceExhausted, &errdetails.ErrorInfo{Reason: "QUOTA_EXCEEDED"},
			&errdetails.RetryInfo{RetryDelay: durationpb.New(after)})
	}
	for _, c := range []struct {
		name       string
		err        error
		status     int
		kind, code string
		header     http.Header
	}{
		{"no token", detailed(t, codes.Unauthenticated, &errdetails.ErrorInfo{Reason: "TOKEN_MISSING"}), 401,
			"invalid_request_error", "invalid_api_key", http.Header{"Www-Authenticate": {"Bearer"}}},
		{"a token for something else", detailed(t, codes.PermissionDenied,
			&errdetails.ErrorInfo{Reason: "SCOPE_MISSING"}), 403, "permission_error", "scope_missing", nil},
		{"too many questions", quota(1500 * time.Millisecond), 429, "rate_limit_error", "rate_limit_exceeded",
			http.Header{"Retry-After": {"2"}, "X-Should-Retry": nil}},
		{"no more today", quota(time.Hour), 429, "insufficient_quota", "insufficient_quota",
			http.Header{"Retry-After": {"3600"}, "X-Should-Retry": {"false"}}},
		{"a stage that is down", status.Error(codes.Unavailable, "x"), 503, "server_error", "unavailable",
			http.Header{"X-Should-Retry": nil}},
		{"no time left", status.Error(codes.DeadlineExceeded, "x"), 504, "server_error", "deadline_exceeded",
			http.Header{"X-Should-Retry": {"false"}}},
		{"a fault", status.Error(codes.Internal, "x"), 500, "server_error", "internal", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			url := open(t, refusing{c.err}, openai.Config{})
			for _, path := range []string{"/models", "/models/triplemesh/pg-akv", "/chat/completions"} {
				method, body := "GET", ""
				if path == "/chat/completions" {
					method, body = "POST", film("triplemesh/pg-akv", "")
				}
				resp, text := call(t, method, url+path, body)
				if e := errorOf(t, text); resp.StatusCode != c.status || e.Type != c.kind || e.Code != c.code {
					t.Errorf("%s: %s: %s", path, resp.Status, text)
				}
				for name, want := range c.header {
					if got := resp.Header.Get(name); got != strings.Join(want, "") {
						t.Errorf("%s: %s: %q, want %q", path, name, got, want)
					}
				}
			}
		})
	}
}

func detailed(t *testing.T, code codes.Code, details ...protoadapt.MessageV1) error {
	t.Helper()
	st, err := status.New(code, "no").WithDetails(details...)
	if err != nil {
		t.Fatal(err)
	}
	return st.Err()
}

func TestWhatIsNotThere(t *testing.T) {
	url := serve(t, stagetest.New(t), openai.Config{})
	for _, c := range []struct {
		name, method, path string
		status             int
		allow              string
	}{
		{"another part of OpenAI's API", "POST", "/responses", 404, ""},
		{"a model that is none", "GET", "/models/gpt-5", 404, ""},
		{"a model of nothing", "GET", "/models/", 404, ""},
		{"a knowledge graph that is none", "GET", "/models/triplemesh/pg-akv:dbpedia", 404, ""},
		{"a snapshot that is none", "GET", "/models/triplemesh/pg-akv:wikidata@9", 404, ""},
		{"asking by GET", "GET", "/chat/completions", 405, "POST"},
		{"making models", "POST", "/models", 405, "GET"},
	} {
		t.Run(c.name, func(t *testing.T) {
			resp, text := call(t, c.method, url+c.path, "")
			if errorOf(t, text); resp.StatusCode != c.status || resp.Header.Get("Allow") != c.allow {
				t.Errorf("%s: %s", resp.Status, text)
			}
		})
	}
}
