package cli

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/internal/testkit"
)

// answering returns an endpoint that answers anything.
func answering(t *testing.T) *testkit.LLM {
	t.Helper()
	m := testkit.NewLLM(t)
	m.On().Reply("yes")
	m.On(testkit.Contains("wet")).Reply(`{"wet": true}`)
	return m
}

// facts returns a file with two of them.
func facts(t *testing.T) string {
	t.Helper()
	return fileOf(t, "My Facts.tsv", "Ada\tknows\tCharles\nCharles\tknows\tAda\n")
}

func fileOf(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestInitAsksTriesAndWrites(t *testing.T) {
	m, out := answering(t), filepath.Join(t.TempDir(), "t.yaml")
	script := strings.Join([]string{"lunch", "endpoint", "not a url", m.URL(), "sk-12345", "MY_KEY", "testkit", "2",
		"/no/such/file", facts(t), "Bad Name", "mine", ""}, "\n")
	o := triplemesh(t, []string{"MY_KEY=sk-12345"}, script, "init", "--out", out)
	o.Expect(t, ExitOK, "is none of them", "http://HOST:PORT/v1", "not the key itself", "JSON schema: yes",
		"no such file", "my-facts", "lower-case letter",
		"facts as TSV", "kg load mine", `export OPENAI_API_KEY="$MY_KEY"`, "--no-model-server", "ask --kg mine")
	text, err := os.ReadFile(out)
	if err != nil || !strings.Contains(string(text), m.URL()) || strings.Contains(string(text)+o.Stdout+o.Stderr,
		"sk-12345") {
		t.Errorf("it says and writes, %v:\n%s\n%s", err, o.Stdout, text)
	}
	triplemesh(t, nil, "", "--config", out, "up", "--print-config").Expect(t, ExitOK, m.URL())
}

func TestInitForScripts(t *testing.T) {
	m := answering(t)
	for _, tt := range []struct {
		name string
		args []string
		code int
		says string
	}{
		{"flags say all", []string{"--model-url", m.URL(), "--model=m", "--file", facts(t)}, ExitOK,
			"kg load my-facts"},
		{"the endpoint's first model is taken", []string{"--model-url", m.URL(), "--model=m", "--file", facts(t),
			"--name=x"}, ExitOK, "kg load x"},
		{"an endpoint that is down", []string{"--model-url", "http://" + testkit.FreeAddr(t) + "/v1", "--model=m",
			"--file", facts(t)}, ExitFailed, "is it running"},
		{"what is down is written where nothing is tried", []string{"--no-test", "--model-url",
			"http://" + testkit.FreeAddr(t) + "/v1", "--model=m", "--file", facts(t)}, ExitOK, "Next"},
		{"a file that holds no facts", []string{"--file", fileOf(t, "a.tsv", "one\ntwo\n")}, ExitFailed,
			"holds no facts"},
		{"a Neo4j that is down", []string{"--neo4j-uri", "bolt://" + testkit.FreeAddr(t)}, ExitFailed, "Bolt port"},
		{"a Neo4j that is no address", []string{"--neo4j-uri", "http://localhost"}, ExitFailed, "bolt://HOST:7687"},
		{"a user without a password", []string{"--neo4j-uri", "bolt://localhost", "--neo4j-user=ada"},
			ExitUsage, "password"},
		{"a password in an address", []string{"--neo4j-uri", "bolt://a:b@localhost"}, ExitUsage,
			"without user and password"},
		{"a Weaviate that is down", []string{"--weaviate-http", "http://" + testkit.FreeAddr(t)},
			ExitFailed, "port 8080"},
		{"a key where its variable is wanted", []string{"--model-url", m.URL(), "--key-env", "sk-12345"}, ExitUsage,
			"not the key itself"},
		{"a variable that is not set", []string{"--model-url", m.URL(), "--key-env", "NOT_SET"}, ExitUsage,
			"NOT_SET is not set"},
		{"a name that cannot be", []string{"--file", facts(t), "--name", "My Facts"}, ExitUsage, "lower-case"},
		{"an unknown kind", []string{"--graph", "oracle"}, ExitUsage, "weaviate"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "t.yaml")
			triplemesh(t, nil, "", append([]string{"init", "--yes", "--out", out}, tt.args...)...).Expect(t,
				tt.code, tt.says)
			if _, err := os.Stat(out); (err == nil) != (tt.code == ExitOK) {
				t.Errorf("with exit code %d the file is there: %v", tt.code, err == nil)
			}
		})
	}
}

func TestInitNeverWritesOverAFileUnasked(t *testing.T) {
	out := fileOf(t, "t.yaml", "mine")
	flags := []string{"init", "--no-test", "--file", facts(t), "--name=x", "--out", out}
	triplemesh(t, nil, "", append(flags, "--yes")...).Expect(t, ExitUsage, "--force")
	triplemesh(t, nil, "1\nno\n", flags...).Expect(t, ExitFailed, "left as it is")
	triplemesh(t, nil, "1\n", flags...).Expect(t, ExitUsage, "--yes")
	if text, err := os.ReadFile(out); err != nil || string(text) != "mine" {
		t.Fatalf("the file holds %q, %v", text, err)
	}
	triplemesh(t, nil, "1\nyes\n", flags...).Expect(t, ExitOK, "Next")
	triplemesh(t, nil, "", append(flags, "--yes", "--force")...).Expect(t, ExitOK, "Next")
	if text, err := os.ReadFile(out); err != nil || !strings.Contains(string(text), "model_server") {
		t.Errorf("the file holds %q, %v", text, err)
	}
}

func TestInitLetsOneTryAgainOrKeepWhatDoesNotWork(t *testing.T) {
	m, out := answering(t), filepath.Join(t.TempDir(), "t.yaml")
	down := "http://" + testkit.FreeAddr(t) + "/v1"
	script := strings.Join([]string{"2", down, "none", "m", "no", m.URL(), "none", "m", ""}, "\n")
	triplemesh(t, nil, script, "init", "--out", out, "--file", facts(t), "--name=x").Expect(t, ExitOK,
		"does not work", "works: a few words")
	script = strings.Join([]string{"2", down, "none", "m", "yes", ""}, "\n")
	triplemesh(t, nil, script, "init", "--out", out, "--force", "--file", facts(t), "--name=x").Expect(t, ExitOK,
		"does not work")
	if text, err := os.ReadFile(out); err != nil || !strings.Contains(string(text), down) ||
		strings.Contains(string(text), "JSON schema") {
		t.Errorf("it writes %s, %v", text, err)
	}
}

func TestInitForWeaviate(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer letmein" {
			http.Error(w, "who are you", http.StatusUnauthorized)
			return
		}
		_, _ = w.Write([]byte(`{"version": "1.30.0"}`))
	}))
	defer server.Close()
	out := filepath.Join(t.TempDir(), "t.yaml")
	flags := []string{"init", "--yes", "--out", out, "--weaviate-http", server.URL, "--name=x"}
	grpc := strings.TrimPrefix(server.URL, "http://")
	triplemesh(t, nil, "", append(flags, "--weaviate-grpc", grpc)...).Expect(t, ExitFailed, "refuses the key")
	env := []string{"W_KEY=letmein"}
	triplemesh(t, env, "", append(flags, "--weaviate-key-env=W_KEY", "--weaviate-grpc", testkit.FreeAddr(t))...).Expect(
		t,
		ExitFailed, "no gRPC server answers", "50051")
	triplemesh(t, env, "", append(flags, "--weaviate-key-env=W_KEY", "--weaviate-grpc", grpc)...).Expect(t, ExitOK,
		"version 1.30.0", `WEAVIATE_API_KEY="$W_KEY"`)
	if text, err := os.ReadFile(out); err != nil || strings.Contains(string(text), "letmein") {
		t.Errorf("the file holds %s, %v", text, err)
	}
}
