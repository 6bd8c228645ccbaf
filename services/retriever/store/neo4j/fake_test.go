package neo4j

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.opentelemetry.io/otel/metric/noop"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
)

// memory is a graph that answers the statements of this package as Neo4j does,
// as far as this package's tests need it.
type memory struct {
	mutex sync.Mutex
	names []any
	rels  []relationship
	// asked are the statements that came; err is what they all end with.
	asked []string
	err   error
}

type relationship struct {
	from, to   int64
	kind       string
	start, end any
}

func (m *memory) query(ctx context.Context, cypher string, p map[string]any) ([][]any, error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.asked = append(m.asked, cypher)
	if err := ctx.Err(); err != nil || m.err != nil {
		return nil, errOr(err, m.err)
	}
	switch {
	case cypher == lastNode:
		return [][]any{{int64(len(m.names) - 1)}}, nil
	case cypher == allTypes:
		return m.types(), nil
	case cypher == nameIndexes:
		return nil, nil
	case strings.Contains(cypher, "IN range($from, $to)"):
		return m.page(p["from"].(int64), p["to"].(int64)), nil
	case strings.Contains(cypher, "count(r)"):
		return m.countRows(p["ids"].([]int64)), nil
	case strings.Contains(cypher, "UNION ALL"):
		return m.edges(cypher, p), nil
	case strings.Contains(cypher, "UNWIND $facts"):
		return m.confirm(p["facts"].([]any)), nil
	case strings.Contains(cypher, "COUNT {"):
		return m.degrees(p["ids"].([]int64)), nil
	}
	return nil, fmt.Errorf("not understood: %s", cypher)
}

func errOr(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (m *memory) types() (rows [][]any) {
	seen := map[string]bool{}
	for _, r := range m.rels {
		if !seen[r.kind] {
			rows = append(rows, []any{r.kind})
		}
		seen[r.kind] = true
	}
	return rows
}

func (m *memory) page(from, to int64) (rows [][]any) {
	for id := from; id <= min(to, int64(len(m.names)-1)); id++ {
		rows = append(rows, []any{id, m.names[id]})
	}
	return rows
}

// ends are those of a relationship, the one asked from first.
func (r relationship) ends(in bool) (from, to int64) {
	if in {
		return r.to, r.from
	}
	return r.from, r.to
}

func (m *memory) edges(cypher string, p map[string]any) (rows [][]any) {
	in := strings.Contains(cypher, "<-[")
	of, _ := p["of"].([]string)
	ids := p["ids"].([]int64)
	for _, id := range ids {
		rows = append(rows, []any{id, m.names[id], nil, nil, nil})
	}
	limit := p["limit"].(int)
	count := 0
	// In no order that means anything.
	for _, r := range slices.Backward(m.rels) {
		from, to := r.ends(in)
		if !slices.Contains(ids, from) || of != nil && !slices.Contains(of, r.kind) {
			continue
		}
		// A list of several rows of one type means the same.
		rows = append(rows, []any{from, nil, nil, r.kind, []any{[]any{to, m.names[to], r.start, r.end}}})
		if count++; count == limit {
			break
		}
	}
	return rows
}

func (m *memory) confirm(facts []any) (rows [][]any) {
	for _, f := range facts {
		fact := f.(map[string]any)
		for _, r := range m.rels {
			if r.from == fact["s"] && r.to == fact["o"] && slices.Contains(fact["types"].([]string), r.kind) {
				rows = append(rows, []any{int64(fact["i"].(int)), m.names[r.from], m.names[r.to], r.start, r.end})
			}
		}
	}
	return rows
}

func (m *memory) degrees(ids []int64) (rows [][]any) {
	for _, id := range ids {
		counts := [2]int64{}
		for _, r := range m.rels {
			for dir, end := range []int64{r.from, r.to} {
				if end == id {
					counts[dir]++
				}
			}
		}
		rows = append(rows, []any{id, counts[0], counts[1]})
	}
	return rows
}

func (m *memory) countRows(ids []int64) (rows [][]any) {
	for _, in := range []bool{false, true} {
		counts := map[int64]map[string]int64{}
		for _, r := range m.rels {
			from, _ := r.ends(in)
			if counts[from] == nil {
				counts[from] = map[string]int64{}
			}
			counts[from][r.kind]++
		}
		for _, id := range ids {
			for kind, n := range counts[id] {
				dir := store.Out
				if in {
					dir = store.In
				}
				rows = append(rows, []any{id, m.names[id], int64(dir), kind, n})
			}
		}
	}
	return rows
}

// plant puts content into the graph; what is there already stays.
func (m *memory) plant(ctx context.Context, content store.Content) error {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	at := map[any]int64{}
	for id, name := range m.names {
		at[name] = int64(id)
	}
	var names []string
	if err := content.Entities(ctx, func(n store.NamedEntity) error {
		names = append(names, n.Name)
		if _, ok := at[n.Name]; !ok {
			at[n.Name] = int64(len(m.names))
			m.names = append(m.names, n.Name)
		}
		return nil
	}); err != nil {
		return err
	}
	return content.Triples(ctx, func(d store.DatedTriple) error {
		if int(max(d.Subject, d.Object)) >= len(names) || int(d.Relation) >= len(content.Relations) {
			return nil // Content that is spoilt.
		}
		r := relationship{from: at[names[d.Subject]], to: at[names[d.Object]], kind: content.Relations[d.Relation]}
		if d.Validity.Start != "" {
			r.start = d.Validity.Start
		}
		if d.Validity.End != "" {
			r.end = d.Validity.End
		}
		if !slices.Contains(m.rels, r) {
			m.rels = append(m.rels, r)
		}
		return nil
	})
}

// inMemory is a store whose graphs are put into memory when they are written.
type inMemory struct {
	*Store
	graphs map[string]*memory
}

// suiteGraphs are the knowledge graphs that the suite uses.
var suiteGraphs = []string{"world", "many", "ties", "spoilt", "kinds", "bare", "none", "alone"}

func newInMemory(t testing.TB) inMemory {
	t.Helper()
	c := Config{Graphs: map[string]Graph{}}
	for _, kg := range suiteGraphs {
		c.Graphs[kg] = Graph{URI: "bolt://127.0.0.1:1"}
	}
	all, err := NewTenants(t.TempDir(), c, slog.New(slog.DiscardHandler), noop.NewMeterProvider().Meter(""))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = all.Close() })
	st, err := all.ForTenant(auth.DefaultTenant())
	if err != nil {
		t.Fatal(err)
	}
	s := inMemory{st.(*Store), map[string]*memory{}}
	for _, kg := range suiteGraphs {
		s.graphs[kg] = &memory{}
		s.Store.graphs[kg].reader = s.graphs[kg]
	}
	return s
}

func (s inMemory) Write(ctx context.Context, kg string, content store.Content) (store.Info, error) {
	if m := s.graphs[kg]; m != nil {
		if err := m.plant(ctx, content); err != nil {
			return store.Info{}, err
		}
	}
	return s.Store.Write(ctx, kg, content)
}

func TestWithoutAServer(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store { return newInMemory(t) }, storetest.Deltas, storetest.Files)
}

func TestTenants(t *testing.T) {
	storetest.RunTenants(t, func(t *testing.T) store.Tenants {
		all, err := NewTenants(t.TempDir(), Config{}, slog.New(slog.DiscardHandler), noop.NewMeterProvider().Meter(""))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = all.Close() })
		return all
	})
}
