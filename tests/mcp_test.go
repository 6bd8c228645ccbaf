package tests

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/internal/testkit"
)

// clientOf returns a client of the Model Context Protocol.
func clientOf(t *testing.T, over sdk.Transport, notify func(string)) *sdk.ClientSession {
	t.Helper()
	client := sdk.NewClient(&sdk.Implementation{Name: "tests", Version: "v1"}, &sdk.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
			notify(r.Params.Message)
		},
	})
	s, err := client.Connect(timeoutContext(t, patience), over, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// use calls a tool and returns its text.
func use(t *testing.T, s *sdk.ClientSession, tool string, args map[string]any) string {
	t.Helper()
	params := &sdk.CallToolParams{Name: tool, Arguments: args}
	params.SetProgressToken(tool)
	result, err := s.CallTool(timeoutContext(t, patience), params)
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	text := result.Content[0].(*sdk.TextContent).Text
	if result.IsError {
		return "error: " + text
	}
	return text
}

// checkTools calls every tool over the tests' wikidata and reads a run back.
func checkTools(t *testing.T, over sdk.Transport) {
	t.Helper()
	var messages []string
	heard := make(chan string, 64)
	s := clientOf(t, over, func(m string) { heard <- m })
	const kg = wikidata + "@1"
	for _, c := range []struct {
		tool string
		args map[string]any
		says string
	}{
		{"graphs", nil, kg},
		{"ask", map[string]any{"question": employerQuestion, "kg": kg}, "evidence: Robert Stam | employer | " +
			employer},
		{"ask", map[string]any{"question": studyQuestion, "kg": kg, "method": "ger"}, "- " + yale},
		{"check", map[string]any{"text": "Robert Stam works at Google.", "kg": kg}, "0. contradicted"},
		{"ground", map[string]any{"question": employerQuestion, "kg": kg,
			"draft": []any{map[string]any{"subject": "Robert Stam", "relation": "employer", "object": "Google"}}},
			"Robert Stam | employer | " + employer},
		{"paths", map[string]any{"from": []string{"Alexander"}, "question": studyQuestion, "kg": kg},
			"-> educated at -> " + yale},
		{"paths", map[string]any{"from": []string{"Oliver Stone"}, "to": []string{"Alexander"}, "kg": kg},
			"^director -> Alexander"},
		{"link", map[string]any{"text": studyQuestion, "kg": kg}, "- Alexander"},
		{"search", map[string]any{"queries": []string{employerQuestion}, "kg": kg}, employer},
		{"neighbours", map[string]any{"entity": "Robert Stam", "kg": kg}, employer},
		{"link", map[string]any{"text": "Robert Stam"},
			"error: there are several knowledge graphs: name one in kg, one of " + rivers + ", " + wikidata},
		{"neighbours", map[string]any{"entity": "Nobody", "kg": kg}, "error: "},
	} {
		if got := use(t, s, c.tool, c.args); !strings.Contains(got, c.says) {
			t.Errorf("%s of %v lacks %q:\n%s", c.tool, c.args, c.says, got)
		}
	}
	for len(heard) > 0 {
		messages = append(messages, <-heard)
	}
	if !slices.Contains(messages, "grounding the draft in the knowledge graph") {
		t.Errorf("the progress messages are %q", messages)
	}
	checkRead(t, s)
}

// checkRead reads the resource that an answer links to, and an entity's.
func checkRead(t *testing.T, s *sdk.ClientSession) {
	t.Helper()
	result, err := s.CallTool(timeoutContext(t, patience), &sdk.CallToolParams{Name: "ask",
		Arguments: map[string]any{"question": employerQuestion, "kg": wikidata}})
	if err != nil || len(result.Content) < 2 {
		t.Fatalf("got %v, %v: no link to the run", result, err)
	}
	for uri, has := range map[string]string{
		result.Content[1].(*sdk.ResourceLink).URI:    `"groundGraph"`,
		"kg://" + wikidata + "/entity/Robert%20Stam": otherEmployer,
		"kg://": rivers,
	} {
		got, err := s.ReadResource(timeoutContext(t, patience), &sdk.ReadResourceParams{URI: uri})
		if err != nil || !strings.Contains(got.Contents[0].Text, has) {
			t.Errorf("%s is %v, %v; want %s", uri, got, err, has)
		}
	}
}

func TestOtherModelsUseTheMeshByTheModelContextProtocol(t *testing.T) {
	bin := triplemesh(t)
	model := scripted(t)
	model.On(testkit.Task("claims")).Reply("Robert Stam | employer | Google")
	m := start(t, options{model: model, http: true})
	t.Run("over streamable HTTP, at the orchestrator's own port", func(t *testing.T) {
		checkTools(t, &sdk.StreamableClientTransport{Endpoint: m.mesh.URL() + "/mcp"})
	})
	t.Run("over standard input and output of triplemesh mcp", func(t *testing.T) {
		cmd := exec.Command(bin, "mcp", "--server", m.mesh.Addr("orchestrator"))
		cmd.Dir, cmd.Env = t.TempDir(), []string{"HOME=" + t.TempDir()}
		checkTools(t, &sdk.CommandTransport{Command: cmd})
	})
}

func TestTriplemeshMcpNeedsNoServerByLocal(t *testing.T) {
	bin := triplemesh(t)
	cmd := exec.Command(bin, "--data", graphs(t), "--cache",
		filepath.Dir(filepath.Dir(testkit.Cache(t, "encoder", "model.onnx"))), "mcp", "--local")
	cmd.Dir, cmd.Stderr = t.TempDir(), os.Stderr
	cmd.Env = []string{"HOME=" + cmd.Dir, "OPENAI_BASE_URL=" + scripted(t).URL(), "TRIPLEMESH_LLM_MODEL=scripted"}
	s := clientOf(t, &sdk.CommandTransport{Command: cmd}, func(string) {})
	if got := use(t, s, "ask",
		map[string]any{"question": employerQuestion, "kg": wikidata + "@1"}); !strings.Contains(got, employer) {
		t.Errorf("it answered %s", got)
	}
}

// authorized adds a token to requests.
type authorized string

func (a authorized) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(a))
	return http.DefaultTransport.RoundTrip(r)
}

func TestTheModelContextProtocolAsksWhoCalls(t *testing.T) {
	m := startTenanted(t, options{model: scripted(t), http: true})
	bin := triplemesh(t)
	over := func(token string) sdk.Transport {
		return &sdk.StreamableClientTransport{Endpoint: m.mesh.URL() + "/mcp",
			HTTPClient: &http.Client{Transport: authorized(token)}}
	}
	command := func(token string) sdk.Transport {
		cmd := exec.Command(bin, "mcp", "--server", m.mesh.Addr("orchestrator"))
		cmd.Dir, cmd.Env = t.TempDir(), []string{"HOME=" + t.TempDir(), "TRIPLEMESH_TOKEN=" + token}
		return &sdk.CommandTransport{Command: cmd}
	}
	for name, open := range map[string]func(string) sdk.Transport{"over HTTP": over,
		"over standard input and output": command} {
		t.Run(name, func(t *testing.T) {
			if got := use(t, clientOf(t, open(m.acme), func(string) {}), "graphs", nil); strings.HasPrefix(got,
				"error") {
				t.Errorf("an authenticated caller gets %s", got)
			}
			if got := use(t, clientOf(t, open(auth.NewToken()), func(string) {}), "graphs",
				nil); !strings.HasPrefix(got, "error") || !strings.Contains(got, "token") {
				t.Errorf("an unauthenticated caller gets %s", got)
			}
		})
	}
}
