package cypher

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// generateStatements writes code as models do, of some n bytes: declarations, edges,
// merges and matches by name.
func generateStatements(n int) string {
	var s strings.Builder
	for i := 0; s.Len() < n; i++ {
		fmt.Fprintf(&s, "CREATE (person%d:Person {name: 'Person O'Neill %d', birthDate: '19%02d-01-01'})\n", i, i,
			i%100)
		fmt.Fprintf(&s, "CREATE (city%d:City {name: \"City %d\"})\n", i, i%1000)
		fmt.Fprintf(&s, "CREATE (person%d)-[:BORN_IN]->(city%d)\n", i, i)
		fmt.Fprintf(&s, "MERGE (w:Work {title: 'Work %d'})\nMERGE (person%d)-[:WROTE {year: 1950}]->(w);\n", i%500, i)
		fmt.Fprintf(&s, "MATCH (a:Person {name: 'Person O'Neill %d'}), (b:City {name: 'City %d'}) CREATE "+
			"(a)-[:LIVED_IN]->(b)\n", i/2, i/2)
	}
	return s.String()
}

func BenchmarkDecode(b *testing.B) {
	for _, size := range []int{1 << 10, 64 << 10, 1 << 20} {
		text := generateStatements(size)
		b.Run(fmt.Sprintf("%dKiB", size>>10), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				pseudo, _, err := Decode(context.Background(), text, Limits{})
				if err != nil || len(pseudo.Triples) == 0 {
					b.Fatal(len(pseudo.Triples), err)
				}
			}
		})
	}
}

// BenchmarkRun runs one strict statement of many clauses.
func BenchmarkRun(b *testing.B) {
	for _, clauses := range []int{1000, 10_000} {
		var s strings.Builder
		for i := range clauses {
			fmt.Fprintf(&s, "CREATE (p%d:Person {name: 'P %d'})-[:KNOWS {since: %d}]->(:Person {name: 'Q'})\n", i, i, i)
		}
		b.Run(fmt.Sprintf("%d", clauses), func(b *testing.B) {
			b.SetBytes(int64(s.Len()))
			for b.Loop() {
				if _, err := NewGraph(Limits{}).Run(context.Background(), s.String(), nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkDecodeHostile reads text that tempts a reader to go over the same
// ground again and again; the time has to grow with the size alone.
func BenchmarkDecodeHostile(b *testing.B) {
	for _, piece := range []string{
		"CREATE (", "CREATE (a {x: [", "CREATE (a {a:(", "RETURN ((", "CREATE (a {b: c - ", "'", "\n'a",
		"```\n", "\"\"",
		"UNWIND [1,2] AS x CREATE (a:A {n:x})\n", "CREATE (a {k:'v'}) MATCH (z {k:'v'}) SET z.k = 'w'\n",
		"MATCH (a), (b) CREATE (a)-[:R]->(b)\n", "MATCH (a)-[*]-(b) RETURN a\nCREATE (c)-[:R]->(d)\n",
	} {
		for _, size := range []int{64 << 10, 512 << 10} {
			text := strings.Repeat(piece, size/len(piece))
			b.Run(fmt.Sprintf("%q/%dKiB", piece, size>>10), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					if _, _, err := Decode(context.Background(), text, Limits{}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
