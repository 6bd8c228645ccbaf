package neo4j

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
)

func TestValidate(t *testing.T) {
	for name, c := range map[string]struct {
		kg    string
		spoil func(*Graph)
		says  string
	}{
		"all that is needed": {"movies", func(*Graph) {}, ""},
		"every setting": {"movies", func(g *Graph) {
			g.User, g.PasswordFile, g.Tenant,
				g.Vectors = "a", "f", "acme", "neo4j"
		}, ""},
		"a name that no knowledge graph has": {"Movies", func(*Graph) {}, "graphs.Movies: a name is"},
		"no address": {"movies", func(g *Graph) { g.URI = "" },
			"graphs.movies.uri: want one of bolt://"},
		"another scheme": {"movies", func(g *Graph) { g.URI = "http://x" }, "uri: want one of"},
		"a password in the address": {"movies", func(g *Graph) { g.URI = "bolt://ann:s3cret@x" },
			"uri names a user"},
		"a password in what is no address": {"movies", func(g *Graph) { g.URI = "bolt://ann:s3cret@%zz" },
			"uri: want one of"},
		"a user without a password": {"movies", func(g *Graph) { g.User = "ann" }, "belong together"},
		"vectors elsewhere":         {"movies", func(g *Graph) { g.Vectors = "x" }, `vectors is "x"`},
		"a time before now": {"movies", func(g *Graph) { g.StatementTimeout = -time.Second },
			"statement_timeout is -1s"},
		"fewer connections than none": {"movies", func(g *Graph) { g.MaxConnections = -1 },
			"max_connections is -1"},
		"a tenant that cannot be": {"movies", func(g *Graph) { g.Tenant = "../x" }, "tenant: "},
		"a label that is empty": {"movies", func(g *Graph) { g.Labels = []string{"Film", ""} },
			"labels: a name is empty"},
		"a type with a line break": {"movies", func(g *Graph) { g.Types = []string{"A\nB"} }, "types: "},
		"a name property of a label that is 0": {"movies",
			func(g *Graph) { g.NameProperties = map[string]string{"Film": "a\x00"} }, "name_properties: "},
	} {
		g := Graph{URI: "neo4j+s://graph.example.org"}
		c.spoil(&g)
		err := Config{Graphs: map[string]Graph{c.kg: g}}.Validate()
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says) ||
			strings.Contains(err.Error(), "s3cret")) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
}

func TestAMissingPasswordFile(t *testing.T) {
	if _, err := newServer(Graph{URI: "bolt://x", User: "a", PasswordFile: "/no/such/file"}.withDefaults(),
		nil); err == nil || !strings.Contains(err.Error(), "password_file") {
		t.Errorf("error %v", err)
	}
}

func TestQuote(t *testing.T) {
	for name, want := range map[string]bool{
		"ACTED_IN": true, "place of birth": true, "naïve-1.0": true, "关系": true, "_x": true,
		"": false, "`": false, "a`b": false, "\\u0060": false, "a\\": false, "x\x00": false, "a\nb": false, "1a": false,
		"a'b": false, "{x}": false, "$x": false, ":A": false,
	} {
		text, ok := quote(name)
		if ok != want || ok && text != "`"+name+"`" {
			t.Errorf("%q is quoted as %s, %v", name, text, ok)
		}
	}
	for _, c := range []struct {
		types []string
		want  string
		ok    bool
	}{{nil, "", false}, {[]string{"A"}, ":`A`", true}, {[]string{"A", "B C"}, ":`A`|`B C`", true},
		{[]string{"A", "`"}, "", false}, {[]string{"A", "B", "C"}, "", false}} {
		if text, ok := quoteTypes(c.types); text != c.want && c.ok || ok != c.ok {
			t.Errorf("%q are quoted as %s, %v", c.types, text, ok)
		}
	}
}

func FuzzQuoted(f *testing.F) {
	for _, seed := range []string{"A", "`", "\\u0060", "a b", "é", "|"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		text, ok := quoteTypes([]string{name})
		if ok && (text != ":`"+name+"`" || strings.ContainsAny(name, "`\\\"'{}$;/\n\r\x00")) {
			t.Errorf("%q goes into a statement as %s", name, text)
		}
	})
}

func TestStatementsHoldNoNamesOfTheConfiguration(t *testing.T) {
	const odd = "OddName"
	s := newStatements(Graph{
		NameProperty: odd, NameProperties: map[string]string{odd: odd}, Labels: []string{odd}, Types: []string{odd},
		StartProperty: odd, EndProperty: odd,
	})
	for _, text := range []string{
		s.edges(store.Out, nil, true, 3), s.edges(store.In, []string{"`"}, false, 0), s.countEdges(), s.degrees(),
		s.confirm(), s.confirmLiterals(), s.readNodes(), s.nameCheck(),
	} {
		if strings.Contains(text, odd) {
			t.Errorf("a name stands in a statement: %s", text)
		}
	}
	if text := s.edges(store.In, []string{"KNOWS"}, false, 0); !strings.Contains(text, "<-[r:`KNOWS`]-") {
		t.Errorf("a plain type is a parameter: %s", text)
	}
}

func TestACorruptIndex(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(t *testing.T, dir string)
		open  error
		want  error
	}{
		"ids that are cut off": {func(t *testing.T, dir string) { truncate(t, filepath.Join(dir, idsFile), 8) },
			store.ErrCorrupt, store.ErrCorrupt},
		"ids that were changed": {func(t *testing.T, dir string) { flip(t, filepath.Join(dir, idsFile)) }, nil,
			store.ErrCorrupt},
		"no ids": {func(t *testing.T, dir string) { remove(t, filepath.Join(dir, idsFile)) },
			store.ErrCorrupt, store.ErrCorrupt},
		"no names of types": {func(t *testing.T, dir string) { remove(t, filepath.Join(dir, indexFile)) },
			store.ErrCorrupt, store.ErrCorrupt},
		"names of types cut off": {func(t *testing.T, dir string) { truncate(t, filepath.Join(dir, indexFile), 10) },
			store.ErrCorrupt, store.ErrCorrupt},
		"a newer program's": {func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, indexFile),
				`{"version": 9}`)
		}, store.ErrFormat, store.ErrFormat},
		"one of another graph": {func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, indexFile), `{"version": 1, "entities": 0}`)
		}, store.ErrCorrupt, store.ErrCorrupt},
	} {
		s := newInMemory(t)
		number := storetest.Build(t, s, "world", storetest.World())
		c.spoil(t, s.snapshotDir("world", number))
		clear(s.indexes)
		snap, err := s.Open(t.Context(), "world", 0)
		if !errors.Is(err, c.open) {
			t.Errorf("%s: open says %v", name, err)
		}
		if err == nil {
			snap.Release()
		}
		if _, _, err := s.Verify(t.Context(), "world", number); !errors.Is(err, c.want) {
			t.Errorf("%s: verify says %v", name, err)
		}
	}
}

func truncate(t *testing.T, path string, to int64) {
	if err := os.Truncate(path, to); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, path string) {
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, path, text string) {
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func flip(t *testing.T, path string) {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data[9] ^= 1
	write(t, path, string(data))
}
