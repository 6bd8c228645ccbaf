package mcp_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/triplemesh/triplemesh/services/orchestrator/http/mcp"
)

// overHTTP is a client of the streamable door, which carries callers' tokens as
// the orchestrator's HTTP server does.
func overHTTP(t *testing.T, f *fake, opts *sdk.ClientOptions, token string) *sdk.ClientSession {
	t.Helper()
	door := mcp.Handler(mcp.New(dial(t, f), "v1"))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := metadata.AppendToOutgoingContext(r.Context(), "authorization", r.Header.Get("Authorization"))
		door.ServeHTTP(w, r.WithContext(ctx))
	}))
	t.Cleanup(server.Close)
	return join(t, &sdk.StreamableClientTransport{Endpoint: server.URL,
		HTTPClient: &http.Client{Transport: bearer(token)}, DisableStandaloneSSE: true}, opts)
}

type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// forEachTransport runs a test over every transport.
func forEachTransport(t *testing.T, test func(t *testing.T, f *fake,
	open func(*sdk.ClientOptions) *sdk.ClientSession)) {
	t.Run("in memory", func(t *testing.T) {
		f := newFake()
		test(t, f, func(o *sdk.ClientOptions) *sdk.ClientSession { return connect(t, f, o) })
	})
	t.Run("over streamable HTTP", func(t *testing.T) {
		f := newFake()
		test(t, f, func(o *sdk.ClientOptions) *sdk.ClientSession { return overHTTP(t, f, o, "t") })
	})
}

func TestAClientHearsOfEveryStage(t *testing.T) {
	forEachTransport(t, func(t *testing.T, _ *fake, open func(*sdk.ClientOptions) *sdk.ClientSession) {
		var mu sync.Mutex
		var told []string
		var steps []float64
		heard := make(chan struct{}, 16)
		s := open(&sdk.ClientOptions{ProgressNotificationHandler: func(_ context.Context,
			r *sdk.ProgressNotificationClientRequest) {
			mu.Lock()
			defer mu.Unlock()
			told, steps = append(told, r.Params.Message), append(steps, r.Params.Progress)
			heard <- struct{}{}
		}})
		for _, c := range []struct {
			tool string
			args map[string]any
			says []string
		}{
			{"ask", map[string]any{"question": "q"}, []string{"drafting the facts that the question needs",
				"stage explore"}},
			{"check", map[string]any{"text": "t"}, []string{"read 10 of 21 characters, judged 0 of 1 claim"}},
		} {
			told, steps = nil, nil
			params := &sdk.CallToolParams{Name: c.tool, Arguments: c.args}
			params.SetProgressToken("token")
			if _, err := s.CallTool(t.Context(), params); err != nil {
				t.Fatal(err)
			}
			for range c.says {
				<-heard
			}
			mu.Lock()
			if !slices.Equal(told, c.says) || !slices.IsSorted(steps) {
				t.Errorf("%s told of %q at %v, want %q", c.tool, told, steps, c.says)
			}
			mu.Unlock()
		}
	})
}

func TestACallThatIsCancelledEndsTheCallOfTheMesh(t *testing.T) {
	forEachTransport(t, func(t *testing.T, f *fake, open func(*sdk.ClientOptions) *sdk.ClientSession) {
		f.hang = true
		s := open(nil)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			_, err := s.CallTool(ctx, &sdk.CallToolParams{Name: "ask", Arguments: map[string]any{"question": "q"}})
			ended <- err
		}()
		<-f.begun
		cancel()
		select {
		case <-f.cancelled:
		case <-time.After(30 * time.Second):
			t.Error("the mesh continues to answer")
		}
		if err := <-ended; err == nil {
			t.Error("the cancelled call has an answer")
		}
	})
}

func TestATokenReachesTheMesh(t *testing.T) {
	f := newFake()
	s := overHTTP(t, f, nil, "abc")
	call(t, s, "link", map[string]any{"text": "a"})
	if _, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "run://01RUN"}); err != nil {
		t.Error(err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.tokens) != len(f.asked) || slices.ContainsFunc(f.tokens,
		func(token string) bool { return token != "Bearer abc" }) {
		t.Errorf("%d calls came with %q", len(f.asked), f.tokens)
	}
}

// Clients of before sessions left still get theirs answered.
func TestBadRequestsOverHTTPAreRefused(t *testing.T) {
	door := httptest.NewServer(mcp.Handler(mcp.New(dial(t, newFake()), "v1")))
	defer door.Close()
	const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`
	for _, c := range []struct {
		name, method, body string
		header             map[string]string
		status             int
	}{
		{"a client of an older protocol lists tools", "POST", list,
			map[string]string{"Mcp-Protocol-Version": "2025-06-18"}, 200},
		{"no JSON", "POST", "hello", nil, 400},
		{"another content type", "POST", list, map[string]string{"Content-Type": "text/plain"}, 415},
		{"a protocol that there is none of", "POST", list, map[string]string{"Mcp-Protocol-Version": "1999-01-01"},
			400},
		{"a body too large", "POST", strings.Repeat(" ", 2<<20) + list, nil, 413},
		{"a stream of a session that nobody keeps", "GET", "", nil, 405},
	} {
		t.Run(c.name, func(t *testing.T) {
			req, err := http.NewRequestWithContext(t.Context(), c.method, door.URL, strings.NewReader(c.body))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Accept", "application/json, text/event-stream")
			for k, v := range c.header {
				req.Header.Set(k, v)
			}
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if resp.StatusCode != c.status {
				t.Errorf("got %d, want %d", resp.StatusCode, c.status)
			}
		})
	}
}

func TestAClientThatGoesAwayEndsTheCallOfTheMeshInEveryProtocol(t *testing.T) {
	for _, protocol := range []string{"2025-03-26", "2025-06-18", "2025-11-25"} {
		t.Run(protocol, func(t *testing.T) {
			f := newFake()
			f.hang = true
			door := httptest.NewServer(mcp.Handler(mcp.New(dial(t, f), "v1")))
			defer door.Close()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			const ask = `{"jsonrpc":"2.0","id":1,"method":"tools/call",
				"params":{"name":"ask","arguments":{"question":"q"}}}`
			req, err := http.NewRequestWithContext(ctx, "POST", door.URL, strings.NewReader(ask))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Accept", "application/json, text/event-stream")
			req.Header.Set("Mcp-Protocol-Version", protocol)
			go func() {
				if resp, err := http.DefaultClient.Do(req); err == nil {
					resp.Body.Close()
				}
			}()
			<-f.begun
			cancel()
			select {
			case <-f.cancelled:
			case <-time.After(30 * time.Second):
				t.Error("the mesh continues to answer")
			}
		})
	}
}

// broken panics on every call.
type broken struct{ grpc.ClientConnInterface }

func (broken) Invoke(context.Context, string, any, any, ...grpc.CallOption) error { panic("a fault") }

func TestPanicEndsOnlyItsRequest(t *testing.T) {
	there, here := sdk.NewInMemoryTransports()
	if _, err := mcp.New(broken{}, "v1").Connect(t.Context(), there, nil); err != nil {
		t.Fatal(err)
	}
	s := join(t, here, nil)
	if _, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "graphs"}); err == nil ||
		!strings.Contains(err.Error(), "please report this bug") {
		t.Errorf("got %v", err)
	}
	if _, err := s.ListTools(t.Context(), nil); err != nil {
		t.Errorf("the server stopped: %v", err)
	}
}
