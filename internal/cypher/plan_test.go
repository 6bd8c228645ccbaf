package cypher_test

import (
	"testing"

	"github.com/triplemesh/triplemesh/internal/cypher"
)

func FuzzReadPlan(f *testing.F) {
	f.Add(`MATCH (d:Person)-[:DIRECTED]->(f:Film {year: 1}) WHERE NOT (d)-[:R]->()
		WITH d, count(f) AS n ORDER BY n LIMIT 1 RETURN d`)
	f.Add(`MATCH (a) WHERE a.x IN [1, "b"] OR a.y = 2 RETURN abs(a.x - a.y)`)
	f.Add(`MATCH (a) RETURN count(a) > 0`)
	f.Add(`MATCH (a)-[:R]->(b) WITH a, count(b) AS n RETURN a, n`)
	f.Add(`MATCH (a)-[:R]->(b) WITH a, count(b) AS n, b.x AS m WITH a, round(m) AS n, n AS m WHERE n > 3 RETURN m`)
	f.Add(`MATCH (a:P) OPTIONAL MATCH (a)-[:R]->(b) WITH a, count(b) AS n WHERE n = 0 RETURN a, n`)
	f.Add(`MATCH (a)-[A]-(b) WITH A, (b) AS n RETURN n`)
	f.Add(`MATCH (a)-[A]-(b) WITH (a) AS b, (b) AS a, A AS c RETURN c, a`)
	f.Fuzz(func(t *testing.T, text string) {
		plan, err := cypher.ReadPlan(text)
		if err != nil {
			return
		}
		if plan.Result.Variable == "" || len(plan.Clauses) > 64 {
			t.Errorf("%d clauses, result %q", len(plan.Clauses), plan.Result.Variable)
		}
	})
}
