package cypher

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// show writes a value for tests; the order of map keys is fixed.
func show(v Value) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return "'" + v + "'"
	case []Value:
		items := make([]string, len(v))
		for i, item := range v {
			items[i] = show(item)
		}
		return "[" + strings.Join(items, ", ") + "]"
	case map[string]Value:
		items := []string{}
		for _, k := range sortedKeys(v) {
			items = append(items, k+": "+show(v[k]))
		}
		return "{" + strings.Join(items, ", ") + "}"
	case *Node:
		return "(" + strings.Join(append([]string{""}, v.Labels()...), ":") + showProps(v.Properties()) + ")"
	case *Relationship:
		return "[:" + v.Type() + showProps(v.Properties()) + "]"
	case *Path:
		s := show(v.Nodes[0])
		for i, r := range v.Relationships {
			s += show(r) + show(v.Nodes[i+1])
		}
		return "<" + s + ">"
	}
	return Format(v)
}

func showProps(props []Property) string {
	items := []string{}
	for _, p := range props {
		items = append(items, p.Key+": "+show(p.Value))
	}
	if len(items) == 0 {
		return ""
	}
	return " {" + strings.Join(items, ", ") + "}"
}

func showRows(rows [][]Value) string {
	lines := make([]string, len(rows))
	for i, r := range rows {
		cells := make([]string, len(r))
		for j, v := range r {
			cells[j] = show(v)
		}
		lines[i] = strings.Join(cells, " ")
	}
	return strings.Join(lines, " | ")
}

func TestRun(t *testing.T) {
	for _, test := range []struct{ name, setup, query, want string }{
		{"a created path can be returned", "", "CREATE p = (:A {n: 1})<-[:R {m: 2}]-() RETURN p",
			"<(:A {n: 1})[:R {m: 2}]()>"},
		{"a clause does not see its own writes", "CREATE (), ()",
			"MATCH (n) CREATE () WITH n MATCH (m) RETURN count(*)", "8"},
		{"match follows a path both ways", "CREATE (:A)-[:R]->(:B)-[:R]->(:C)",
			"MATCH (a:A)-[:R*2]-(c) MATCH (c)<--(b)<--(a) RETURN labels(b)", "['B']"},
		{"a relationship matches once in a pattern", "CREATE (a)-[:R]->(b)", "MATCH (a)--(b)--(c) RETURN count(*)",
			"0"},
		{"what comes in at a node is no loop there", "CREATE (:A)-[:R]->(b:B), (b)-[:R]->(), (b)-[:R]->()",
			"MATCH (b:B) MATCH (b)-[:R]->(b) RETURN count(*)", "0"},
		{"merge makes a loop where something else comes in", "CREATE (:A)-[:R]->(b:B), (b)-[:R]->(), (b)-[:R]->()",
			"MATCH (b:B) MERGE (b)-[r:R]->(b) RETURN startNode(r) = endNode(r)", "true"},
		{"the far end may be known already", "CREATE (h:H), (x:X) WITH h, x UNWIND range(1, 9) AS i CREATE " +
			"(h)-[:R]->() CREATE (h)-[:R {k: i}]->(x)", "MATCH (x:X), (h:H) MATCH (h)-[r:R]->(x) RETURN count(r)", "9"},
		{"properties of a pattern may read its other nodes", "CREATE ({i: 1})-[:R]->({j: 1}), ({i: 2})-[:R]->({j: 3})",
			"MATCH (b {j: a.i})<--(a) RETURN a.i", "1"},
		{"numbers are found by value and not by type", "CREATE ({n: 1}), ({n: 1.5})", "MATCH (a {n: 1.0}) RETURN a.n",
			"1"},
		{"the index follows changed properties", "CREATE (a {n: 'x'}) SET a.n = 'y' CREATE (b {n: 'z'}) DELETE b",
			"MATCH (a) WHERE NOT (a {n: 'y'})--() RETURN [(a)--() | 1], size([x IN ['x', 'y', 'z'] WHERE x = a.n])",
			"[] 1"},
		{"optional match keeps what was bound", "CREATE (:A)",
			"MATCH (a:A) OPTIONAL MATCH p = (a)-[r]->(b) RETURN a, r, b, p", "(:A) null null null"},
		{"merge writes the whole path or nothing", "CREATE (:A)", "MERGE (a:A)-[:R]->(b:B) RETURN count(*)", "1"},
		{"merge sees what earlier rows wrote", "", "UNWIND [1, 2, 1] AS i MERGE (n {i: i}) ON CREATE SET n.c = 1 ON " +
			"MATCH SET n.m = 1 RETURN n.i, n.c, n.m", "1 1 1 | 2 1 null | 1 1 1"},
		{"set replaces or adds by a map", "CREATE (:A {a: 1, b: 2})",
			"MATCH (n) SET n += {b: null, c: 3} WITH n, properties(n) AS p SET n = {d: 4} RETURN p, n",
			"{a: 1, c: 3} (:A {d: 4})"},
		{"set takes a property of an expression", "CREATE ({a: 1})",
			"MATCH (n) SET (n).a = n.a + 1 REMOVE n.b RETURN n.a", "2"},
		{"remove takes labels and properties", "CREATE (:A:B {x: 1, y: 2})", "MATCH (n) REMOVE n:A, n.x RETURN n",
			"(:B {y: 2})"},
		{"delete reaches into lists and maps", "CREATE (:A), (:B)",
			"MATCH (n) WITH {k: collect(n)} AS m DELETE m.k[0] WITH 1 AS x MATCH (n) RETURN labels(n)", "['B']"},
		{"delete takes paths", "CREATE (:A)-[:R]->(:B)-[:R]->(:C)",
			"MATCH p = (:A)-->()-->() DELETE p WITH count(*) AS x OPTIONAL MATCH (n) RETURN x, count(n)", "1 0"},
		{"aggregates group by what stands beside them", "CREATE ({g: 'a', v: 1}), ({g: 'b', v: 2}), ({g: 'a', v: 3})",
			"MATCH (n) RETURN n.g, sum(n.v) + 1, collect(n.v), avg(n.v), min(n.v), max(n.v) ORDER BY n.g",
			"'a' 5 [1, 3] 2.0 1 3 | 'b' 3 [2] 2.0 2 2"},
		{"percentiles and deviations", "", "UNWIND [10.0, 20.0, 30.0] AS x RETURN percentileDisc(x, 0.5), " +
			"percentileCont(x, 0.25), stDev(x), stDevP(DISTINCT x)", "20.0 15.0 10.0 8.16496580927726"},
		{"order by sees old and new variables", "CREATE ({a: 1, b: 3}), ({a: 2, b: 2})",
			"MATCH (n) WITH n.a AS x ORDER BY n.b LIMIT 1 RETURN x", "2"},
		{"with filters after sorting and cutting", "",
			"UNWIND [3, 1, 2] AS x WITH x ORDER BY x DESC SKIP 1 WHERE x > 1 RETURN x", "2"},
		{"union drops duplicates", "", "RETURN 1 AS x UNION RETURN 2 AS x UNION RETURN 1 AS x", "1 | 2"},
		{"union all keeps duplicates", "", "RETURN 1 AS x UNION ALL RETURN 1 AS x", "1 | 1"},
		{"null is neither true nor false", "", "RETURN null AND false, null OR true, NOT null, null XOR true, null = " +
			"null, 1 IN [null], null IS NULL", "false true null null null null true"},
		{"comparisons chain", "", "RETURN 1 < 2 <= 2 <> 3, 3 > 2 > 2, 'a' < 1", "true false null"},
		{"a sign binds more than a power", "", "RETURN -3 ^ 2, 2 ^ 3 ^ 2, 7 / 2, -7 % 3, 7 / 2.0, 1 + 2 * 3",
			"9.0 64.0 3 -1 3.5 7"},
		{"the smallest integer can be written", "", "RETURN -9223372036854775808, 0x1F, 0o17, .5e1",
			"-9223372036854775808 31 15 5.0"},
		{"a long sum is no deep one", "", "RETURN 1" + strings.Repeat(" + 1", 240) + ", true" +
			strings.Repeat(" AND true", 240), "241 true"},
		{"escapes and both quotes", "", `RETURN 'it\'s', "say \"x\"", '\u00e9\n'`, "'it's' 'say \"x\"' 'é\n'"},
		{"strings are compared and cut", "",
			"RETURN 'abc' STARTS WITH 'ab', 'abc' ENDS WITH 'b', 'abc' CONTAINS 'b', 'abc' =~ 'a.c', " +
				"substring('hello', 1, 3), split('a,b', ','), toUpper('é'), left('abc', 2), right('abc', 2), " +
				"replace('aa', 'a', 'b'), trim(' x '), reverse('ab')",
			"true false true true 'ell' ['a', 'b'] 'É' 'ab' 'bc' 'bb' 'x' 'ba'"},
		{"conversions give null for what they cannot read", "",
			"RETURN toInteger('3.9'), toInteger('x'), toFloat('2'), toBoolean('TRUE'), toString(1.0), toString(true)",
			"3 null 2.0 true '1.0' 'true'"},
		{"lists are indexed from both ends and sliced", "",
			"WITH [1, 2, 3, 4] AS l RETURN l[0], l[-1], l[9], l[1..3], l[..-1], l[2..], head(l), last(l), tail(l), " +
				"size(l), reverse(l)", "1 4 null [2, 3] [1, 2, 3] [3, 4] 1 4 [2, 3, 4] 4 [4, 3, 2, 1]"},
		{"ranges go up and down", "", "RETURN range(0, 4, 2), range(3, 1, -1), range(1, 0)", "[0, 2, 4] [3, 2, 1] []"},
		{"comprehensions filter and map", "", "RETURN [x IN range(1, 5) WHERE x % 2 = 1 | x * x], reduce(s = 0, x IN " +
			"[1, 2, 3] | s + x)", "[1, 9, 25] 6"},
		{"quantifiers leave open what null leaves open", "", "RETURN all(x IN [1, null] WHERE x > 0), any(x IN [1, " +
			"null] WHERE x > 0), none(x IN [] WHERE x), single(x IN [1, 2] WHERE x = 2)", "null true true true"},
		{"case compares or tests", "", "RETURN CASE 2 WHEN 1 THEN 'a' WHEN 2 THEN 'b' END, CASE WHEN false THEN 1 " +
			"ELSE 2 END", "'b' 2"},
		{"maps are read by key", "", "WITH {a: {b: [1]}} AS m RETURN m.a.b[0], m['a'], m.x, keys(m)",
			"1 {b: [1]} null ['a']"},
		{"patterns are predicates and lists", "CREATE (a:A)-[:R]->(b:B {n: 1})",
			"MATCH (a:A) WHERE (a)-->(:B) AND NOT (a)<--() RETURN [(a)-->(b) WHERE b.n = 1 | b.n], exists((a)--()), " +
				"EXISTS { MATCH (a)-->(x) WHERE x.n > 1 }", "[1] true false"},
		{"dates and durations are computed with", "",
			"WITH date('1984-01-31') AS d RETURN d + duration({months: 1}), d.year, " +
				"duration('P1DT2H') + duration({hours: 30}), localtime('10:35') + duration({minutes: 30}), " +
				"datetime({year: 2000, timezone: '+01:00'})", "1984-02-29 1984 P1DT32H 11:05 2000-01-01T00:00+01:00"},
		{"functions of entities", "CREATE (:A {k: 1})-[:R]->(:B)",
			"MATCH p = (a:A)-[r]->(b) RETURN type(r), labels(startNode(r)), labels(endNode(r)), length(p), keys(a), " +
				"id(a) = 0, nodes(p)[1] = b, relationships(p) = [r], coalesce(null, 2)",
			"'R' ['A'] ['B'] 1 ['k'] true true true 2"},
		{"numbers have functions", "", "RETURN abs(-1), sign(-2.5), ceil(1.2), floor(-1.2), round(2.5), sqrt(4), " +
			"toInteger(log10(100))", "1 -1 2.0 -2.0 3.0 2.0 2"},
		{"values of all types have an order", "", "UNWIND [null, 1, 'a', true, [1], {a: 1}, 0.0 / 0.0, 0.5] AS x " +
			"RETURN x ORDER BY x", "{a: 1} | [1] | 'a' | true | 0.5 | 1 | NaN | null"},
		{"distinct knows equal numbers and nulls", "", "UNWIND [1, 1.0, null, null, [1], [1.0], {a: null}, {a: " +
			"null}] AS x RETURN DISTINCT x", "1 | null | [1] | {a: null}"},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := NewGraph(Limits{})
			if test.setup != "" {
				if _, err := g.Run(t.Context(), test.setup, nil); err != nil {
					t.Fatalf("setup: %v", err)
				}
			}
			result, err := g.Run(t.Context(), test.query, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := showRows(result.Rows); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

func TestErrors(t *testing.T) {
	for _, test := range []struct{ name, query, want string }{
		{"a variable is not defined", "MATCH (n)\nRETURN m", "2:8 SyntaxError UndefinedVariable compile time"},
		{"columns count characters and not bytes", "RETURN 'éé', x", "1:14 SyntaxError UndefinedVariable compile time"},
		{"a clause is unknown", "FETCH (n)", "1:1 SyntaxError UnexpectedSyntax compile time"},
		{"the query ends early", "MATCH (n", "1:9 SyntaxError UnexpectedSyntax compile time"},
		{"a string does not end", "RETURN 'x", "1:8 SyntaxError UnexpectedSyntax compile time"},
		{"a number holds letters", "RETURN 12ab", "1:8 SyntaxError InvalidNumberLiteral compile time"},
		{"an integer is too large", "RETURN 9223372036854775808", "1:8 SyntaxError IntegerOverflow compile time"},
		{"a float is too large", "RETURN 1e999", "1:8 SyntaxError FloatingPointOverflow compile time"},
		{"an escape is none", `RETURN '\u12x4'`, "1:8 SyntaxError InvalidUnicodeLiteral compile time"},
		{"a dash is no minus", "RETURN 1 — 2", "1:10 SyntaxError InvalidUnicodeCharacter compile time"},
		{"match cannot end a query", "MATCH (n)", "1:1 SyntaxError InvalidClauseComposition compile time"},
		{"reading needs WITH after writing", "CREATE (a) MATCH (b) RETURN b",
			"1:12 SyntaxError InvalidClauseComposition compile time"},
		{"union and union all do not mix", "RETURN 1 AS x UNION RETURN 2 AS x UNION ALL RETURN 3 AS x",
			"1:45 SyntaxError InvalidClauseComposition compile time"},
		{"create needs a direction", "CREATE (a)-[:R]-(b)",
			"1:11 SyntaxError RequiresDirectedRelationship compile time"},
		{"create needs one type", "CREATE (a)-[:R|S]->(b)", "1:11 SyntaxError NoSingleRelationshipType compile time"},
		{"a length needs its star", "MATCH (a)-[:R..2]->(b) RETURN a",
			"1:14 SyntaxError InvalidRelationshipPattern compile time"},
		{"a created node is declared once", "CREATE (a) CREATE (a {})-[:R]->()",
			"1:19 SyntaxError VariableAlreadyBound compile time"},
		{"a path cannot take a node's name", "MATCH (p) MATCH p = ()--() RETURN p",
			"1:17 SyntaxError VariableAlreadyBound compile time"},
		{"a relationship cannot take a node's name", "MATCH (r)-[r]-() RETURN r",
			"1:10 SyntaxError VariableTypeConflict compile time"},
		{"a pattern is no value", "MATCH (n) RETURN (n)-->()", "1:18 SyntaxError UnexpectedSyntax compile time"},
		{"a pattern predicate declares nothing", "MATCH (n) WHERE (n)-[r]->() RETURN n",
			"1:20 SyntaxError UndefinedVariable compile time"},
		{"a function has a number of arguments", "RETURN size()",
			"1:8 SyntaxError InvalidNumberOfArguments compile time"},
		{"length is of paths", "MATCH (n) RETURN length(n)", "1:25 SyntaxError InvalidArgumentType compile time"},
		{"a number is no truth", "RETURN 1 AND true", "1:8 SyntaxError InvalidArgumentType compile time"},
		{"a number cannot be deleted", "MATCH () DELETE 1 + 1", "1:17 SyntaxError InvalidArgumentType compile time"},
		{"an aggregate does not stand in an aggregate", "RETURN count(count(*))",
			"1:14 SyntaxError NestedAggregation compile time"},
		{"an aggregate does not stand in a comprehension", "MATCH (n) RETURN [x IN [1] | count(*)]",
			"1:30 SyntaxError InvalidAggregation compile time"},
		{"an aggregate is of what does not change", "RETURN count(rand())",
			"1:14 SyntaxError NonConstantExpression compile time"},
		{"a property holds no map", "CREATE (a) SET a.x = [{y: 1}]", "1:16 TypeError InvalidPropertyType compile time"},
		{"a property holds no map that is found at run time", "WITH {y: 1} AS m CREATE ({x: m})",
			"1:30 TypeError InvalidPropertyType runtime"},
		{"there are no procedures", "CALL db.labels() YIELD label RETURN label",
			"1:1 ProcedureError ProcedureNotFound compile time"},
		{"a parameter is missing", "RETURN $x", "1:8 ParameterMissing MissingParameter runtime"},
		{"a deleted node is not read", "CREATE (a) DELETE a RETURN a.x",
			"1:28 EntityNotFound DeletedEntityAccess runtime"},
		{"a node with relationships stays", "CREATE (a)-[:R]->() DELETE a",
			"1:28 ConstraintVerificationFailed DeleteConnectedNode runtime"},
		{"a range does not stand still", "RETURN range(1, 2, 0)", "1:8 ArgumentError NumberOutOfRange runtime"},
		{"a list is indexed by integers", "WITH [1] AS l, 'a' AS i RETURN l[i]",
			"1:32 TypeError InvalidArgumentType runtime"},
		{"division by zero", "RETURN 1 / 0", "1:8 ArithmeticError DivisionByZero runtime"},
		{"a sum is too large", "RETURN 9223372036854775807 + 1", "1:8 ArithmeticError IntegerOverflow runtime"},
		{"merge does not take null", "MERGE (a {x: null})", "1:14 SemanticError MergeReadOwnWrites runtime"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := NewGraph(Limits{}).Run(t.Context(), test.query, nil)
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("got %v", err)
			}
			if got := fmt.Sprintf("%d:%d %s %s %s", e.Line, e.Column, e.Kind, e.Detail, e.Phase); got != test.want {
				t.Errorf("got %s (%s), want %s", got, e.Message, test.want)
			}
		})
	}
}

// wide is a row of n columns.
func wide(n int) string {
	columns := make([]string, n)
	for i := range columns {
		columns[i] = fmt.Sprintf("a AS c%d", i)
	}
	return strings.Join(columns, ", ")
}

func TestLimits(t *testing.T) {
	deep := strings.Repeat("(", 500) + "1" + strings.Repeat(")", 500)
	for _, test := range []struct {
		name, query string
		limits      Limits
		what        string
	}{
		{"nodes", "UNWIND range(1, 99) AS i CREATE ()", Limits{Nodes: 10}, "nodes"},
		{"relationships", "CREATE (a) WITH a UNWIND range(1, 99) AS i CREATE (a)-[:R]->(a)", Limits{Relationships: 10},
			"relationships"},
		{"rows", "UNWIND range(1, 99) AS i UNWIND range(1, 99) AS j RETURN i", Limits{Rows: 1000}, "rows"},
		{"steps", "UNWIND range(1, 9) AS a UNWIND range(1, 9) AS b RETURN size([x IN range(1, 1000) WHERE x > a])",
			Limits{Steps: 5000}, "steps"},
		{"a list that doubles", "WITH [1] AS l " + strings.Repeat("WITH l + l AS l ", 60) + "RETURN size(l)", Limits{},
			"elements in a list"},
		{"a string that doubles", "WITH 'x' AS s " + strings.Repeat("WITH s + s AS s ", 60) + "RETURN size(s)",
			Limits{}, "bytes in a string"},
		{"strings that are kept", "WITH 'x' AS s " + strings.Repeat("WITH s + s AS s ", 19) +
			"UNWIND range(1, 1000) AS i CREATE ({v: s + toString(i)})", Limits{}, "bytes of memory"},
		{"lists that are kept", "WITH range(1, 1000000) AS l UNWIND range(1, 1000) AS i CREATE ({v: l + [i]})",
			Limits{}, "bytes of memory"},
		{"lists that are collected", "UNWIND range(1, 3000) AS i WITH range(1, 1000) AS l, i RETURN collect([x IN l " +
			"WHERE x > i])", Limits{}, "bytes of memory"},
		{"a text that is split over and over", "WITH 'x' AS s " + strings.Repeat("WITH s + s AS s ", 18) +
			"UNWIND range(1, 1000) AS i CREATE ({v: split(s, '')})", Limits{}, "bytes of memory"},
		{"wide rows", "UNWIND range(1, 300) AS a UNWIND range(1, 300) AS b WITH " + wide(40) + " RETURN count(*)",
			Limits{}, "bytes of memory"},
		{"a long pattern", "RETURN 'a' =~ '" + strings.Repeat("a?", 600) + "'", Limits{}, "bytes in a pattern"},
		{"a pattern that stands for a long one, on a long text", "WITH 'a' AS s " + strings.Repeat("WITH s + s AS s ",
			19) + "RETURN s =~ '(" + strings.Repeat("a{0,1000}", 50) + ")*b'", Limits{}, "steps"},
		{"a range without end", "UNWIND range(1, 9223372036854775807) AS i RETURN i", Limits{}, "elements in a list"},
		{"text without end", strings.Repeat("CREATE (a) ", 1<<19), Limits{}, "bytes of query"},
		{"values in values", "WITH [1] AS l " + strings.Repeat("WITH [l] AS l ", 300) + "RETURN DISTINCT l", Limits{},
			"levels of nesting"},
		{"values shared over and over", "WITH [1] AS l " + strings.Repeat("WITH [l, l] AS l ", 60) + "RETURN l = l",
			Limits{Steps: 100_000}, "steps"},
		{"parentheses in parentheses", "RETURN " + deep, Limits{}, "levels of nesting"},
		{"operators in a row", "RETURN 1" + strings.Repeat(" + 1", 5000), Limits{}, "operators in a row"},
		{"paths without end", "CREATE (a) WITH a UNWIND range(1, 12) AS i CREATE (a)-[:R]->(a) WITH DISTINCT a MATCH " +
			"(a)-[*]->() RETURN count(*)", Limits{Steps: 1_000_000}, "steps"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := NewGraph(test.limits).Run(t.Context(), test.query, nil)
			var e *LimitError
			if !errors.As(err, &e) || e.What != test.what {
				t.Errorf("got %v, want the limit of %s", err, test.what)
			}
		})
	}
	t.Run("the context", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := NewGraph(Limits{}).Run(ctx, "UNWIND range(1, 100000) AS i RETURN count(*)", nil)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
}

// What a model can write in its few hundred tokens costs no more memory than the
// limits say, times what the garbage collector leaves lying about.
func TestADecodedTextTakesBoundedMemory(t *testing.T) {
	const most = 512 << 20
	for _, text := range []string{
		"WITH range(1, 1000000) AS l UNWIND range(1, 1000) AS i CREATE (:A {v: l + [i]})-[:R]->(:B)",
		"WITH 'xxxxxxxxxxxxxxxx' AS s " + strings.Repeat("WITH s + s AS s ", 15) +
			"UNWIND range(1, 5000) AS i CREATE (:A {v: s + toString(i)})",
		"UNWIND range(1, 1000000) AS i CREATE (:A {n: i})-[:R]->(:B)",
		"CREATE (a:A) WITH a UNWIND range(1, 400) AS i CREATE (a)-[:R]->(a) WITH a MATCH (a)-->(a)-->(a)-->(a) " +
			"CREATE (:B)",
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _, err := Decode(t.Context(), text, DefaultLimits())
		runtime.ReadMemStats(&after)
		var e *LimitError
		if made := after.TotalAlloc - before.TotalAlloc; !errors.As(err, &e) || made > most {
			t.Errorf("%.60s…: %v, with %d MiB allocated", text, err, made>>20)
		}
	}
}

func TestQueryRunsAgainWithOtherParameters(t *testing.T) {
	q, err := Parse("MERGE (n:N {k: $k}) RETURN n.k")
	if err != nil {
		t.Fatal(err)
	}
	g := NewGraph(Limits{})
	for _, k := range []Value{"a", int64(1), "a"} {
		result, err := g.Execute(t.Context(), q, map[string]Value{"k": k})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(result.Columns, []string{"n.k"}) || showRows(result.Rows) != show(k) {
			t.Errorf("got %v %v", result.Columns, showRows(result.Rows))
		}
	}
	if n := len(g.Nodes()); n != 2 {
		t.Errorf("got %d nodes, want 2", n)
	}
}
