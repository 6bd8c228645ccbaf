package setup_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/mesh"
	"github.com/triplemesh/triplemesh/cmd/triplemesh/setup"
	"github.com/triplemesh/triplemesh/internal/config"
	"github.com/triplemesh/triplemesh/services/retriever"
)

// writeAndLoad writes choices into a file and reads the configuration of every
// service back.
func writeAndLoad(t *testing.T, c setup.Choices) (text string, plan *mesh.Plan, sources config.Sources) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "triplemesh.yaml")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := setup.WriteConfig(f, c); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sources = config.Sources{File: path}
	dir := t.TempDir()
	plan, err = mesh.ReadPlan(mesh.Options{Home: setup.Home{Cache: dir, Data: dir}, Sources: sources})
	if err != nil {
		t.Fatalf("it cannot be loaded: %v\n%s", err, b)
	}
	return string(b), plan, sources
}

func TestWhatIsWrittenCanBeLoaded(t *testing.T) {
	model := &setup.ModelChoice{URL: "http://127.0.0.1:8080/v1", Name: "big: \"one\" #1", KeyVariable: "MY_KEY",
		Tested: true, LogProbs: true}
	password := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(password, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name    string
		choices setup.Choices
		says    []string
		silent  []string
		kind    string
	}{
		{"the bundled model and the sample", setup.Choices{Graph: setup.GraphChoice{Kind: setup.SampleGraph,
			Name: "wikidata"}},
			[]string{"model_server", "slots: 2"}, []string{"base_url:", "OPENAI_API_KEY"}, "embedded"},
		{"an endpoint with a key of another name", setup.Choices{Model: model,
			Graph: setup.GraphChoice{Kind: setup.FileGraph}},
			[]string{`OPENAI_API_KEY="$MY_KEY"`, "could not be held to a JSON schema", "with their probabilities"},
			[]string{"model_server"}, "embedded"},
		{"an endpoint with the usual key",
			setup.Choices{Model: &setup.ModelChoice{URL: "https://x.example/v1", Name: "m",
				KeyVariable: setup.ModelKeyVariable}, Graph: setup.GraphChoice{Kind: setup.FileGraph}},
			[]string{"read from OPENAI_API_KEY when"}, []string{"$OPENAI", "JSON schema"}, "embedded"},
		{"an endpoint without a key", setup.Choices{Model: &setup.ModelChoice{URL: "http://x/v1", Name: "m"},
			Graph: setup.GraphChoice{Kind: setup.FileGraph}},
			[]string{"No key is sent"}, nil, "embedded"},
		{"a Neo4j with a password", setup.Choices{Graph: setup.GraphChoice{Kind: setup.Neo4jGraph, Name: "movies",
			URI: "bolt://127.0.0.1:7687", Database: "films", User: "ada", PasswordFile: password}},
			[]string{"movies:", "films"}, []string{"secret\n"}, "neo4j"},
		{"an open Neo4j", setup.Choices{Graph: setup.GraphChoice{Kind: setup.Neo4jGraph, Name: "movies",
			URI: "neo4j://host:7687"}},
			[]string{"movies:"}, []string{"password", "user:"}, "neo4j"},
		{"a Weaviate with a key", setup.Choices{Model: model, Graph: setup.GraphChoice{Kind: setup.WeaviateGraph,
			Name: "mine", HTTP: "http://127.0.0.1:8080", GRPC: "127.0.0.1:50051", KeyVariable: "W_KEY"}},
			[]string{setup.WeaviateKeyVariable + `="$W_KEY"`}, nil, "weaviate"},
		{"names with all that YAML minds", setup.Choices{Model: &setup.ModelChoice{URL: "http://x/v1",
			Name: "a\nb: [\u202e\x1b]0;{{'"}, Graph: setup.GraphChoice{Kind: setup.SampleGraph}},
			[]string{`a\nb: [\u202e\x1b]0;{{'`}, []string{"\x1b", "\u202e"}, "embedded"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text, plan, sources := writeAndLoad(t, tt.choices)
			for _, want := range tt.says {
				if !strings.Contains(text, want) {
					t.Errorf("it lacks %q:\n%s", want, text)
				}
			}
			for _, not := range tt.silent {
				if strings.Contains(text, not) {
					t.Errorf("it holds %q:\n%s", not, text)
				}
			}
			endpoints, local := plan.Endpoints()
			if m := tt.choices.Model; local != (m == nil) || m != nil &&
				(len(endpoints) != 1 || endpoints[0].BaseURL != m.URL || endpoints[0].Model != m.Name) {
				t.Errorf("it asks %v, bundled %v", endpoints, local)
			}
			r, err := config.Load("retriever", retriever.DefaultConfig(), sources)
			if err != nil || r.Store.Kind != tt.kind {
				t.Errorf("its store is %q, %v", r.Store.Kind, err)
			}
			if graph := r.Store.Neo4j.Graphs[tt.choices.Graph.Name]; tt.kind == "neo4j" &&
				(graph.URI != tt.choices.Graph.URI || graph.Database != tt.choices.Graph.Database) {
				t.Errorf("it reads %+v", graph)
			}
		})
	}
}

// What stands in the file although it is the default must be the default.
func TestWhatIsWrittenChangesNoDefault(t *testing.T) {
	_, plan, _ := writeAndLoad(t, setup.Choices{Graph: setup.GraphChoice{Kind: setup.SampleGraph}})
	dir := t.TempDir()
	bare, err := mesh.ReadPlan(mesh.Options{Home: setup.Home{Cache: dir, Data: dir}})
	if err != nil {
		t.Fatal(err)
	}
	got, want := plan.ModelServer(), bare.ModelServer()
	if got.Slots != want.Slots || got.Context != want.Context {
		t.Errorf("the model server is run as %+v, by default %+v", got, want)
	}
}
