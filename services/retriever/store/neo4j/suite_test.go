//go:build neo4j

// These tests need a server of Neo4j 5: NEO4J_URI names it. They leave it as
// they found it. Run
//
//	NEO4J_URI=bolt://127.0.0.1:7687 go test -tags neo4j ./store/neo4j
package neo4j

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"log/slog"
	"os"
	"slices"
	"sync"
	"testing"

	driver "github.com/neo4j/neo4j-go-driver/v5/neo4j"
	"go.opentelemetry.io/otel/metric/noop"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
)

// uri is the server that the tests run against.
func uri(t testing.TB) string {
	t.Helper()
	u := os.Getenv("NEO4J_URI")
	if u == "" {
		t.Fatal("NEO4J_URI is not set; start a server and name it")
	}
	return u
}

// database writes to the server what the store is to read.
type database struct {
	t      testing.TB
	driver driver.DriverWithContext
}

func newDatabase(t testing.TB) *database {
	t.Helper()
	d, err := driver.NewDriverWithContext(uri(t), driver.NoAuth())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close(context.Background()) })
	return &database{t, d}
}

// write runs a statement and returns its rows.
func (d *database) write(cypher string, parameters map[string]any) [][]any {
	d.t.Helper()
	result, err := driver.ExecuteQuery(context.Background(), d.driver, cypher, parameters,
		driver.EagerResultTransformer)
	if err != nil {
		d.t.Fatal(err)
	}
	rows := [][]any{}
	for _, record := range result.Records {
		rows = append(rows, record.Values)
	}
	return rows
}

// fresh is a label that no node has; nodes that get it go when the test ends.
func (d *database) fresh() string {
	b := make([]byte, 6)
	_, _ = rand.Read(b)
	label := "TriplemeshTest" + hex.EncodeToString(b)
	d.t.Cleanup(func() { d.write("MATCH (n:$($label)) DETACH DELETE n", map[string]any{"label": label}) })
	return label
}

// graphNames are those that the suite uses.
var graphNames = []string{"world", "many", "ties", "spoilt", "kinds", "bare", "none", "alone", "nowhere"}

// planted is a store whose graphs are put into Neo4j when they are written: what
// is there already stays.
type planted struct {
	*Store
	db     *database
	labels map[string]string

	mutex *sync.Mutex
	nodes map[string]map[string]int64
	facts map[string]map[store.Fact]bool
}

func newPlanted(t *testing.T, spoil func(*Graph)) planted {
	t.Helper()
	p := planted{db: newDatabase(t), labels: map[string]string{}, mutex: &sync.Mutex{},
		nodes: map[string]map[string]int64{}, facts: map[string]map[store.Fact]bool{}}
	c := Config{Graphs: map[string]Graph{}}
	for _, kg := range graphNames {
		p.labels[kg], p.nodes[kg], p.facts[kg] = p.db.fresh(), map[string]int64{}, map[store.Fact]bool{}
		g := Graph{URI: uri(t), Labels: []string{p.labels[kg]}}
		if spoil != nil {
			spoil(&g)
		}
		c.Graphs[kg] = g
	}
	p.Store = newStore(t, t.TempDir(), c)
	return p
}

func newStore(t testing.TB, dir string, c Config) *Store {
	t.Helper()
	all, err := NewTenants(dir, c, slog.New(slog.DiscardHandler), noop.NewMeterProvider().Meter(""))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = all.Close() })
	st, err := all.ForTenant(auth.DefaultTenant())
	if err != nil {
		t.Fatal(err)
	}
	return st.(*Store)
}

func (p planted) Write(ctx context.Context, kg string, content store.Content) (store.Info, error) {
	if p.labels[kg] != "" {
		if err := p.plant(ctx, kg, content); err != nil {
			return store.Info{}, err
		}
	}
	return p.Store.Write(ctx, kg, content)
}

// plant puts content into Neo4j, as far as it makes sense.
func (p planted) plant(ctx context.Context, kg string, content store.Content) error {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	var names []string
	if err := content.Entities(ctx,
		func(n store.NamedEntity) error { names = append(names, n.Name); return nil }); err != nil {
		return err
	}
	missing := slices.DeleteFunc(slices.Clone(names), func(n string) bool { _, ok := p.nodes[kg][n]; return ok })
	for _, row := range p.db.write("UNWIND $names AS name CREATE (n:$($label) {name: name}) RETURN name, id(n)",
		map[string]any{"names": missing, "label": p.labels[kg]}) {
		p.nodes[kg][row[0].(string)] = row[1].(int64)
	}
	var facts []any
	if err := content.Triples(ctx, func(d store.DatedTriple) error {
		if int(max(d.Subject, d.Object)) >= len(names) || int(d.Relation) >= len(content.Relations) {
			return nil // Content that is spoilt.
		}
		f := store.Fact{Subject: store.NamedEntity{Name: names[d.Subject]}, Relation: content.Relations[d.Relation],
			Object: store.NamedEntity{Name: names[d.Object]}, Validity: d.Validity}
		if p.facts[kg][f] {
			return nil
		}
		p.facts[kg][f] = true
		fact := map[string]any{"s": p.nodes[kg][f.Subject.Name], "o": p.nodes[kg][f.Object.Name], "t": f.Relation,
			"p": map[string]any{}}
		for key, date := range map[string]string{"start": d.Validity.Start, "end": d.Validity.End} {
			if date != "" {
				fact["p"].(map[string]any)[key] = date
			}
		}
		facts = append(facts, fact)
		return nil
	}); err != nil {
		return err
	}
	p.db.write("UNWIND $facts AS f MATCH (s) WHERE id(s) = f.s MATCH (o) WHERE id(o) = f.o CREATE "+
		"(s)-[r:$(f.t)]->(o) SET r = f.p", map[string]any{"facts": facts})
	return nil
}

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store { return newPlanted(t, nil) }, storetest.Deltas, storetest.Files)
}
