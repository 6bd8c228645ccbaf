package llm_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/testkit"
)

// Every way a server can misbehave, asked plainly and streamed.
func TestMisbehavingServers(t *testing.T) {
	const contextFull = `{"error":{"code":400,"message":"the request exceeds the available context size",` +
		`"type":"exceed_context_size_error"}}`
	for _, c := range []struct {
		name     string
		script   func(*testkit.Rule)
		kind     error
		code     codes.Code
		says     string
		requests int // asked plainly, with two retries
	}{
		{"down", func(r *testkit.Rule) { r.Disconnect() }, llm.ErrUnavailable, codes.Unavailable, "is it running?", 3},
		{"500", func(r *testkit.Rule) { r.Status(500) }, llm.ErrUnavailable, codes.Unavailable,
			"500 Internal Server Error: scripted", 3},
		{"503 with a proxy's page", func(r *testkit.Rule) { r.StatusBody(503, "<html>oops</html>") },
			llm.ErrUnavailable, codes.Unavailable, "503 Service Unavailable", 3},
		{"429", func(r *testkit.Rule) { r.Status(429) }, llm.ErrRateLimited, codes.ResourceExhausted, "429", 3},
		{"an empty account is not asked again", func(r *testkit.Rule) {
			r.StatusBody(429,
				`{"error":{"message":"You exceeded your quota","type":"insufficient_quota",`+
					`"code":"insufficient_quota"}}`)
		}, llm.ErrRateLimited, codes.ResourceExhausted, "quota", 1},
		{"401", func(r *testkit.Rule) { r.Status(401) }, llm.ErrRefused, codes.FailedPrecondition, "llm.api_key", 1},
		{"403", func(r *testkit.Rule) { r.Status(403) }, llm.ErrRefused, codes.FailedPrecondition, "llm.api_key", 1},
		{"404", func(r *testkit.Rule) { r.Status(404) }, llm.ErrRefused, codes.FailedPrecondition, "llm.model", 1},
		{"400", func(r *testkit.Rule) { r.Status(400) }, llm.ErrRefused, codes.FailedPrecondition, "400 Bad Request",
			1},
		{"a redirect", func(r *testkit.Rule) { r.Status(301, "Location", "http://example.org/") }, llm.ErrRefused,
			codes.FailedPrecondition, "llm.base_url", 1},
		{"a prompt over the context", func(r *testkit.Rule) { r.StatusBody(400, contextFull) }, llm.ErrPromptTooLong,
			codes.FailedPrecondition, "context", 1},
		{"HTML", func(r *testkit.Rule) { r.HTML() }, llm.ErrUnavailable, codes.Unavailable, "/v1", 3},
		{"no choice", func(r *testkit.Rule) { r.EmptyChoices() }, llm.ErrUnavailable, codes.Unavailable,
			"no choice", 3},
		{"half a JSON", func(r *testkit.Rule) { r.HalfJSON() }, llm.ErrUnavailable, codes.Unavailable, "broke off", 3},
		{"garbage", func(r *testkit.Rule) { r.Garbage(100) }, llm.ErrUnavailable, codes.Unavailable,
			"not a chat completion", 3},
		{"a cut answer", func(r *testkit.Rule) { r.CutStream("Par") }, llm.ErrUnavailable, codes.Unavailable, "", 3},
		{"null content", func(r *testkit.Rule) { r.NullContent() }, llm.ErrUnusable, codes.Internal, "empty", 1},
		{"nothing but white space", func(r *testkit.Rule) { r.Reply(" \n ") }, llm.ErrUnusable, codes.Internal, "empty",
			1},
		{"only thoughts, with tokens for them too", func(r *testkit.Rule) { r.Reply("").Finish("length") },
			llm.ErrUnusable, codes.Internal, "reasoning_effort", 2},
		{"a filtered answer", func(r *testkit.Rule) { r.Reply("Par").Finish("content_filter") }, llm.ErrUnusable,
			codes.Internal, "filter", 1},
		{"a hang", func(r *testkit.Rule) { r.Hang() }, llm.ErrUnavailable, codes.Unavailable, "llm.timeout", 1},
	} {
		for _, streamed := range []bool{false, true} {
			name := c.name
			if streamed {
				name += ", streamed"
			}
			t.Run(name, func(t *testing.T) {
				m := testkit.NewLLM(t)
				c.script(m.On())
				cfg := m.Config()
				cfg.APIKey = "sk-very-secret"
				if c.name == "a hang" {
					cfg.Timeout = 20 * time.Millisecond
				}
				req := ask("x")
				if streamed {
					req.Delta = func(string) {}
				}
				_, err := client(t, cfg).Complete(t.Context(), req)
				if !errors.Is(err, c.kind) || status.Code(err) != c.code || !strings.Contains(err.Error(), c.says) {
					t.Fatalf("got %s: %v\nwant %v, %s, with %q", status.Code(err), err, c.kind, c.code, c.says)
				}
				if !strings.Contains(err.Error(), m.URL()) {
					t.Errorf("the error does not say which server: %v", err)
				}
				// A stream that is none is asked for once more in one piece. A hang
				// may time out before the server has read the request.
				n, most := len(m.Requests()), c.requests
				if streamed {
					most++
				}
				if n > most || (!streamed && n < c.requests && c.name != "a hang") {
					t.Errorf("%d requests, want %d", n, c.requests)
				}
				info, ok := status.Convert(err).Details()[0].(*errdetails.ErrorInfo)
				if !ok || info.Domain != "triplemesh" || info.Reason == "" {
					t.Errorf("details %v", status.Convert(err).Details())
				}
			})
		}
	}
}

func TestServerThatDoesNotExist(t *testing.T) {
	m := testkit.NewLLM(t)
	cfg := m.Config()
	m.Kill()
	_, err := client(t, cfg).Complete(t.Context(), ask("x"))
	if !errors.Is(err, llm.ErrUnavailable) || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("got %v", err)
	}
}

func TestRetriesEndInAnAnswer(t *testing.T) {
	for _, c := range []struct {
		name   string
		script func(*testkit.Rule)
	}{
		{"after 500", func(r *testkit.Rule) { r.Status(500).Reply("Paris") }},
		{"after 429", func(r *testkit.Rule) { r.Status(429).Status(429).Reply("Paris") }},
		{"after broken connections", func(r *testkit.Rule) { r.Disconnect().Disconnect().Reply("Paris") }},
		{"after half a JSON", func(r *testkit.Rule) { r.HalfJSON().Reply("Paris") }},
		{"after no choice", func(r *testkit.Rule) { r.EmptyChoices().Reply("Paris") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := testkit.NewLLM(t)
			c.script(m.On())
			if resp, err := client(t, m.Config()).Complete(t.Context(), ask("x")); err != nil || resp.Text != "Paris" {
				t.Errorf("got %+v, %v", resp, err)
			}
		})
	}
}

func TestRetryAfter(t *testing.T) {
	t.Run("is waited for", func(t *testing.T) {
		m := testkit.NewLLM(t)
		m.On().Status(429, "Retry-After-Ms", "60").Reply("Paris")
		begin := time.Now()
		if _, err := client(t, m.Config()).Complete(t.Context(), ask("x")); err != nil {
			t.Fatal(err)
		}
		if d := time.Since(begin); d < 60*time.Millisecond {
			t.Errorf("asked again after %v", d)
		}
	})
	t.Run("beyond the deadline the error comes at once", func(t *testing.T) {
		m := testkit.NewLLM(t)
		m.On().Status(429, "Retry-After", "600")
		cfg := m.Config()
		cfg.MaxRetryDelay = time.Hour
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Second)
		defer cancel()
		_, err := client(t, cfg).Complete(ctx, ask("x"))
		if !errors.Is(err, llm.ErrRateLimited) || !strings.Contains(err.Error(), "would have to wait 10m0s") {
			t.Errorf("got %v (context: %v)", err, ctx.Err())
		}
	})
	t.Run("longer than the limit is not waited for", func(t *testing.T) {
		m := testkit.NewLLM(t)
		m.On().Status(503, "Retry-After", time.Now().Add(time.Hour).UTC().Format(http.TimeFormat))
		if _, err := client(t, m.Config()).Complete(t.Context(), ask("x")); !errors.Is(err, llm.ErrUnavailable) ||
			len(m.Requests()) != 1 {
			t.Errorf("%d requests, %v", len(m.Requests()), err)
		}
	})
}

func TestAnswersThatBreakOffInMidStream(t *testing.T) {
	for _, c := range []struct {
		name              string
		script            func(*testkit.Rule)
		text, heard, says string
		asked             int
	}{
		{"are gone on with where the next attempt says the same", func(r *testkit.Rule) {
			r.CutStream("The capital ", "is ").Reply("The capital is Paris.").Pieces("The", " capital is", " Paris",
				".")
		}, "The capital is Paris.", "The capital is Paris.", "", 2},
		{"are whole at the end where the next attempt says something else", func(r *testkit.Rule) {
			r.CutStream("The capital ", "is ").Reply("The cat is Paris.").Pieces("The", " cat is", " Paris", ".")
		}, "The cat is Paris.", "The capital is ", "", 2},
		{"are as long as they came where every attempt breaks off", func(r *testkit.Rule) {
			r.CutStream("The capital ", "is ").CutStream("The").CutStream("The ca")
		}, "The capital is ", "The capital is ", "broke off", 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := testkit.NewLLM(t)
			c.script(m.On())
			var heard string
			req := ask("x")
			req.Delta = func(s string) { heard += s }
			resp, err := client(t, m.Config()).Complete(t.Context(), req)
			if (err == nil) != (c.says == "") || resp.Text != c.text || heard != c.heard ||
				len(m.Requests()) != c.asked {
				t.Errorf("got %q after %d requests, heard %q, %v", resp.Text, len(m.Requests()), heard, err)
			}
			if err != nil && !errors.Is(err, llm.ErrUnavailable) {
				t.Errorf("got %v", err)
			}
			if u := req.Ledger.Usage(); int(u.Calls) != c.asked || u.CompletionTokens == 0 {
				t.Errorf("the tokens that came were not counted: %v", u)
			}
		})
	}
}

func TestServerKilledInMidAnswer(t *testing.T) {
	m := testkit.NewLLM(t)
	m.On().Hang()
	cfg := m.Config()
	cfg.Retries = 0
	go func() {
		m.Await(1)
		m.Kill()
	}()
	if _, err := client(t, cfg).Complete(t.Context(), ask("x")); status.Code(err) != codes.Unavailable {
		t.Errorf("got %v", err)
	}
}

func TestCallersDeadline(t *testing.T) {
	for _, streamed := range []bool{false, true} {
		m := testkit.NewLLM(t)
		m.On().Hang()
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		req := ask("x")
		if streamed {
			req.Delta = func(string) {}
		}
		if _, err := client(t, m.Config()).Complete(ctx, req); status.Code(err) != codes.DeadlineExceeded ||
			!errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("streamed %v: got %v", streamed, err)
		}
		gone, leave := context.WithCancel(t.Context())
		leave()
		if _, err := client(t, m.Config()).Complete(gone, req); status.Code(err) != codes.Canceled {
			t.Errorf("streamed %v: got %v", streamed, err)
		}
	}
}
