package cli

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"

	"github.com/triplemesh/triplemesh/internal/testkit"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

// listing is a mesh of which knowledge graphs can be listed; it keeps the tokens
// it was shown.
type listing struct {
	addr string
	// begun, if set, is notified of each call, which then waits to be cancelled.
	begun  chan struct{}
	mu     sync.Mutex
	tokens []string
}

func newListing(t *testing.T) *listing {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	m := &listing{addr: l.Addr().String()}
	server := grpc.NewServer(grpc.UnaryInterceptor(func(ctx context.Context, req any, info *grpc.UnaryServerInfo,
		next grpc.UnaryHandler) (any, error) {
		if strings.HasSuffix(info.FullMethod, "/ListKnowledgeGraphs") {
			m.mu.Lock()
			m.tokens = append(m.tokens, strings.Join(metadata.ValueFromIncomingContext(ctx, "authorization"), ", "))
			m.mu.Unlock()
			if m.begun != nil {
				m.begun <- struct{}{}
				<-ctx.Done()
			}
		}
		return next(ctx, req)
	}))
	retrieverv1.RegisterKnowledgeGraphServiceServer(server,
		&services{kgs: []*retrieverv1.SnapshotInfo{snapshot("mars", 7, true)}})
	grpc_health_v1.RegisterHealthServer(server, health.NewServer())
	go func() { _ = server.Serve(l) }()
	t.Cleanup(server.Stop)
	return m
}

// mcpProcess is triplemesh mcp while it runs.
type mcpProcess struct {
	sdk.IOTransport // its standard input and output
	// said gives the lines of its standard error.
	said *bufio.Scanner
	// interrupt ends it, as Ctrl-C does, and waits for that.
	interrupt func()
}

// speak runs it until the test ends, or it is interrupted.
func speak(t *testing.T, args ...string) *mcpProcess {
	t.Helper()
	stdin, toStdin := io.Pipe()
	fromStdout, stdout := io.Pipe()
	fromStderr, stderr := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan int, 1)
	args = append([]string{"--cache", t.TempDir(), "--data", t.TempDir(), "mcp"}, args...)
	go func() {
		code := run(ctx, "v1", args, nil, stdin, stdout, stderr)
		stdin.Close() // as the end of a process does
		stdout.Close()
		stderr.Close()
		ended <- code
	}()
	s := &mcpProcess{IOTransport: sdk.IOTransport{Reader: fromStdout, Writer: toStdin},
		said: bufio.NewScanner(fromStderr)}
	s.interrupt = sync.OnceFunc(func() {
		cancel()
		go func() { _, _ = io.Copy(io.Discard, fromStderr) }()
		if code := <-ended; code != ExitOK {
			t.Errorf("it ended with %d", code)
		}
	})
	t.Cleanup(s.interrupt)
	return s
}

func tools(t *testing.T, over sdk.Transport) *sdk.ClientSession {
	t.Helper()
	s, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "v1"}, nil).Connect(t.Context(), over, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func graphsOf(t *testing.T, s *sdk.ClientSession) string {
	t.Helper()
	result, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "graphs"})
	if err != nil {
		t.Fatal(err)
	}
	return result.Content[0].(*sdk.TextContent).Text
}

func TestMcpSpeaksOverStandardInputAndOutput(t *testing.T) {
	m := newListing(t)
	p := speak(t, "--server", m.addr, "--token", "mine")
	if got := graphsOf(t, tools(t, &p.IOTransport)); !strings.Contains(got, "mars@7") {
		t.Errorf("it says %q", got)
	}
	if m.tokens[0] != "Bearer mine" {
		t.Errorf("it was called with %q", m.tokens)
	}
}

func TestMcpEndsWithCallsUnderWay(t *testing.T) {
	m := newListing(t)
	m.begun = make(chan struct{})
	p := speak(t, "--server", m.addr)
	s := tools(t, &p.IOTransport)
	go func() { _, _ = s.CallTool(context.Background(), &sdk.CallToolParams{Name: "graphs"}) }()
	<-m.begun
	p.interrupt()
}

func TestMcpWaitsForAMeshThatIsNotThereYet(t *testing.T) {
	p := speak(t, "--server", testkit.FreeAddr(t))
	if !p.said.Scan() || !strings.Contains(p.said.Text(), "triplemesh up") {
		t.Errorf("it said %q", p.said.Text())
	}
	s := tools(t, &p.IOTransport)
	if got := graphsOf(t, s); !strings.Contains(got, "triplemesh doctor") {
		t.Errorf("it says %q", got)
	}
}

var address = regexp.MustCompile(`http://\S+/mcp`)

func TestMcpOverHTTPTakesCallersTokensAndNotItsOwn(t *testing.T) {
	m := newListing(t)
	p := speak(t, "--server", m.addr, "--token", "mine", "--http", "127.0.0.1:0")
	if !p.said.Scan() {
		t.Fatal("it says nothing")
	}
	url := address.FindString(p.said.Text())
	s := tools(t, &sdk.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: shows("theirs")}})
	if got := graphsOf(t, s); !strings.Contains(got, "mars@7") {
		t.Errorf("it says %q", got)
	}
	if m.tokens[0] != "Bearer theirs" {
		t.Errorf("it was called with %q", m.tokens)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	req.Host = "rebound.example.org"
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusMisdirectedRequest {
		t.Errorf("a name that is not its own is answered with %d", resp.StatusCode)
	}
}

type shows string

func (s shows) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(s))
	return http.DefaultTransport.RoundTrip(r)
}

func TestMcpRefusesAnAddressThatCannotBe(t *testing.T) {
	triplemesh(t, nil, "", "mcp", "--server", newListing(t).addr, "--http", "nonsense").Expect(t, ExitUsage, "--http")
}
