package cypher

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// small keeps a run of the fuzzer short.
var small = Limits{Nodes: 1000, Relationships: 1000, Rows: 1000, Steps: 100_000, Size: 10_000, Depth: 100}

// FuzzDecode: no answer of a model makes Decode panic, hang or give triples
// that the contract refuses.
func FuzzDecode(f *testing.F) {
	paths, _ := filepath.Glob("testdata/decode/*.cypher")
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Add("```\nCREATE (`a b`:`c``d` {'k': \"v\\u00e9\", l: [1, -2.5e3, [x]]})<-[r:A|B*1..2 {x: a}]-()\n```")
	f.Fuzz(func(t *testing.T, text string) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		pseudo, diagnostics, err := Decode(ctx, text, small)
		var limit *LimitError
		if err != nil && !errors.As(err, &limit) {
			t.Fatalf("Decode: %v", err)
		}
		seen := map[Triple]bool{}
		for _, one := range pseudo.Triples {
			for _, part := range []string{one.Subject, one.Relation, one.Object} {
				if part == "" || !utf8.ValidString(part) || strings.TrimSpace(part) != part || len(part) > maxName {
					t.Fatalf("%q is no part of a triple", part)
				}
			}
			if seen[one] {
				t.Fatalf("%v stands twice", one)
			}
			seen[one] = true
		}
		lines := strings.Count(text, "\n") + 1
		for _, d := range diagnostics {
			if d.Line < 1 || d.Line > lines || d.Column < 1 || d.Message == "" {
				t.Fatalf("%v is not in a text of %d lines", d, lines)
			}
		}
	})
}

// FuzzRun: no query makes Run panic or hang, and every error is typed and
// points into the text.
func FuzzRun(f *testing.F) {
	for _, query := range []string{
		"CREATE (a:A {n: 1})-[:R {m: [1, 2]}]->(b:B), (b)<-[:S]-(a) RETURN a.n + 1 AS x, labels(b)",
		"UNWIND range(1, 3) AS i MERGE (n:N {i: i % 2}) ON CREATE SET n += {c: true} ON MATCH SET n:M RETURN " +
			"count(DISTINCT n)",
		"MATCH p = (a)-[r*1..3]-(b) WHERE NOT (a)-->(b) AND all(x IN r WHERE x.k IS NULL) RETURN nodes(p), " +
			"[y IN r | type(y)]",
		"WITH {a: [1, {b: 'c'}]} AS m WITH m.a[1].b AS s, m ORDER BY s DESC SKIP 0 LIMIT 5 WHERE s =~ 'c.*' RETURN " +
			"CASE s WHEN 'c' THEN $p ELSE -0x1F END",
		"MATCH (n) OPTIONAL MATCH (n)-[r]->() DETACH DELETE n REMOVE r.x, n:L",
		"RETURN date({year: 1984, month: 10}) + duration('P1Y2M3DT4H') AS d UNION ALL " +
			"RETURN reduce(a = 0, x IN [1, 2] | a + x) AS d",
		"MATCH (a) RETURN [(a)-->(b) WHERE b.x > 1 | b.x] AS l, EXISTS { (a)--() }, sum(a.x) / count(*), " +
			"'q\\'\\u0041' STARTS WITH \"q\"",
	} {
		f.Add(query)
	}
	f.Fuzz(func(t *testing.T, query string) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		g := NewGraph(small)
		if _, err := g.Run(ctx, "CREATE (a:A {x: 1})-[:R {y: 'z'}]->(b:B {x: 2})-[:S]->(a), (b)-[:R]->(b)",
			nil); err != nil {
			t.Fatal(err)
		}
		_, err := g.Run(ctx, query, map[string]Value{"p": int64(1)})
		if nodes, rels := len(g.Nodes()), len(g.Relationships()); nodes > small.Nodes || rels > small.Relationships {
			t.Fatalf("%q left %d nodes and %d relationships", query, nodes, rels)
		}
		var failure *Error
		var limit *LimitError
		switch {
		case err == nil, errors.As(err, &limit):
		case !errors.As(err, &failure):
			t.Fatalf("Run: %v", err)
		case failure.Line < 1 || failure.Line > strings.Count(query, "\n")+1 || failure.Column < 1 ||
			failure.Detail == "":
			t.Fatalf("%v does not point into %q", failure, query)
		}
	})
}
