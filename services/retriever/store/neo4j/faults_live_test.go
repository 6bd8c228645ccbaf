//go:build neo4j

package neo4j

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/services/retriever/source/sourcetest"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

func TestFaultsOfAServer(t *testing.T) {
	db := newDatabase(t)
	label := db.fresh()
	db.write(cast, map[string]any{"label": label})
	for name, c := range map[string]struct {
		spoil func(*Graph)
		says  string
	}{
		"a database that is not there": {func(g *Graph) { g.Database = "no-such-database" },
			`database "no-such-database": `},
		"a name property that is not": {func(g *Graph) { g.NameProperty = "titel" },
			`no node has the property "titel"; check name_property`},
		"labels that no node has": {func(g *Graph) { g.Labels = []string{"TriplemeshNowhere"} },
			"no node with one of the labels"},
		"a connection that is not secure": {func(g *Graph) { g.URI = strings.Replace(g.URI, "bolt:", "bolt+s:", 1) },
			"cannot be reached"},
	} {
		g := Graph{URI: uri(t), Labels: []string{label}}
		c.spoil(&g)
		st := newStore(t, t.TempDir(), Config{Graphs: map[string]Graph{"movies": g}})
		read, _ := st.Origin("movies")
		_, err := read(t.Context(), &sourcetest.Sink{})
		want := codes.FailedPrecondition
		if strings.HasPrefix(g.URI, "bolt+s") {
			want = codes.Unavailable
		}
		if status.Code(err) != want || !strings.Contains(err.Error(), c.says) ||
			!strings.Contains(err.Error(), `"movies"`) {
			t.Errorf("%s: %v (%v)", name, err, status.Code(err))
		}
	}
}

func TestStatementTimeout(t *testing.T) {
	st := newStore(t, t.TempDir(),
		Config{Graphs: map[string]Graph{"movies": {URI: uri(t), StatementTimeout: 500 * time.Millisecond}}})
	_, err := st.graphs["movies"].reader.query(t.Context(),
		"UNWIND range(1, 100000) AS x UNWIND range(1, 100000) AS y RETURN count(x + y)", nil)
	if status.Code(store.WrapError("walk", "movies", 1, err)) != codes.DeadlineExceeded ||
		!strings.Contains(err.Error(), "statement_timeout, 500ms") {
		t.Errorf("a slow statement: %v", err)
	}
}

func TestNothingIsWritten(t *testing.T) {
	st := newStore(t, t.TempDir(), Config{Graphs: map[string]Graph{"movies": {URI: uri(t)}}})
	_, err := st.graphs["movies"].reader.query(t.Context(), "CREATE (n:TriplemeshWritten)", nil)
	if code := status.Code(store.WrapError("walk", "movies", 1, err)); code != codes.FailedPrecondition {
		t.Errorf("a session that reads wrote: %v", err)
	}
}

// TestReadAccessDenied needs a server that asks for a password: NEO4J_AUTH_URI.
func TestReadAccessDenied(t *testing.T) {
	u := os.Getenv("NEO4J_AUTH_URI")
	if u == "" {
		t.Skip("NEO4J_AUTH_URI names no server that asks for a password")
	}
	path := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(path, []byte(secret), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, g := range []Graph{{URI: u, User: "neo4j", PasswordFile: path}, {URI: u}} {
		st := newStore(t, t.TempDir(), Config{Graphs: map[string]Graph{"movies": g}})
		read, _ := st.Origin("movies")
		_, err := read(t.Context(), &sourcetest.Sink{})
		if status.Code(err) != codes.FailedPrecondition || !strings.Contains(err.Error(),
			"check user and password_file") || strings.Contains(err.Error(), secret) {
			t.Errorf("user %q: %v (%v)", g.User, err, status.Code(err))
		}
	}
}
