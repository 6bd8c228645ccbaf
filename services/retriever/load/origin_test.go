package load_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/services/retriever/load"
	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/embedded"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
)

// listOrigins lists facts as "subject <key> | relation | object <key>", keys where they differ from
// the name, and the provenance after an @.
func listOrigins(s store.Snapshot) []string {
	end := func(id store.EntityID) string {
		name, key := s.EntityName(id), s.EntityKey(id)
		if key == name {
			return name
		}
		return name + " <" + key + ">"
	}
	var lines []string
	for e := range s.Entities() {
		edges, err := s.Edges(context.Background(), []store.EntityID{e}, store.Out, nil)
		if err != nil {
			return []string{err.Error()}
		}
		for _, edge := range edges[0] {
			line := end(e) + " | " + s.RelationName(edge.Relation) + " | " + end(edge.Entity)
			if from := s.Provenance(edge.Triple); from != "" {
				line += " @ " + from
			}
			lines = append(lines, line)
		}
	}
	slices.Sort(lines)
	return lines
}

func TestKeysAndProvenance(t *testing.T) {
	const label = "<http://www.w3.org/2000/01/rdf-schema#label>"
	springfields := `<http://x.org/Q1> <http://x.org/country> <http://x.org/Q30> .
<http://x.org/Q2> <http://x.org/country> <http://x.org/Q30> .
<http://x.org/Q1> ` + label + ` "Springfield"@en .
<http://x.org/Q2> ` + label + ` "Springfield"@en .
<http://x.org/Q30> ` + label + ` "USA"@en .
`
	for name, c := range map[string]struct {
		options load.Options
		steps   [][]input // each a load; those after the first add
		want    []string
	}{
		"names are keys where a source has no others": {load.Options{}, [][]input{{{"x.tsv", "a\tis\tb\n"}}},
			[]string{"a | is | b"}},
		"namesakes keep their keys": {load.Options{}, [][]input{{{"x.nt", springfields}}}, []string{
			"Springfield (Q1) <http://x.org/Q1> | country | USA <http://x.org/Q30>",
			"Springfield (Q2) <http://x.org/Q2> | country | USA <http://x.org/Q30>"}},
		"files and lines": {load.Options{Provenance: true}, [][]input{{
			{"x.tsv", "a\tis\tb\n\nc\tis\td\n"}, {"y.csv", "subject,relation,object\nK2,height,8611\n"}}},
			[]string{"K2 | height | 8611 <> @ y.csv:2", "a | is | b @ x.tsv:1", "c | is | d @ x.tsv:3"}},
		"none unless it is asked for": {load.Options{}, [][]input{{{"x.nq",
			"<x:a> <x:p> <x:b> <http://x.org/graph> .\n"}}}, []string{"x:a | x:p | x:b"}},
		"the named graph of a quad": {load.Options{Provenance: true}, [][]input{{{"x.nq",
			"<http://x.org/a> <http://x.org/p> <http://x.org/b> <http://x.org/graph> .\n" +
				"<http://x.org/a> <http://x.org/p> <http://x.org/c> .\n" +
				"<http://x.org/a> <http://x.org/p> <http://x.org/d> <urn:triplemesh:during:1997/2003> .\n"}}}, []string{
			"a <http://x.org/a> | p | b <http://x.org/b> @ http://x.org/graph",
			"a <http://x.org/a> | p | c <http://x.org/c> @ x.nq:2",
			"a <http://x.org/a> | p | d <http://x.org/d> @ x.nq:3"}},
		"a statement of Turtle": {load.Options{Provenance: true}, [][]input{{{"x.ttl",
			"@prefix : <http://x.org/> .\n:a :p :b ;\n  :q :c .\n"}}}, []string{
			"a <http://x.org/a> | p | b <http://x.org/b> @ x.ttl:2",
			"a <http://x.org/a> | q | c <http://x.org/c> @ x.ttl:3"}},
		"a document of JSON-LD has no line": {load.Options{Provenance: true}, [][]input{{{"x.jsonld",
			`{"@id": "http://x.org/a", "http://x.org/p": {"@id": "http://x.org/b"}}`}}}, []string{
			"a <http://x.org/a> | p | b <http://x.org/b> @ x.jsonld"}},
		"a claim of Wikidata": {load.Options{Provenance: true}, [][]input{{{"x.json",
			`{"type": "item", "id": "Q1", "labels": {"en": {"language": "en", "value": "Ada"}}, "claims": {"P22": [` +
				`{"id": "Q1$c1", "rank": "normal", "mainsnak": {"snaktype": "value", "property": "P22", "datatype": ` +
				`"wikibase-item", "datavalue": {"type": "wikibase-entityid", "value": {"id": "Q2"}}}}]}}` + "\n"}}},
			[]string{"Ada <Q1> | P22 | Q2 @ Q1$c1"}},
		"a fact of two lines is one": {load.Options{Provenance: true}, [][]input{{
			{"x.tsv", "a\tis\tb\t1997\na\tis\tb\na\tis\tb\t1997\n"}, {"y.tsv", "a\tis\tb\n"}}},
			[]string{"a | is | b @ x.tsv:1", "a | is | b @ x.tsv:2"}},
		"a delta finds entities by their keys": {load.Options{Provenance: true}, [][]input{
			{{"x.nt", springfields}},
			{{"y.nt", "<http://x.org/Q1> <http://x.org/state> <http://x.org/Q1204> .\n" +
				"<http://x.org/Q1204> " + label + " \"Illinois\"@en .\n" +
				"<http://x.org/Q3> " + label +
				" \"USA\"@en .\n<http://x.org/Q3> <http://x.org/is> <http://x.org/Q4> .\n"}}},
			[]string{
				"Springfield (Q1) <http://x.org/Q1> | country | USA <http://x.org/Q30> @ x.nt:1",
				"Springfield (Q1) <http://x.org/Q1> | state | Illinois <http://x.org/Q1204> @ y.nt:1",
				"Springfield (Q2) <http://x.org/Q2> | country | USA <http://x.org/Q30> @ x.nt:2",
				"USA (Q3) <http://x.org/Q3> | is | Q4 <http://x.org/Q4> @ y.nt:4"}},
	} {
		for _, memory := range []int{0, 1 << 10} {
			t.Run(name+map[int]string{1 << 10: " (in little memory)"}[memory], func(t *testing.T) {
				graphs := embedded.New(t.TempDir())
				defer graphs.Close()
				for i, files := range c.steps {
					options := c.options
					options.KG, options.Memory = "test", memory
					if i > 0 {
						options.Mode = load.Add
					}
					l := load.New(options)
					for _, f := range files {
						if err := l.Read(t.Context(), f.name, load.DetectFormat,
							strings.NewReader(f.text)); err != nil {
							t.Fatal(err)
						}
					}
					if _, err := l.Finish(t.Context(), graphs, storetest.HashEncoder(16)); err != nil {
						t.Fatal(err)
					}
				}
				s, err := graphs.Open(t.Context(), "test", 0)
				if err != nil {
					t.Fatal(err)
				}
				defer s.Release()
				if got := listOrigins(s); !slices.Equal(got, c.want) {
					t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
				}
			})
		}
	}
}
