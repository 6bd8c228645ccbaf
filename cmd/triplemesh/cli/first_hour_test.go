package cli

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/internal/testkit"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

// The mistakes of the first hour: each is told with what mends it.
func TestMistakesAreToldWithTheirMend(t *testing.T) {
	s := serve(t, &services{run: answeredRun(), entities: map[string]*graphv1.Entity{},
		links: []string{"Ada Lovelace", "Ada"},
		kgs:   []*retrieverv1.SnapshotInfo{snapshot("mars", 1, true)}})
	starting := serve(t, &services{starting: true})
	html := httptest.NewServer(http.NotFoundHandler())
	defer html.Close()
	web := strings.TrimPrefix(html.URL, "http://")
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	packed := file("page.tsv.gz", "")
	f, err := os.Create(packed)
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(f)
	if _, err := z.Write([]byte("<!DOCTYPE html><title>404</title>")); err != nil {
		t.Fatal(err)
	}
	if z.Close() != nil || f.Close() != nil {
		t.Fatal("cannot write the archive")
	}
	file("facts.tsv", "a\tb\tc\n")
	load := func(path string) []string { return []string{"kg", "load", "x", path, "--retriever", s.addr} }
	for _, tt := range []struct {
		name string
		args []string
		env  []string
		code int
		says []string
	}{
		{"a command with a typo", []string{"asq", "Who?"}, nil, ExitUsage, []string{`did you mean "ask"`}},
		{"a flag with a typo", []string{"ask", "Who?", "--methd=ger"}, nil, ExitUsage,
			[]string{`did you mean "--method"`}},
		{"a topic entity with a typo", []string{"ask", "Who?", "--server", s.addr, "--topic", "Ada Lovelase"}, nil,
			ExitUsage, []string{"did you mean Ada Lovelace or Ada?"}},
		{"a knowledge graph with a typo", []string{"kg", "list", "marz", "--retriever", s.addr}, nil, ExitFailed,
			[]string{"there are: mars", "did you mean mars?"}},
		{"a setting with a typo", []string{"up", "--set", "llm.modle=x", "--print-config"}, nil, ExitUsage,
			[]string{"llm.model"}},
		{"no mesh is running", []string{"ask", "Who?", "--server", testkit.FreeAddr(t)}, nil, exitUnreachable,
			[]string{"triplemesh up", "--local"}},
		{"a mesh that is starting", []string{"ask", "Who?", "--server", starting.addr}, nil, exitUnreachable,
			[]string{"it is starting", "try again"}},
		{"a server without its port", []string{"ask", "Who?", "--server", "localhost"}, nil, ExitUsage,
			[]string{"localhost:9090"}},
		{"a server as a URL", []string{"ask", "Who?", "--server", "http://" + s.addr + "/"}, nil, ExitUsage,
			[]string{"give only host and port, such as " + s.addr}},
		{"the port for browsers", []string{"ask", "Who?", "--server", web}, nil, exitUnreachable,
			[]string{"an HTTP port", "9090"}},
		{"a port that is taken", []string{"up", "--target=reflector", "--set", "reflector.server.addr=" + s.addr}, nil,
			ExitUsage, []string{"the port is in use", "reflector.server.addr"}},
		{"an endpoint without a model's name", []string{"up", "--print-config"},
			[]string{"OPENAI_BASE_URL=http://x/v1"}, ExitUsage, []string{"llm.model"}},
		{"an endpoint that is no URL", []string{"up", "--print-config"}, []string{"OPENAI_BASE_URL=localhost:8080",
			"TRIPLEMESH_LLM_MODEL=m"}, ExitUsage, []string{"http://HOST:PORT/v1"}},
		{"a configuration file that is not there", []string{"--config=/no/such.yaml", "up", "--print-config"}, nil,
			ExitUsage, []string{"/no/such.yaml"}},

		{"a file whose name has a typo", load(filepath.Join(dir, "fact.tsv")), nil, ExitUsage,
			[]string{"no such file", "did you mean " + filepath.Join(dir, "facts.tsv")}},
		{"a folder", load(dir), nil, ExitUsage, []string{"is a folder", "kg propose"}},
		{"an empty file", load(file("empty.tsv", "")), nil, ExitUsage, []string{"is empty", "downloaded whole"}},
		{"a web page that was saved in a file's place", load(file("page.tsv", "\n<!doctype HTML><html>")), nil,
			ExitUsage, []string{"is a web page", "download the file itself"}},
		{"a web page in an archive", load(packed), nil, ExitUsage, []string{"is a web page"}},
		{"a program", load(file("a.tsv", "\x7fELF\x00\x01")), nil, ExitUsage, []string{"binary data"}},
		{"a zip archive", load(file("a.csv", "PK\x03\x04\x14")), nil, ExitUsage, []string{"unpack it"}},
		{"text in UTF-16", load(file("b.csv", "\xff\xfea\x00")), nil, ExitUsage, []string{"save it in UTF-8"}},
		{"text in Latin-1", load(file("c.csv", "caf\xe9,is,bar")), nil, ExitUsage, []string{"iconv"}},
		{"XML", load(file("d.nt", `<?xml version="1.0"?><rdf/>`)), nil, ExitUsage, []string{"N-Triples"}},
		{"an archive that is none", load(file("a.tsv.gz", "a\tb\tc\n")), nil, ExitUsage,
			[]string{"no gzip archive", "rename"}},
		{"flags of Neo4j without its address", []string{"kg", "load", "movies", "--labels", "Film"}, nil, ExitUsage,
			[]string{"retriever.store.neo4j.graphs"}},
		{"a name that cannot be", []string{"kg", "load", "My Facts", file("e.tsv", "a\tb\tc\n")}, nil, ExitUsage,
			[]string{"lower-case"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			triplemesh(t, tt.env, "", tt.args...).Expect(t, tt.code, tt.says...)
		})
	}
}

func TestWhatServicesSayIsToldWithItsMend(t *testing.T) {
	model := func(code codes.Code, text, reason string) error {
		st, err := status.New(code, text).WithDetails(&errdetails.ErrorInfo{Reason: reason})
		if err != nil {
			t.Fatal(err)
		}
		return st.Err()
	}
	for _, tt := range []struct {
		name string
		err  error
		code int
		says []string
		not  string
	}{
		{"a method with a typo", status.Error(codes.InvalidArgument,
			`there is no method "gar"; there are: auto, ger, io`), ExitUsage, []string{"did you mean ger?"}, ""},
		{"a knowledge graph with a typo", status.Error(codes.NotFound,
			`there is no knowledge graph "marz"; there are: mars`), ExitFailed, []string{"did you mean mars?"}, ""},
		{"nothing like it", status.Error(codes.NotFound, `there is no knowledge graph "lunch"; there are: mars`),
			ExitFailed, []string{"kg load"}, "did you mean"},
		{"a wrong key", model(codes.FailedPrecondition, "call the model: 401 Unauthorized; check llm.api_key "+
			"(OPENAI_API_KEY)", "MODEL_REFUSED"), ExitFailed, []string{"OPENAI_API_KEY", "doctor"}, "kg list"},
		{"an endpoint that is down", model(codes.Unavailable, "call the model: connection refused; check llm.base_url",
			"MODEL_UNAVAILABLE"), ExitFailed, []string{"llm.base_url", "doctor"}, ""},
		{"vectors of another encoder", status.Error(codes.FailedPrecondition,
			`read snapshot mars@1: its vectors were made by encoder "a", this retriever runs "b"; `+
				`load the knowledge graph again`), ExitFailed, []string{"load the knowledge graph " +
			"again", "doctor"}, "activate"},
		{"a mesh of another version", status.Error(codes.Unimplemented, "unknown method AskStream"), ExitFailed,
			[]string{"another version", "doctor"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, &services{err: tt.err})
			o := triplemesh(t, nil, "", "ask", "Who?", "--server", s.addr)
			if o.Expect(t, tt.code, tt.says...); tt.not != "" && strings.Contains(o.Stderr, tt.not) {
				t.Errorf("it says %q: %s", tt.not, o.Stderr)
			}
		})
	}
}

func TestTopicsAreCheckedByNameAndID(t *testing.T) {
	ada := &graphv1.Entity{Name: "Ada Lovelace", Id: "Q7259"}
	known := map[string]*graphv1.Entity{ada.GetName(): ada, ada.GetId(): ada}
	for _, tt := range []struct {
		name     string
		entities map[string]*graphv1.Entity
		links    []string
		topic    string
		code     int
		says     string
	}{
		{"a name", known, nil, "Ada Lovelace", ExitOK, "Ada"},
		{"an id", known, nil, "Q7259", ExitOK, "Ada"},
		{"a name with a typo", known, []string{"Ada Lovelace"}, "Ada Lovlace", ExitUsage,
			"no entity with this name or id; did you mean Ada Lovelace?"},
		{"an unknown id", known, []string{}, "Q1", ExitUsage, "nor one with a name like it"},
		{"a server that looks no entities up", nil, nil, "Nobody", ExitOK, "Ada"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, &services{run: answeredRun(), entities: tt.entities, links: tt.links,
				kgs: []*retrieverv1.SnapshotInfo{snapshot("mars", 1, true)}})
			triplemesh(t, nil, "", "ask", "Who?", "--server", s.addr, "--topic", tt.topic).Expect(t, tt.code, tt.says)
			if tt.code == ExitOK && s.asked.GetTopicEntities()[0] != tt.topic {
				t.Errorf("the question has the topic entities %q", s.asked.GetTopicEntities())
			}
		})
	}
}

func TestTheDoctorFindsTheSameMistakes(t *testing.T) {
	wrongKey := testkit.NewLLM(t)
	wrongKey.On().Status(http.StatusUnauthorized)
	good := testkit.NewLLM(t)
	good.On().Reply("yes")
	good.On(testkit.Contains("wet")).Reply(`{"wet": true}`)
	web := httptest.NewServer(http.NotFoundHandler())
	defer web.Close()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	go func() { // cuts off every connection
		for {
			conn, err := silent.Accept()
			if err != nil {
				return
			}
			conn.Close()
		}
	}()
	old := serve(t, &services{kgs: []*retrieverv1.SnapshotInfo{snapshot("mars", 2, true)}, version: "v0"})
	ancient := serve(t, &services{})
	mismatched := serve(t, &services{version: "v1", kgs: []*retrieverv1.SnapshotInfo{snapshot("mars", 2, true)},
		searchErr: status.Error(codes.FailedPrecondition,
			`its vectors were made by encoder "a", this retriever runs "b"`)})
	same := serve(t, &services{version: "v1", kgs: []*retrieverv1.SnapshotInfo{snapshot("mars", 2, true)}})
	model := func(url, name string) []string {
		return []string{"--set", "llm.base_url=" + url, "--set", "llm.model=" + name}
	}
	at := func(stage, addr string) []string { return []string{"--set", stage + ".server.addr=" + addr} }
	const endpoint = "model endpoint"
	for _, tt := range []struct {
		name    string
		args    []string
		finding string
		state   string
		says    string
	}{
		{"an endpoint that works", model(good.URL(), "testkit"), endpoint, ok, "JSON schema: yes"},
		{"an endpoint that is down", model("http://"+testkit.FreeAddr(t)+"/v1", "m"), endpoint, missing,
			"connection refused"},
		{"an endpoint without its /v1", model(strings.TrimSuffix(good.URL(), "/v1"), "testkit"), endpoint, missing,
			good.URL() + " is: set llm.base_url"},
		{"an address of something else", model(web.URL, "m"), endpoint, missing, "404"},
		{"a wrong key", model(wrongKey.URL(), "testkit"), endpoint, missing, "OPENAI_API_KEY"},
		{"no endpoint and no model", nil, "model", missing, "setup"},
		{"no mesh", at("orchestrator", testkit.FreeAddr(t)), "orchestrator", off, "triplemesh up"},
		{"a port that something else has", at("retriever", silent.Addr().String()), "retriever", missing,
			"retriever.server.addr"},
		{"a port that a web server has", at("verifier", strings.TrimPrefix(web.URL, "http://")), "verifier", missing,
			"the port is in use"},
		{"a mesh of another version", at("orchestrator", old.addr), "mesh version", missing, "v0"},
		{"a mesh too old to say", at("orchestrator", ancient.addr), "mesh version", missing, "older"},
		{"a mesh of this version", at("orchestrator", same.addr), "orchestrator", ok, "serving"},
		{"no knowledge graph", at("retriever", ancient.addr), "knowledge graph", missing, "kg load"},
		{"a knowledge graph", at("retriever", same.addr), "knowledge graph", ok, "mars@2"},
		{"vectors of another encoder", at("retriever", mismatched.addr), "knowledge graph", missing,
			"reload the knowledge graph"},
		{"a setting with a typo", []string{"--set", "llm.modle=x"}, "configuration", missing, "llm.model"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			args := append([]string{"doctor", "--json"}, at("orchestrator", testkit.FreeAddr(t))...)
			args = append(append(args, at("retriever", testkit.FreeAddr(t))...), tt.args...)
			o := triplemesh(t, nil, "", args...)
			var findings []finding
			if err := json.Unmarshal([]byte(o.Stdout), &findings); err != nil {
				t.Fatalf("%v: %s", err, o.Stdout)
			}
			found := false
			for _, f := range findings {
				if f.Name != tt.finding {
					continue
				}
				found = true
				if f.State != tt.state || !strings.Contains(f.Found+f.Mend, tt.says) {
					t.Errorf("it finds %+v", f)
				}
				if f.State == missing && f.Mend == "" {
					t.Errorf("nothing says how to mend %+v", f)
				}
			}
			if !found {
				t.Errorf("nothing is said of %s: %s", tt.finding, o.Stdout)
			}
		})
	}
	t.Run("the version is the same", func(t *testing.T) {
		o := triplemesh(t, nil, "", append([]string{"doctor"}, at("orchestrator", same.addr)...)...)
		if strings.Contains(o.Stdout, "mesh version") {
			t.Errorf("it says %s", o.Stdout)
		}
	})
}

// What the doctor and the checks before a question ask.

func (s *services) GetMesh(context.Context, *orchestratorv1.GetMeshRequest) (*orchestratorv1.GetMeshResponse, error) {
	if s.version == "" {
		return nil, status.Error(codes.Unimplemented, "unknown method")
	}
	return &orchestratorv1.GetMeshResponse{Version: s.version}, nil
}

// retrieving is the retriever of services.
type retrieving struct {
	retrieverv1.UnimplementedRetrieverServiceServer
	*services
}

func (r retrieving) LinkEntities(context.Context,
	*retrieverv1.LinkEntitiesRequest) (*retrieverv1.LinkEntitiesResponse, error) {
	if r.links == nil {
		return nil, status.Error(codes.Unimplemented, "unknown method")
	}
	resp := &retrieverv1.LinkEntitiesResponse{}
	for _, entity := range r.links {
		resp.Links = append(resp.Links, &graphv1.EntityLink{Entity: entity})
	}
	return resp, nil
}

func (r retrieving) BatchGetEntities(_ context.Context,
	req *retrieverv1.BatchGetEntitiesRequest) (*retrieverv1.BatchGetEntitiesResponse, error) {
	if r.entities == nil {
		return nil, status.Error(codes.Unimplemented, "unknown method")
	}
	resp := &retrieverv1.BatchGetEntitiesResponse{Entities: map[string]*graphv1.Entity{}}
	for _, entity := range req.GetEntities() {
		if e := r.entities[entity]; e != nil {
			resp.Entities[entity] = e
		}
	}
	return resp, nil
}

func (r retrieving) SearchTriples(context.Context,
	*retrieverv1.SearchTriplesRequest) (*retrieverv1.SearchTriplesResponse, error) {
	return &retrieverv1.SearchTriplesResponse{}, r.searchErr
}

func (s *services) registerRetriever(server grpc.ServiceRegistrar) {
	if s.retriever != nil {
		retrieverv1.RegisterRetrieverServiceServer(server, s.retriever)
		return
	}
	retrieverv1.RegisterRetrieverServiceServer(server, retrieving{services: s})
}

func TestCommandsFindAMeshByItsConfiguration(t *testing.T) {
	s := serve(t, &services{run: answeredRun(), kgs: []*retrieverv1.SnapshotInfo{snapshot("mars", 1, true)}})
	config := filepath.Join(t.TempDir(), "triplemesh.yaml")
	_, port, err := net.SplitHostPort(s.addr)
	if err != nil {
		t.Fatal(err)
	}
	text := "orchestrator: {server: {addr: \"" + s.addr + "\"}}\nretriever: {server: {addr: \":" + port + "\"}}\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		args []string
		code int
		says string
	}{
		{"a question goes to the orchestrator of the file", []string{"ask", "Who?"}, ExitOK, "Ada"},
		{"knowledge graphs are those of the retriever of the file", []string{"kg", "list"}, ExitOK, "mars"},
		{"an address on the command line goes before the file", []string{"ask", "Who?", "--server",
			testkit.FreeAddr(t)}, exitUnreachable, "triplemesh up"},
		{"a wrong setting is named, not taken for an absent mesh", []string{"methods", "--set",
			"orchestrator.server.adr=:1"}, ExitUsage, "orchestrator.server.addr"},
		{"a server of tools reads the file too", []string{"mcp", "--set", "orchestrator.server.adr=:1"}, ExitUsage,
			"orchestrator.server.addr"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("TRIPLEMESH_CONFIG", config)
			triplemesh(t, nil, "", tt.args...).Expect(t, tt.code, tt.says)
		})
	}
}
