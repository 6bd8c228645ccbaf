//go:build neo4j

package execute_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	"github.com/triplemesh/triplemesh/services/retriever/execute"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// TestPlansGiveTheRowsThatNeo4jGives runs 300 plans over the example graph, and the Cypher that they print
// on the server that NEO4J_URI names. It prints both medians.
func TestPlansGiveTheRowsThatNeo4jGives(t *testing.T) {
	facts := readExample(t)
	snap := openExample(t, facts)
	run := loadNeo4j(t, facts)
	random := rand.New(rand.NewPCG(20, 300))
	var own, other []time.Duration
	answered := 0
	for i := range 300 {
		p := realPlan(random, facts)
		got, err := execute.Run(t.Context(), snap, p, 10_000, execute.Limits{})
		if err != nil {
			t.Fatalf("%v: %v", p, err)
		}
		if got.Cypher == "" || len(got.Limits) > 0 {
			t.Errorf("plan %d %v: not run: %s %v", i, p, got.Reason, got.Limits)
			continue
		}
		want, _ := run(got.Cypher)
		if have := computed(snap, got); !slices.Equal(have, want) {
			t.Errorf("plan %d\n%s\ngives %d rows %.300q, Neo4j %d rows %.300q", i, got.Cypher, len(have), have,
				len(want), want)
		}
		if len(want) > 0 && want[0] != "0" && want[0] != "no" {
			answered++
		}
		started := time.Now()
		if _, err := execute.Run(t.Context(), snap, p, 100, execute.Limits{}); err != nil {
			t.Fatal(err)
		}
		own = append(own, time.Since(started))
		_, took := run(got.Cypher)
		other = append(other, took)
	}
	slices.Sort(own)
	slices.Sort(other)
	t.Logf("%d plans, %d with a result; p50 %v, p99 %v; Neo4j p50 %v, p99 %v", len(own), answered, own[len(own)/2],
		own[len(own)*99/100], other[len(other)/2], other[len(other)*99/100])
	if answered < 200 {
		t.Errorf("only %d of 300 plans have a result", answered)
	}
}

// computed returns the value, or the distinct names of the first column.
func computed(snap store.Snapshot, r *execute.Result) []string {
	if r.Value != "" {
		return []string{r.Value}
	}
	names := []string{}
	for _, row := range r.Rows {
		names = append(names, snap.EntityName(row.Cells[0]))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// namedNode is a node that a name anchors. The label lets Neo4j find it by an index.
var namedNode = regexp.MustCompile(`\(([a-z0-9_]*) ?\{name: `)

// loadNeo4j loads the graph and returns what runs a statement.
func loadNeo4j(t *testing.T, facts []store.Fact) func(string) ([]string, time.Duration) {
	t.Helper()
	const label = "TriplemeshExecuteTest"
	d, err := neo4j.NewDriverWithContext(os.Getenv("NEO4J_URI"), neo4j.NoAuth())
	if err != nil {
		t.Fatal(err)
	}
	query := func(statement string, parameters map[string]any) *neo4j.EagerResult {
		t.Helper()
		result, err := neo4j.ExecuteQuery(t.Context(), d, statement, parameters, neo4j.EagerResultTransformer)
		if err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
		return result
	}
	clear := "MATCH (n:" + label + ") CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 5000 ROWS"
	session := d.NewSession(t.Context(), neo4j.SessionConfig{})
	if _, err := session.Run(t.Context(), clear, nil); err != nil { // its transactions are its own
		t.Fatal(err)
	}
	if err := session.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	query("CREATE INDEX execute_test_name IF NOT EXISTS FOR (n:"+label+") ON (n.name)", nil)
	query("CALL db.awaitIndexes()", nil)
	nodes, edges := []any{}, map[string][]any{}
	seen := map[string]bool{}
	for _, f := range facts {
		for _, name := range []string{f.Subject.Name, f.Object.Name} {
			if !seen[name] {
				seen[name] = true
				nodes = append(nodes, execute.Properties(name))
			}
		}
		edges[f.Relation] = append(edges[f.Relation], map[string]any{"s": f.Subject.Name, "o": f.Object.Name})
	}
	for batch := range slices.Chunk(nodes, 5000) {
		query("UNWIND $batch AS p CREATE (n:"+label+") SET n = p", map[string]any{"batch": batch})
	}
	for relation, all := range edges {
		for batch := range slices.Chunk(all, 5000) {
			query("UNWIND $batch AS e MATCH (s:"+label+" {name: e.s}), (o:"+label+" {name: e.o}) MERGE (s)-[:`"+
				strings.ReplaceAll(relation, "`", "``")+"`]->(o)", map[string]any{"batch": batch})
		}
	}
	return func(statement string) ([]string, time.Duration) {
		t.Helper()
		statement = namedNode.ReplaceAllString(statement, "($1:"+label+" {name: ")
		started := time.Now()
		result := query(statement, nil)
		took := time.Since(started)
		rows := []string{}
		for _, record := range result.Records {
			switch v := record.Values[0].(type) {
			case nil:
			case bool:
				rows = append(rows, map[bool]string{true: "yes", false: "no"}[v])
			case float64:
				rows = append(rows, execute.FormatNumber(v))
			default:
				rows = append(rows, fmt.Sprint(v))
			}
		}
		slices.Sort(rows)
		return slices.Compact(rows), took
	}
}

// realPlan is a plan around a random fact: one or two relations with an exclusion, a condition, a ranking or
// a count for each, listed, counted or tested.
func realPlan(random *rand.Rand, facts []store.Fact) *graphv1.QueryPlan {
	fact := facts[random.IntN(len(facts))]
	about := func() store.Fact { // another fact of the same subject
		for range 200_000 {
			if f := facts[random.IntN(len(facts))]; f.Subject == fact.Subject {
				return f
			}
		}
		return fact
	}
	clauses := []*graphv1.QueryClause{match(v("x"), fact.Relation, e(fact.Object.Name))}
	function := []graphv1.QueryFunction{list, count, exists}[random.IntN(3)]
	switch random.IntN(8) {
	case 0: // what is left without those of another fact
		other := about()
		clauses = append(clauses, exclude(v("x"), other.Relation, e(other.Object.Name)))
	case 1: // two conditions
		other := about()
		clauses = append(clauses, match(v("x"), other.Relation, e(other.Object.Name)))
	case 2: // two steps
		other := about()
		clauses = append(clauses, match(v("x"), other.Relation, v("y")))
		return plan(function, "y", clauses...)
	case 3: // who has most of another relation, or so many
		other := about()
		r := &graphv1.QueryRank{Variable: "y", Count: true, GroupBy: "x", Descending: random.IntN(2) == 0}
		if random.IntN(2) == 0 {
			r.Operator, r.Amount = []graphv1.QueryOperator{less, equal, greater}[random.IntN(3)], uint32(random.IntN(4))
		}
		clauses = append(clauses, match(v("x"), other.Relation, v("y")), rank(r))
	case 4, 5: // dates
		day := fmt.Sprint(1955 + random.IntN(65))
		clauses = []*graphv1.QueryClause{match(v("x"), "time of spacecraft launch", v("day"))}
		if random.IntN(2) == 0 {
			clauses = append(clauses, condition("day", []graphv1.QueryOperator{less, greater}[random.IntN(2)], day))
		} else {
			clauses = append(clauses, rank(&graphv1.QueryRank{Variable: "day", Descending: random.IntN(2) == 0}))
		}
		if random.IntN(3) == 0 {
			return plan(distance, "day", clauses...)
		}
	case 6: // the reversed direction
		clauses = []*graphv1.QueryClause{match(e(fact.Subject.Name), fact.Relation, v("x"))}
	}
	return plan(function, "x", clauses...)
}
