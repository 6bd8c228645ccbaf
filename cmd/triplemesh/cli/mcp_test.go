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

	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

// listing is a mesh of which knowledge graphs can be listed; it keeps the tokens
// it was shown.
type listing struct {
	addr   string
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
	server := grpc.NewServer(grpc.UnaryInterceptor(func(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
		if strings.HasSuffix(info.FullMethod, "/List") {
			m.mu.Lock()
			m.tokens = append(m.tokens, strings.Join(metadata.ValueFromIncomingContext(ctx, "authorization"), ", "))
			m.mu.Unlock()
		}
		return next(ctx, req)
	}))
	retrieverv1.RegisterKnowledgeGraphServiceServer(server, &services{kgs: []*retrieverv1.SnapshotInfo{snapshot("mars", 7, true)}})
	grpc_health_v1.RegisterHealthServer(server, health.NewServer())
	go func() { _ = server.Serve(l) }()
	t.Cleanup(server.Stop)
	return m
}

// speak runs triplemesh mcp until the test ends. said gives the lines of its
// standard error; in and out are its other ends.
func speak(t *testing.T, args ...string) (in io.WriteCloser, out io.ReadCloser, said *bufio.Scanner) {
	t.Helper()
	stdin, toStdin := io.Pipe()
	fromStdout, stdout := io.Pipe()
	fromStderr, stderr := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan int, 1)
	args = append([]string{"--cache", t.TempDir(), "--data", t.TempDir(), "mcp"}, args...)
	go func() { ended <- run(ctx, "v1", args, nil, stdin, stdout, stderr) }()
	t.Cleanup(func() {
		cancel()
		go func() { _, _ = io.Copy(io.Discard, fromStderr) }()
		if code := <-ended; code != exitAnswered {
			t.Errorf("it ended with %d", code)
		}
	})
	return toStdin, fromStdout, bufio.NewScanner(fromStderr)
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
	in, out, _ := speak(t, "--server", m.addr, "--token", "mine")
	if got := graphsOf(t, tools(t, &sdk.IOTransport{Reader: out, Writer: in})); !strings.Contains(got, "mars@7") {
		t.Errorf("it says %q", got)
	}
	if m.tokens[0] != "Bearer mine" {
		t.Errorf("it was called with %q", m.tokens)
	}
}

func TestMcpWaitsForAMeshThatIsNotThereYet(t *testing.T) {
	in, out, said := speak(t, "--server", nobody(t))
	if !said.Scan() || !strings.Contains(said.Text(), "triplemesh up") {
		t.Errorf("it said %q", said.Text())
	}
	s := tools(t, &sdk.IOTransport{Reader: out, Writer: in})
	if got := graphsOf(t, s); !strings.Contains(got, "triplemesh doctor") {
		t.Errorf("it says %q", got)
	}
}

var address = regexp.MustCompile(`http://\S+/mcp`)

func TestMcpOverHTTPTakesCallersTokensAndNotItsOwn(t *testing.T) {
	m := newListing(t)
	_, _, said := speak(t, "--server", m.addr, "--token", "mine", "--http", "127.0.0.1:0")
	if !said.Scan() {
		t.Fatal("it says nothing")
	}
	url := address.FindString(said.Text())
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
	triplemesh(t, nil, "", "mcp", "--server", newListing(t).addr, "--http", "nonsense").says(t, exitUsage, "--http")
}
