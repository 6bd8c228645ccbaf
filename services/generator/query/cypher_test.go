package query_test

import (
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/services/generator/query"
)

func TestReadCypher(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"a kind and a name", `MATCH (f:Film)-[:DIRECTED_BY]->(p:Person {name: "Mara Vell"}) RETURN f.title`,
			"?film type → film; ?film directed by → Mara Vell; ?film"},
		{"an arrow to the left", `MATCH (p:Person {name: "Mara Vell"})-[:DIRECTED]->(f)<-[:ACTED_IN]-(a) RETURN a.name`,
			"?person is Mara Vell; ?person directed → ?f; ?a acted in → ?f; ?a"},
		{"a count", `MATCH (f:Film {language: "French"}) WHERE f.year > 1990 RETURN count(DISTINCT f) AS n`,
			"?film type → film; ?film language → French; ?film year → ?year; ?year > 1990; count ?film"},
		{"the count of all rows", `MATCH (f)-[:GENRE]->(:Genre {name: "drama"}) RETURN count(*)`,
			"?f genre → drama; count ?f"},
		{"a superlative", `MATCH (s:State) RETURN s.name ORDER BY s.populationDensity DESC LIMIT 1`,
			"?state type → state; ?state population density → ?population_density; most ?population_density; ?state"},
		{"the first three", `MATCH (s:State) RETURN s.name, s.area ORDER BY s.area LIMIT 3`,
			"?state type → state; ?state area → ?area; least 3 ?area; ?state"},
		{"a superlative of counts",
			`MATCH (d:Person)-[:DIRECTED]->(f:Film) RETURN d.name, count(f) AS n ORDER BY n DESC LIMIT 1`,
			"?person type → person; ?film type → film; ?person directed → ?film; most ?film for each ?person; ?person"},
		{"a ranking that goes on",
			`MATCH (s:State) WITH s ORDER BY s.area DESC LIMIT 1 MATCH (c)-[:CAPITAL_OF]->(s) RETURN c`,
			"?state type → state; ?state area → ?area; most ?area; ?c capital of → ?state; ?c"},
		{"an exclusion",
			`MATCH (p)-[:MEMBER_OF]->(:Band {name: "A"}) WHERE NOT (p)-[:PLAYS]->({name: "drums"}) RETURN p`,
			"?p member of → A; not ?p plays → drums; ?p"},
		{"an exclusion as a subquery",
			`MATCH (p)-[:IN]->({name: "A"}) WHERE NOT EXISTS { MATCH (p)-[:IN]->({name: "B"}) } RETURN p`,
			"?p in → A; not ?p in → B; ?p"},
		{"names by a condition", `MATCH (a)-[:BORDERS]->(b) WHERE b.name = "Kansas" AND a.name <> "Texas" RETURN a`,
			"?a borders → ?b; ?b is Kansas; ?a ≠ Texas; ?a"},
		{"one of several names", `MATCH (f)-[:BY]->(p) WHERE p.name IN ["A", "B"] RETURN f`,
			"?f by → ?p; ?p is A or B; ?f"},
		{"one of several names by OR", `MATCH (p) WHERE p.name = "A" OR p.name = "B" RETURN p.age`,
			"?p is A or B; ?p age → ?age; ?age"},
		{"a range", `MATCH (f:Film) WHERE 1990 <= f.year AND f.year < 2000 RETURN f`,
			"?film type → film; ?film year → ?year; ?year ≥ 1990; ?year < 2000; ?film"},
		{"the year of a date", `MATCH (f:Film) WHERE f.released.year = 1999 RETURN f`,
			"?film type → film; ?film released → ?released; ?released = 1999; ?film"},
		{"two values of two things", `MATCH (a {name: "A"}), (b {name: "B"}) WHERE a.area > b.area RETURN a`,
			"?a is A; ?b is B; ?a area → ?area; ?b area → ?area2; ?area > ?area2; ?a"},
		{"a difference", `MATCH (a {name: "A"}), (b {name: "B"}) RETURN abs(a.area - b.area) AS d`,
			"?a is A; ?b is B; ?a area → ?area; ?b area → ?area2; difference of ?area and ?area2"},
		{"a mean", `MATCH (c:City) RETURN avg(c.population)`,
			"?city type → city; ?city population → ?population; average of ?population"},
		{"yes or no", `MATCH (:Film {title: "A"})-[:DIRECTED_BY]->(p {name: "B"}) RETURN count(p) > 0 AS answer`,
			"?film is A; ?p is B; ?film directed by → ?p; is there any"},
		{"yes or no by a comparison", `MATCH (a {name: "A"}), (b {name: "B"}) RETURN a.area > b.area`,
			"?a is A; ?b is B; ?a area → ?area; ?b area → ?area2; ?area > ?area2; is there any"},
		{"what is not known", `MATCH (p:Person) WHERE p.died IS NULL RETURN p`,
			"?person type → person; not ?person died → ?died; ?person"},
		{"a text in any case", `MATCH (f:Film) WHERE toLower(f.genre) CONTAINS "drama" RETURN f`,
			"?film type → film; ?film genre → drama; ?film"},
		{"a value that WITH names", `MATCH (f:Film) WITH f, f.year AS y WHERE y > 1990 RETURN f`,
			"?film type → film; ?film year → ?year; ?year > 1990; ?film"},
		{"a condition on a count", `MATCH (a)-[:R]->(b) WITH a, count(b) AS n WHERE n > 3 RETURN a, n`,
			"?a r → ?b; ?a has > 3 ?b; ?a"},
		{"a condition on a count by its other side",
			`MATCH (a)-[:R]->(b) WITH a, count(*) AS n WHERE 2 <= n RETURN count(a)`,
			"?a r → ?b; ?a has ≥ 2 ?b; count ?a"},
		{"how many there are of so many", `MATCH (a)-[:R]->(b) WITH a, count(b) AS n WHERE n > 3 RETURN count(*)`,
			"?a r → ?b; ?a has > 3 ?b; count ?a"},
		{"a group without any", `MATCH (d:Person) OPTIONAL MATCH (d)-[:DIRECTED]->(f) WITH d, count(f) AS n
			WHERE n = 0 RETURN d.name`,
			"?person type → person; ?person directed → ?f; ?person has = 0 ?f; ?person"},
		{"the least of optional ones", `MATCH (d:Person) OPTIONAL MATCH (d)-[:DIRECTED]->(f) RETURN d, count(f) AS n
			ORDER BY n LIMIT 1`, "?person type → person; ?person directed → ?f; least ?f for each ?person; ?person"},
		{"a count for each", `MATCH (m:Mountain)-[:COUNTRY]->(c) RETURN c.name, count(m) AS n ORDER BY n DESC`,
			"?mountain type → mountain; ?mountain country → ?c; count ?mountain for each ?c"},
		{"a count of all rows for each", `MATCH (m)-[:COUNTRY]->(c) RETURN c, count(*)`,
			"?m country → ?c; count ?m for each ?c"},
		{"a mean for each value", `MATCH (m:Mountain) WITH m.country AS c, avg(m.height) AS h RETURN c, h`,
			"?mountain type → mountain; ?mountain country → ?country; ?mountain height → ?height; " +
				"average of ?height for each ?country"},
		{"a count for each, that may be none",
			`MATCH (d:Person) OPTIONAL MATCH (d)-[:DIRECTED]->(f) RETURN d, count(f)`,
			"?person type → person; ?person directed → ?f; count ?f for each ?person"},
		{"a count of the groups themselves", `MATCH (a)-[:R]->(b) RETURN b, count(b)`, "?a r → ?b; ?b"},
		{"lists for each", `MATCH (a)-[:R]->(b) RETURN a, collect(b)`, "?a r → ?b; ?a"},
		{"what may lack and is not asked for", `MATCH (d:Person) OPTIONAL MATCH (d)-[:DIRECTED]->(f) RETURN d, f`,
			"?person type → person; ?person"},
		{"what may lack and is asked for", `MATCH (d {name: "A"}) OPTIONAL MATCH (d)-[:DIRECTED]->(f) RETURN count(f)`,
			"?d is A; ?d directed → ?f; count ?f"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			plan, err := query.Read(c.text)
			if got := strings.Join(kgtext.DescribePlan(plan.Plan), "; "); err != nil || got != c.want {
				t.Errorf("got  %s, %v\nwant %s", got, err, c.want)
			}
		})
	}
}

func TestReadCypherRefusesWhatAPlanCannotHold(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"a syntax error", `MATCH (a RETURN a`, "expected"},
		{"a union", `MATCH (a) RETURN a UNION MATCH (b) RETURN b AS a`, "UNION"},
		{"what writes", `MATCH (a) DELETE a`, "not MATCH, WITH or RETURN"},
		{"what creates", `CREATE (a:B {name: "x"}) RETURN a`, "not MATCH"},
		{"any length", `MATCH (a)-[:R*]->(b) RETURN b`, "variable length"},
		{"zero of a count with conditions", `MATCH (a:P) OPTIONAL MATCH (a)-[:R]->(b) WHERE b.year > 1990
			WITH a, count(b) AS n WHERE n = 0 RETURN a`, "a count over an OPTIONAL MATCH"},
		{"zero of what nothing restricts", `MATCH (a) OPTIONAL MATCH (a)-[:R]->(b) WITH a, count(b) AS n
			WHERE n = 0 RETURN a`, "a count over an OPTIONAL MATCH"},
		{"a condition on a sum", `MATCH (a)-[:R]->(b) WITH a, sum(b.x) AS n WHERE n > 3 RETURN a`, "on sum()"},
		{"a count that is a text", `MATCH (a)-[:R]->(b) WITH a, count(b) AS n WHERE n > "x" RETURN a`, "whole number"},
		{"two counts", `MATCH (a)-[:R]->(b) WITH a, count(b) AS n WHERE n > 3 AND n < 9 RETURN a`, "two comparisons"},
		{"a choice of conditions", `MATCH (a) WHERE a.x = 1 OR a.y = 2 RETURN a`, "OR of different"},
		{"no result", `MATCH (a)`, "RETURN"},
		{"parameters", `MATCH (a {name: $x}) RETURN a`, "no text or number"},
		{"a procedure", `CALL db.labels() YIELD label RETURN label`, "no procedure"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if plan, err := query.Read(c.text); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, %v; want %q", kgtext.DescribePlan(plan.Plan), err, c.want)
			}
		})
	}
}
