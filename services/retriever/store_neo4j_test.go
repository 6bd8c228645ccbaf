package retriever

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/internal/config"
	"github.com/triplemesh/triplemesh/internal/telemetry"
)

const neo4jConfig = `retriever:
  store:
    kind: neo4j
    dir: DIR
    neo4j:
      graphs:
        movies:
          uri: neo4j+s://graph.example.org:7687
          database: films
          user: reader
          password_file: DIR/password
          labels: [Person, Film]
          types: [ACTED_IN]
          name_properties: {Film: title}
          include_properties: true
          statement_timeout: 3s
          max_connections: 4
`

func TestNeo4jGraphsConfiguration(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "triplemesh.yaml")
	for name, text := range map[string]string{path: strings.ReplaceAll(neo4jConfig, "DIR", dir),
		filepath.Join(dir, "password"): "secret"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cfg, err := config.Load("retriever", DefaultConfig(), config.Sources{File: path})
	if err != nil {
		t.Fatal(err)
	}
	movies := cfg.Store.Neo4j.Graphs["movies"]
	if movies.Database != "films" || movies.NameProperties["Film"] != "title" || len(movies.Labels) != 2 ||
		!movies.IncludeProperties || movies.StatementTimeout != 3*time.Second || movies.MaxConnections != 4 {
		t.Errorf("movies is %+v", movies)
	}
	tel, err := telemetry.Start(t.Context(), telemetry.Config{}, "retriever")
	if err != nil {
		t.Fatal(err)
	}
	graphs, err := openBackend(cfg.Store, tel)
	if err != nil {
		t.Fatal(err)
	}
	defer graphs.Close()
	st, err := graphs.ForTenant(auth.DefaultTenant())
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := findOrigin(st, "movies"); !ok {
		t.Error("movies is not read from Neo4j")
	}
	if _, ok := findOrigin(st, "others"); ok {
		t.Error("others is read from Neo4j")
	}
	for set, says := range map[string]string{
		"graphs: {movies: {uri: http://x}}":                   "graphs.movies.uri: want one of",
		"graphs: {movies: {uri: bolt://x, password: secret}}": "password",
	} {
		text := "retriever: {store: {kind: neo4j, dir: x, neo4j: {" + set + "}}}"
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := config.Load("retriever", DefaultConfig(), config.Sources{File: path}); err == nil ||
			!strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v, want %q", set, err, says)
		}
	}
}
