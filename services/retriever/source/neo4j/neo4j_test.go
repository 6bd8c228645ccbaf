//go:build neo4j

// These tests need a server: NEO4J_URI names it, with NEO4J_USER and
// NEO4J_PASSWORD where it asks for them. They leave it as they found it. Run
//
//	NEO4J_URI=bolt://127.0.0.1:7687 go test -tags neo4j ./source/neo4j
package neo4j

import (
	"bytes"
	"context"
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"
	"github.com/triplemesh/triplemesh/services/retriever/source"
	"github.com/triplemesh/triplemesh/services/retriever/source/rdf"
	"github.com/triplemesh/triplemesh/services/retriever/source/sourcetest"
)

// testLabel marks the nodes of these tests.
const testLabel = "TriplemeshSourceTest"

const graph = `CREATE (a:TriplemeshSourceTest:Person {name: 'Ann\tLee', also: ['Annie', 'A. Lee'],` +
	` born: date('1961-08-04'), height: 1.85, scores: [1, 2]}),
(f:TriplemeshSourceTest:Film {name: 'Harbour'}), (u:TriplemeshSourceTest {note: 'no name'}),` +
	` (x:TriplemeshSourceTestOther {name: 'elsewhere'}),
(a)-[:ACTED_IN {start: 1997, end: date('1998-02-01')}]->(f), (a)-[:MARRIED]->(u),` +
	` (u)-[:MARRIED {start: '2001-05'}]->(a), (f)-[:MADE_OF]->(x)`

func testConfig(t *testing.T) Config {
	t.Helper()
	c := Config{URI: os.Getenv("NEO4J_URI"), User: os.Getenv("NEO4J_USER"), Password: os.Getenv("NEO4J_PASSWORD"),
		Labels: []string{testLabel}}
	if c.URI == "" {
		t.Fatal("NEO4J_URI is not set; start a server and name it")
	}
	clear := `MATCH (n) WHERE n:TriplemeshSourceTest OR n:TriplemeshSourceTestOther DETACH DELETE n`
	write(t, c, clear)
	write(t, c, graph)
	t.Cleanup(func() { write(t, c, clear) })
	return c
}

// write changes the server's graph.
func write(t *testing.T, c Config, query string) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	auth := neo4j.NoAuth()
	if c.User != "" {
		auth = neo4j.BasicAuth(c.User, c.Password, "")
	}
	driver, err := neo4j.NewDriverWithContext(c.URI, auth)
	if err != nil {
		t.Fatal(err)
	}
	defer driver.Close(ctx)
	if _, err := neo4j.ExecuteQuery(ctx, driver, query, nil, neo4j.EagerResultTransformer); err != nil {
		t.Fatal(err)
	}
}

var ids = regexp.MustCompile(`(urn:neo4j:node/|_:n)\d+`)

// unnumbered takes the ids out, which the server chooses.
func unnumbered(lines []string) (out []string) {
	for _, l := range lines {
		out = append(out, ids.ReplaceAllString(l, "$1"))
	}
	return out
}

func TestRead(t *testing.T) {
	c := testConfig(t)
	c.Page = 1000
	var sink sourcetest.Sink
	n, err := Read(t.Context(), c, &sink)
	if err != nil || n != 6 {
		t.Fatalf("%d nodes and relationships, error %v", n, err)
	}
	sink.Check(t)
	sourcetest.Equal(t, "facts", unnumbered(sink.Facts), []string{
		"urn:neo4j:node/ | urn:neo4j:type/ACTED_IN | urn:neo4j:node/ [1997/1998-02-01]",
		"urn:neo4j:node/ | urn:neo4j:type/MARRIED | _:n (mediator)",
		"_:n (mediator) | urn:neo4j:type/MARRIED | urn:neo4j:node/ [2001-05/]",
	})
	sourcetest.Equal(t, "labels", unnumbered(sink.Labels), []string{"urn:neo4j:node/ = Ann Lee",
		"urn:neo4j:node/ = Harbour", "urn:neo4j:type/ACTED_IN = acted in", "urn:neo4j:type/MARRIED = married"})
}

func TestReadWithPropertiesAndOfSomeTypes(t *testing.T) {
	c := testConfig(t)
	c.Properties, c.Aliases, c.Types = true, []string{"also", "missing"}, []string{"MARRIED"}
	var sink sourcetest.Sink
	if _, err := Read(t.Context(), c, &sink); err != nil {
		t.Fatal(err)
	}
	sink.Check(t)
	const ann, note = "urn:neo4j:node/ | ", "_:n (mediator) | "
	sourcetest.Equal(t, "facts", unnumbered(sink.Facts), []string{
		ann + isA + " | urn:neo4j:label/Person", ann + isA + " | urn:neo4j:label/TriplemeshSourceTest",
		ann + isA + " | urn:neo4j:label/Film", ann + isA + " | urn:neo4j:label/TriplemeshSourceTest",
		note + isA + " | urn:neo4j:label/TriplemeshSourceTest",
		ann + "urn:neo4j:property/also | Annie (text)", ann + "urn:neo4j:property/also | A. Lee (text)",
		ann + "urn:neo4j:property/born | 1961-08-04 (date)",
		ann + "urn:neo4j:property/height | 1.85 (number)", ann + "urn:neo4j:property/scores | 1 (number)",
		ann + "urn:neo4j:property/scores | 2 (number)",
		note + "urn:neo4j:property/note | no name (text)",
		ann + "urn:neo4j:type/MARRIED | _:n (mediator)", note + "urn:neo4j:type/MARRIED | urn:neo4j:node/ [2001-05/]",
	})
	sourcetest.Equal(t, "aliases", unnumbered(sink.Aliases), []string{"urn:neo4j:node/ ~ Annie",
		"urn:neo4j:node/ ~ A. Lee"})
}

func TestNodesWithoutANameAreCounted(t *testing.T) {
	for _, tt := range []struct {
		name, property string
		names          map[string]string
		want           int
	}{
		{"one that has other properties", "", nil, 1},
		{"all, where none has the property", "title", nil, 3},
		{"none where each label has its property", "title",
			map[string]string{"Person": "name", "Film": "name", testLabel: "note"}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := testConfig(t)
			c.Name, c.Names = tt.property, tt.names
			got := 0
			c.Unnamed = func(label string, nodes int, properties []string) {
				got += nodes
				if label == "" || !slices.Contains(properties, "note") && !slices.Contains(properties, "name") {
					t.Errorf("%d nodes labelled %q with %q", nodes, label, properties)
				}
			}
			if _, err := Read(t.Context(), c, &sourcetest.Sink{}); err != nil {
				t.Fatal(err)
			}
			if got != tt.want {
				t.Errorf("got %d nodes, want %d", got, tt.want)
			}
		})
	}
}

func TestErrorsOfAServerSayWhatToChange(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*Config)
		want   string
	}{
		{"nothing listens at the port", func(c *Config) { c.URI = "bolt://127.0.0.1:1" }, "7687"},
		{"nothing listens, to a cluster", func(c *Config) { c.URI = "neo4j://127.0.0.1:1" }, "7687"},
		{"the server has no TLS", func(c *Config) { c.URI = strings.Replace(c.URI, "bolt:", "bolt+s:", 1) }, "TLS"},
		{"the database is not there", func(c *Config) { c.Database = "no-such-database" }, "no such database"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := testConfig(t)
			tt.change(&c)
			began := time.Now()
			_, err := Read(t.Context(), c, &sourcetest.Sink{})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
			if took := time.Since(began); took > 15*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
}

func TestReadWriteRoundTrip(t *testing.T) {
	c := testConfig(t)
	c.Properties = true
	var direct, back sourcetest.Sink
	if _, err := Read(t.Context(), c, &direct); err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	w := rdf.NewWriter(&file)
	if _, err := Read(t.Context(), c, w); err != nil || w.Flush() != nil {
		t.Fatal(err)
	}
	if _, err := rdf.Read(t.Context(), source.Input{Name: "x.nq", Reader: &file}, &back); err != nil {
		t.Fatal(err)
	}
	sourcetest.Equal(t, "facts", back.Facts, direct.Facts)
}

func TestBadValuesAndSinks(t *testing.T) {
	c := testConfig(t)
	full := errors.New("full")
	if _, err := Read(t.Context(), c, &sourcetest.Sink{Err: full}); !errors.Is(err, full) {
		t.Errorf("a sink that is full: %v", err)
	}
	c.Aliases, c.End = []string{"scores"}, "note"
	write(t, c, `MATCH (:TriplemeshSourceTest)-[r:MARRIED]->() SET r.note = 'for ever'`)
	var bad []string
	c.Bad = func(err error) error {
		bad = append(bad, err.Error())
		return nil
	}
	if _, err := Read(t.Context(), c, &sourcetest.Sink{}); err != nil || len(bad) != 2 ||
		!strings.Contains(bad[0], `the end "for ever" is not an ISO 8601 date`) {
		t.Errorf("bad %q, error %v", bad, err)
	}
	c.Database = "no-such-database"
	if _, err := Read(t.Context(), c, &sourcetest.Sink{}); err == nil || !strings.Contains(err.Error(),
		"no-such-database") {
		t.Errorf("a database that is not there: %v", err)
	}
}
