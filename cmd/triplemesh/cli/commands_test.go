package cli

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/internal/terminal"
	"github.com/triplemesh/triplemesh/internal/testkit"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

func TestLoadSendsTheFiles(t *testing.T) {
	s := serve(t, &services{})
	dir := t.TempDir()
	big := strings.Repeat("a\tb\tc\n", chunkBytes/4)
	for name, content := range map[string]string{"a.tsv": big, "b.nt": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	triplemesh(t, nil, "x\ty\tz\n", "kg", "load", "mars", filepath.Join(dir, "a.tsv"), filepath.Join(dir, "b.nt"), "-",
		"--retriever", s.addr, "--strict", "--no-activate").Expect(t, ExitOK, "mars@7: 3 triples",
		"a.tsv:2: one column", "b.json: byte 77: no entity",
		"and 1 more bad line")
	if s.header.GetKg().GetName() != "mars" || !s.header.GetStrict() || !s.header.GetNoActivate() {
		t.Errorf("sent %v", s.header)
	}
	for name, want := range map[string]string{"a.tsv FORMAT_UNSPECIFIED": big, "b.nt FORMAT_UNSPECIFIED": "",
		"stdin.tsv FORMAT_UNSPECIFIED": "x\ty\tz\n"} {
		if got, there := s.files[name]; !there || got != want {
			t.Errorf("%s: %d bytes arrived, want %d", name, len(got), len(want))
		}
	}
}

func TestLoadTellsTheServersReason(t *testing.T) {
	s := serve(t, &services{err: status.Error(codes.ResourceExhausted,
		"the disk is full: make room in the data directory, `triplemesh kg drop` removes snapshots")})
	triplemesh(t, nil, strings.Repeat("a\tb\tc\n", 1<<20), "kg", "load", "mars", "-", "--retriever", s.addr).Expect(t,
		ExitFailed, "the disk is full")
}

func TestLoadIfMissingLeavesWhatIsThere(t *testing.T) {
	s := serve(t, &services{kgs: []*retrieverv1.SnapshotInfo{snapshot("mars", 1, true)}})
	triplemesh(t, nil, "", "kg", "load", "mars", "-", "--if-missing", "--retriever", s.addr).Expect(t, ExitOK)
	if s.header != nil {
		t.Error("it was loaded again")
	}
	triplemesh(t, nil, "a\tb\tc\n", "kg", "load", "venus", "-", "--if-missing", "--retriever", s.addr).Expect(t,
		ExitOK, "venus@7")
	s.kgs[0].Encoder = "" // what cannot be read is not there
	triplemesh(t, nil, "a\tb\tc\n", "kg", "load", "mars", "-", "--if-missing", "--retriever", s.addr).Expect(t,
		ExitOK, "mars@7")
}

func TestLoadFlags(t *testing.T) {
	tests := []struct {
		name string
		args []string
		want *retrieverv1.LoadHeader
		cols *retrieverv1.Columns
		code int
		says string
	}{
		{name: "add makes a delta", args: []string{"--add"},
			want: &retrieverv1.LoadHeader{Kg: &graphv1.KnowledgeGraphRef{Name: "mars"},
				Mode: retrieverv1.LoadMode_LOAD_MODE_ADD}},
		{name: "so does remove", args: []string{"--remove"},
			want: &retrieverv1.LoadHeader{Kg: &graphv1.KnowledgeGraphRef{Name: "mars"},
				Mode: retrieverv1.LoadMode_LOAD_MODE_REMOVE}},
		{name: "not both", args: []string{"--add", "--remove"}, code: ExitUsage, says: "--add"},
		{name: "no vectors, a language, resumed", args: []string{"--no-vectors", "--language=pt-br", "--resume"},
			want: &retrieverv1.LoadHeader{Kg: &graphv1.KnowledgeGraphRef{Name: "mars"},
				Vectors: retrieverv1.Vectors_VECTORS_NONE, Language: "pt-br",
				Resume: true}},
		{name: "provenance", args: []string{"--provenance"},
			want: &retrieverv1.LoadHeader{Kg: &graphv1.KnowledgeGraphRef{Name: "mars"}, Provenance: true}},
		{name: "columns by their headings", args: []string{"--format=csv", "--columns=from, how,to", "--separator=;"},
			want: &retrieverv1.LoadHeader{Kg: &graphv1.KnowledgeGraphRef{Name: "mars"}},
			cols: &retrieverv1.Columns{Subject: "from", Relation: "how",
				Object: "to", Separator: ";"}},
		{name: "two columns say too little", args: []string{"--columns=a,b"}, code: ExitUsage, says: "--columns"},
		{name: "a separator of two characters", args: []string{"--separator=::"}, code: ExitUsage,
			says: "one character"},
		{name: "a format that is none", args: []string{"--format=xml"}, code: ExitUsage, says: "wikidata-json"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, &services{})
			o := triplemesh(t, nil, "a\tb\tc\n", append([]string{"kg", "load", "mars", "-", "--retriever", s.addr},
				tt.args...)...)
			if tt.code != 0 {
				o.Expect(t, tt.code, tt.says)
				return
			}
			o.Expect(t, ExitOK, "mars@7")
			if !proto.Equal(s.header, tt.want) || !proto.Equal(s.columns, tt.cols) {
				t.Errorf("sent %v with %v, want %v with %v", s.header, s.columns, tt.want, tt.cols)
			}
		})
	}
}

func TestLoadFromASPARQLEndpoint(t *testing.T) {
	s := serve(t, &services{})
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, ok := r.BasicAuth(); !ok || user != "ada" || password != "lovelace" {
			http.Error(w, "who are you", http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "application/sparql-results+json")
		if !strings.Contains(r.FormValue("query"), "OFFSET 0") {
			_, _ = io.WriteString(w, `{"head":{"vars":["s","p","o"]},"results":{"bindings":[]}}`)
			return
		}
		_,
			_ = io.WriteString(w,
			`{"head":{"vars":["s","p","o"]},"results":{"bindings":[{"s":{"type":"uri","value":"urn:mars"},`+
				`"p":{"type":"uri","value":"urn:moon"},"o":{"type":"literal","value":"Phobos"}}]}}`)
	}))
	defer endpoint.Close()
	env := []string{"SPARQL_USER=ada", "SPARQL_PASSWORD=lovelace"}
	triplemesh(t, env, "", "kg", "load", "mars", "sparql+"+endpoint.URL, "--retriever", s.addr).Expect(t,
		ExitOK, "mars@7")
	if got, want := s.files["sparql.nt FORMAT_N_TRIPLES"], "<urn:mars> <urn:moon> \"Phobos\" .\n"; got != want {
		t.Errorf("sent %q, want %q", got, want)
	}
	o := triplemesh(t, env[:1], "", "kg", "load", "mars", "sparql+"+endpoint.URL, "--retriever", s.addr)
	o.Expect(t, ExitFailed, "401", "who are you")
	if strings.Contains(o.Stderr, "lovelace") {
		t.Error("the password is told")
	}
}

func TestLoadRefusesAddresses(t *testing.T) {
	s := serve(t, &services{})
	for address, says := range map[string]string{
		"https://ada:lovelace@example.org/x.nt": "sparql+https",
		"bolt://neo4j:lovelace@localhost":       "NEO4J_PASSWORD",
		"sparql+http://ada:lovelace@localhost":  "SPARQL_PASSWORD",
	} {
		o := triplemesh(t, nil, "", "kg", "load", "mars", address, "--retriever", s.addr)
		o.Expect(t, ExitUsage, says)
		if strings.Contains(o.Stdout+o.Stderr, "lovelace") {
			t.Errorf("%s: the password is told", address)
		}
	}
}

func TestLoadTellsAPipeNothingOfAShortLoad(t *testing.T) {
	s := serve(t, &services{})
	o := triplemesh(t, nil, "a\tb\tc\n", "kg", "load", "mars", "-", "--retriever", s.addr)
	if o.Expect(t, ExitOK, "mars@7"); strings.Contains(o.Stderr, "reading") ||
		strings.Contains(o.Stderr, "encoding") {
		t.Errorf("it says %s", o.Stderr)
	}
}

func TestLoadShowsABarForEachPhase(t *testing.T) {
	out := &lines{}
	p := &loadProgress{name: "mars", board: terminal.NewBoard(&terminal.Terminal{Out: out, Live: true, Unicode: true})}
	at := func(phase retrieverv1.LoadPhase, done, total uint64, want string) {
		t.Helper()
		p.show(&retrieverv1.LoadProgress{Phase: phase, Done: done, Total: proto.Uint64(total)})
		p.board.Println("-") // draws
		if got := out.last(); !strings.Contains(got, want) {
			t.Errorf("it shows %q, want %q", got, want)
		}
	}
	at(retrieverv1.LoadPhase_LOAD_PHASE_UNSPECIFIED, 1, 2, "-")
	at(retrieverv1.LoadPhase_LOAD_PHASE_READ, 100, 0, "mars: reading  100 triples")
	at(retrieverv1.LoadPhase_LOAD_PHASE_ENCODE, 50, 250, "mars: encoding  "+strings.Repeat("█", 4)+strings.Repeat("░",
		16)+"   20 %  50 of 250 triples")
	at(retrieverv1.LoadPhase_LOAD_PHASE_ENCODE, 150, 250, "60 %  150 of 250 triples")
	p.end()
	if got := out.last(); got != "\r\x1b[K" {
		t.Errorf("at the end it writes %q", got)
	}
}

// lines keeps what was written last.
type lines struct {
	mu   sync.Mutex
	text string
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = string(p)
	return len(p), nil
}

func (l *lines) last() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text
}

func TestSnapshotsTravelInFiles(t *testing.T) {
	s := serve(t, &services{})
	file := filepath.Join(t.TempDir(), "mars.kg")
	kg := func(args ...string) testkit.Output {
		return triplemesh(t, nil, "from a pipe", append(append([]string{"kg"}, args...), "--retriever", s.addr)...)
	}
	kg("export", "mars", file).Expect(t, ExitOK, "mars.kg: mars")
	if text, err := os.ReadFile(file); err != nil || string(text) != "a whole file" {
		t.Errorf("the file holds %q, error %v", text, err)
	}
	kg("export", "mars", file).Expect(t, ExitUsage, "exists", "--force")
	kg("export", "mars", file, "--force").Expect(t, ExitOK)
	if o := kg("export", "mars", "-"); o.Stdout != "a whole file" {
		t.Errorf("to standard output went %q", o.Stdout)
	}
	kg("import", file, "venus", "--no-activate").Expect(t, ExitOK, "mars@8: 3 triples")
	if s.files["import"] != "a whole file" || s.imported.GetKg().GetName() != "venus" || !s.imported.GetNoActivate() {
		t.Errorf("sent %q with %v", s.files["import"], s.imported)
	}
	s.files["import"] = ""
	kg("import", "-", "--json").Expect(t, ExitOK, `"triples"`)
	if s.files["import"] != "from a pipe" {
		t.Errorf("sent %q", s.files["import"])
	}
	kg("import", filepath.Join(t.TempDir(), "none")).Expect(t, ExitUsage, "no such file")
	kg("import", file, "Upper").Expect(t, ExitUsage, "lower-case")
}

func TestAFailedExportLeavesNoFile(t *testing.T) {
	s := serve(t, &services{err: status.Error(codes.DataLoss, "checksum of vectors: got 1, want 2")})
	dir := t.TempDir()
	triplemesh(t, nil, "", "kg", "export", "mars", filepath.Join(dir, "mars.kg"), "--retriever", s.addr).Expect(t,
		ExitFailed, "checksum of vectors")
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("%v is left, error %v", left, err)
	}
}

func TestADamagedFileIsNoDamagedSnapshot(t *testing.T) {
	s := serve(t, &services{err: status.Error(codes.DataLoss,
		`import knowledge graph "mars": vectors.f32 is cut off: corrupt`)})
	o := triplemesh(t, nil, "half a file", "kg", "import", "-", "--retriever", s.addr)
	o.Expect(t, ExitFailed, "is cut off", "kg export")
	if strings.Contains(o.Stderr, "rollback") {
		t.Errorf("it tells to roll back what was never built: %s", o.Stderr)
	}
}

func TestDiffAndCompact(t *testing.T) {
	s := serve(t, &services{})
	kg := func(args ...string) testkit.Output {
		return triplemesh(t, nil, "", append(append([]string{"kg"}, args...), "--retriever", s.addr)...)
	}
	kg("diff", "mars@1").Expect(t, ExitOK, "+ Ada\tknows\tCharles\t1833", "- Ada\tknows\tBob")
	if s.diffed.GetFrom() != 1 || s.diffed.GetKg().GetSnapshot() != 0 {
		t.Errorf("asked for %v", s.diffed)
	}
	kg("diff", "mars@1", "mars@2", "--json").Expect(t, ExitOK, `"added":true`)
	if s.diffed.GetKg().GetSnapshot() != 2 {
		t.Errorf("asked for %v", s.diffed)
	}
	kg("diff", "mars").Expect(t, ExitUsage, "mars@1")
	kg("diff", "mars@1", "venus@2").Expect(t, ExitUsage, "different knowledge graphs")
	kg("compact", "mars").Expect(t, ExitOK, "mars@9 is a full snapshot")
}

func TestKnowledgeGraphCommands(t *testing.T) {
	s := serve(t, &services{kgs: []*retrieverv1.SnapshotInfo{snapshot("mars", 2, true), snapshot("mars", 1, false)}})
	kg := func(args ...string) testkit.Output {
		return triplemesh(t, nil, "", append(append([]string{"kg"}, args...), "--retriever", s.addr)...)
	}
	kg("list").Expect(t, ExitOK, "mars@2", "active", "1.5")
	kg("list", "--json").Expect(t, ExitOK, `"snapshots"`, `"active"`)
	kg("list", "venus").Expect(t, ExitFailed, "triplemesh kg load")
	kg("drop", "mars@1").Expect(t, ExitOK, "dropped mars@1")
	if s.dropped.GetSnapshot() != 1 {
		t.Errorf("dropped %v", s.dropped)
	}
	kg("activate", "mars@1").Expect(t, ExitOK, "active: mars@1")
	if s.activated.GetSnapshot() != 1 {
		t.Errorf("activated %v", s.activated)
	}
	kg("rollback", "mars").Expect(t, ExitOK, "active: mars@1")
	kg("verify", "mars").Expect(t, ExitOK, "mars@1 is intact: 2.5 MB")
}

func TestRunsAndMethods(t *testing.T) {
	s := serve(t, &services{run: answeredRun()})
	triplemesh(t, nil, "", "runs", "--server", s.addr).Expect(t, ExitOK, "01RUN", "Who?", "Ada")
	triplemesh(t, nil, "", "runs", "01RUN", "--server", s.addr).Expect(t, ExitOK, "Who?", "grounded",
		"Pseudo-graph", "Trace")
	triplemesh(t, nil, "", "runs", "--json", "--server", s.addr).Expect(t, ExitOK, `"runs"`)
	asked := answeredRun()
	asked.Subject = "ci@acme"
	known := serve(t, &services{run: asked})
	triplemesh(t, nil, "", "runs", "--server", known.addr).Expect(t, ExitOK, "01RUN", "ci@acme", "Who?")
	triplemesh(t, nil, "", "runs", "01RUN", "--server", known.addr).Expect(t, ExitOK, "asked by ci@acme",
		"grounded")
	triplemesh(t, nil, "", "methods", "--server", s.addr).Expect(t, ExitOK, "pg-akv", "needs a knowledge graph",
		"stages: answer", "ablations: from-pseudo-graph, from-ground-graph")
	triplemesh(t, nil, "", "methods", "--json", "--server", s.addr).Expect(t, ExitOK, `"needsKg"`)
	empty := serve(t, &services{})
	triplemesh(t, nil, "", "runs", "--server", empty.addr).Expect(t, ExitOK, "no runs yet")
	missing := serve(t, &services{err: status.Error(codes.NotFound, "no run 01X")})
	triplemesh(t, nil, "", "runs", "01X", "--server", missing.addr).Expect(t, ExitFailed, "no run 01X")
}

func TestVersionHelpAndCompletion(t *testing.T) {
	triplemesh(t, nil, "", "version").Expect(t, ExitOK, "triplemesh v1")
	triplemesh(t, nil, "", "--help").Expect(t, ExitOK, "Exit codes", "doctor")
	triplemesh(t, nil, "", "ask", "--help").Expect(t, ExitOK, "3 no answer", "evaluate-question")
	for _, shell := range []string{"bash", "zsh", "fish"} {
		triplemesh(t, nil, "", "completion", shell).Expect(t, ExitOK, "complete")
	}
}

func TestUpSaysWhoHasThePort(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	triplemesh(t, nil, "", "up", "-target=verifier", "--set", "verifier.server.addr="+l.Addr().String()).Expect(
		t, ExitUsage, "the port is in use", "triplemesh doctor", "verifier.server.addr")
}

func TestUpWithoutAModelSaysHowToGetOne(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	triplemesh(t, nil, "", "up", "--target=verifier", "--set", "verifier.server.addr=127.0.0.1:0").Expect(t,
		ExitFailed, "triplemesh setup", "OPENAI_BASE_URL")
}

func TestUpServesUntilItIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	o := triplemeshIn(t, ctx, []string{"OPENAI_BASE_URL=http://127.0.0.1:1/v1", "OPENAI_API_KEY=secret"}, "",
		"up", "--target=verifier", "--set", "verifier.server.addr=127.0.0.1:0", "--set", "llm.model=m")
	o.Expect(t, ExitOK)
}

func TestUpPrintsTheConfiguration(t *testing.T) {
	o := triplemesh(t, []string{"OPENAI_BASE_URL=http://127.0.0.1:1/v1", "OPENAI_API_KEY=secret",
		"TRIPLEMESH_LLM_MODEL=m"}, "", "up", "--print-config")
	o.Expect(t, ExitOK, "orchestrator:", "reflector:", "http://127.0.0.1:1/v1", "127.0.0.1:9095")
	if strings.Contains(o.Stdout, "secret") {
		t.Error("the key is printed")
	}
}

func TestAnEndpointNeedsAModelsName(t *testing.T) {
	triplemesh(t, []string{"OPENAI_BASE_URL=http://127.0.0.1:1/v1"}, "", "up", "--target=verifier").Expect(t,
		ExitUsage, "model")
}

func TestDoctor(t *testing.T) {
	s := serve(t, &services{kgs: []*retrieverv1.SnapshotInfo{snapshot("mars", 2, true)}})
	o := triplemesh(t, nil, "", "doctor", "--json", "--set", "retriever.server.addr="+s.addr, "--set",
		"orchestrator.server.addr="+testkit.FreeAddr(t))
	var findings []finding
	if err := json.Unmarshal([]byte(o.Stdout), &findings); err != nil || o.Code != ExitFailed {
		t.Fatalf("exit code %d, %v: %s", o.Code, err, o.Stdout)
	}
	want := map[string]string{"encoder": missing, "model": missing, "cache": ok, "retriever": ok, "orchestrator": off,
		"model profile":   off,
		"knowledge graph": ok}
	for _, f := range findings {
		if state, asked := want[f.Name]; asked && f.State != state {
			t.Errorf("%s is %s (%s), want %s", f.Name, f.State, f.Found, state)
		}
		if f.State == missing && f.Mend == "" {
			t.Errorf("%s is missing and nothing says how to mend it", f.Name)
		}
		delete(want, f.Name)
	}
	if len(want) > 0 {
		t.Errorf("nothing is said of %v", want)
	}
	t.Run("a configuration that cannot be read is named", func(t *testing.T) {
		triplemesh(t, nil, "", "doctor", "--set", "verifier.mode=magic").Expect(t, ExitFailed, "magic",
			"--print-config")
	})
	t.Run("a mesh that is starting is not taken for another program", func(t *testing.T) {
		s := serve(t, &services{starting: true})
		triplemesh(t, nil, "", "doctor", "--set", "orchestrator.server.addr="+s.addr).Expect(t, ExitFailed,
			s.addr+": it is starting")
	})
	t.Run("a model endpoint that is down is named, and no local model is missed", func(t *testing.T) {
		o := triplemesh(t, []string{"OPENAI_BASE_URL=http://" + testkit.FreeAddr(t) + "/v1", "TRIPLEMESH_LLM_MODEL=m"},
			"", "doctor")
		o.Expect(t, ExitFailed, "model endpoint", "OPENAI_API_KEY", "another model endpoint is configured")
	})
}

func FuzzParseKG(f *testing.F) {
	for _, s := range []string{"", "mars", "mars@3", "mars@0", "@", "mars@18446744073709551616", "a@b@1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ref, err := ParseKG(text)
		if err != nil || ref == nil {
			return
		}
		again, err := ParseKG(kgtext.FormatKG(ref))
		if err != nil || again.GetName() != ref.GetName() || again.GetSnapshot() != ref.GetSnapshot() {
			t.Fatalf("%q is %v, which is read as %v, %v", text, ref, again, err)
		}
	})
}

func TestVersionAndHelp(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
		code int
		says string
	}{
		{"version command", []string{"version"}, ExitOK, "triplemesh v1 ("},
		{"version flag", []string{"--version"}, ExitOK, "triplemesh v1 ("},
		{"help", []string{"help"}, ExitOK, "Usage: triplemesh <command>"},
		{"help of a command", []string{"help", "ask"}, ExitOK, "Usage: triplemesh ask"},
		{"help of a command in a group", []string{"help", "kg", "load"}, ExitOK, "Usage: triplemesh kg load"},
		{"help of an unknown command", []string{"help", "guess"}, ExitUsage, "unexpected argument guess"},
	} {
		t.Run(c.name, func(t *testing.T) { triplemesh(t, nil, "", c.args...).Expect(t, c.code, c.says) })
	}
}
