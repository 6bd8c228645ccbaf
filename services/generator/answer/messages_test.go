package answer

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

// walk is a reasoning path "entity relation entity …".
func walk(names ...string) *graphv1.ReasoningPath {
	p := &graphv1.ReasoningPath{}
	for i, name := range names {
		if i%2 == 0 {
			p.Entities = append(p.Entities, name)
		} else {
			p.Steps = append(p.Steps, &graphv1.RelationStep{Relation: name})
		}
	}
	return p
}

func TestPathLines(t *testing.T) {
	var long, wide, deep []*graphv1.ReasoningPath
	for i := range 100 {
		long = append(long, walk("V", "person", fmt.Sprint("P", i)))
		wide = append(wide, walk("V", fmt.Sprint("relation ", i), "X"))
		deep = append(deep, walk("V", "film", fmt.Sprint("F", i), "director", fmt.Sprint("D", i%3)))
	}
	for _, c := range []struct {
		name   string
		paths  []*graphv1.ReasoningPath
		lines  int
		first  string
		warned int
	}{
		{"what a path passes is shown", []*graphv1.ReasoningPath{walk("V", "twin", "Harn", "mayor", "Reik")}, 1,
			"V -> twin -> Harn -> mayor -> Reik", 0},
		{"ends of one way share a line", []*graphv1.ReasoningPath{walk("V", "river", "Orla"),
			walk("V", "river", "Elde")}, 1, "V -> river -> Orla; Elde", 0},
		{"nodes without a name are passed over", []*graphv1.ReasoningPath{walk("V", "held", "m.04j60kc", "office",
			"Mayor")}, 1, "V -> held -> office -> Mayor", 0},
		{"nothing is answered by a path that ends in one", []*graphv1.ReasoningPath{walk("V", "held", "m.04j60kc"),
			walk("V", "river", "Orla")}, 1, "V -> river -> Orla", 0},
		{"of too many ways the ends of a relation path are shown", deep, 1, "V -> film -> director -> D0; D1; D2", 0},
		{"of too many ends the first are", long, 1, "V -> person -> P0; P1; ", 1},
		{"of too many relation paths the first are", wide, DefaultConfig().MaxPaths, "V -> relation 0 -> X", 1},
		{"a path of one entity leads nowhere", []*graphv1.ReasoningPath{walk("V"), {}}, 0, "", 0},
		{"no paths", nil, 0, "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			var a Answer
			got := DefaultConfig().pathLines(c.paths, &a)
			if len(got) != c.lines || len(a.Warnings) != c.warned {
				t.Fatalf("got %q with %v; want %d lines and %d warnings", got, a.Warnings, c.lines, c.warned)
			}
			if len(got) > 0 && !strings.HasPrefix(got[0], c.first) {
				t.Errorf("the first line is %q, want %q", got[0], c.first)
			}
			if slices.ContainsFunc(got,
				func(line string) bool { return strings.Count(line, ";") >= DefaultConfig().MaxEnds }) {
				t.Errorf("a line has more than %d ends", DefaultConfig().MaxEnds)
			}
		})
	}
}
