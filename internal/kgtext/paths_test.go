package kgtext_test

import (
	"slices"
	"testing"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

func path(entities []string, steps ...*graphv1.RelationStep) *graphv1.ReasoningPath {
	return &graphv1.ReasoningPath{Entities: entities, Steps: steps}
}

func TestGroupKeepsOneRelationPathTogether(t *testing.T) {
	cast := &graphv1.RelationStep{Relation: "film.film.starring", Inverse: true}
	director := &graphv1.RelationStep{Relation: "director"}
	groups := kgtext.GroupPaths([]*graphv1.ReasoningPath{
		path([]string{"Ann", "Harbour", "Erik"}, cast, director),
		path([]string{"Ann", "Harbour"}, cast),
		path([]string{"Ann", "Tides", "Erik"}, cast, director),
		path([]string{"Ann", "Tides", "Ola"}, cast, director),
		path([]string{"Bo", "Harbour"}, cast),
		{},
	})
	var got []string
	for _, g := range groups {
		got = append(got, g.Label())
	}
	want := []string{"Ann -> is starring of -> director", "Ann -> is starring of", "Bo -> is starring of"}
	if !slices.Equal(got, want) {
		t.Fatalf("got groups %q, want %q", got, want)
	}
	if ends := groups[0].Ends; !slices.Equal(ends, []string{"Erik", "Ola"}) {
		t.Errorf("an end reached twice should count once, got %q", ends)
	}
	if len(groups[0].Paths) != 3 {
		t.Errorf("got %d paths, want 3", len(groups[0].Paths))
	}
}

func TestADirectionChangesTheGroup(t *testing.T) {
	out := &graphv1.RelationStep{Relation: "r"}
	in := &graphv1.RelationStep{Relation: "r", Inverse: true}
	if groups := kgtext.GroupPaths([]*graphv1.ReasoningPath{path([]string{"A", "B"}, out),
		path([]string{"A", "B"}, in)}); len(groups) != 2 {
		t.Errorf("got %d groups, want 2", len(groups))
	}
}

func TestFact(t *testing.T) {
	for _, c := range []struct {
		name, start, end, want string
	}{
		{"a fact with no time", "", "", "Velmora | head of government | Reik"},
		{"one that began", "2006", "", "Velmora | head of government | Reik (since 2006)"},
		{"one that ended", "", "2011-05", "Velmora | head of government | Reik (until 2011-05)"},
		{"one that held for a while", "2006", "2011-05", "Velmora | head of government | Reik (2006 to 2011-05)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			fact := &graphv1.Triple{Subject: "Velmora", Relation: "place.head_of_government", Object: "Reik"}
			if c.start+c.end != "" {
				fact.Validity = &graphv1.ValidityInterval{Start: c.start, End: c.end}
			}
			if got := kgtext.FormatFact(fact); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestPathAndEnd(t *testing.T) {
	cast := &graphv1.RelationStep{Relation: "film.starring", Inverse: true}
	for _, c := range []struct {
		name      string
		path      *graphv1.ReasoningPath
		want, end string
	}{
		{"a hop from object to subject is turned in words", path([]string{"Ann", "Harbour", "Erik"}, cast,
			&graphv1.RelationStep{Relation: "director"}), "Ann -> is starring of -> Harbour -> director -> Erik",
			"Erik"},
		{"a path that lacks a hop shows what it has", path([]string{"Ann", "Harbour", "Erik"}, cast),
			"Ann -> is starring of -> Harbour -> Erik", "Erik"},
		{"a path of nothing", path(nil), "", ""},
		{"no path", nil, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := kgtext.FormatPath(c.path); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if got := kgtext.PathEnd(c.path); got != c.end {
				t.Errorf("ends in %q, want %q", got, c.end)
			}
		})
	}
}

func TestLinesShowTheFirstGroupsAndEnds(t *testing.T) {
	river, twin := &graphv1.RelationStep{Relation: "river"}, &graphv1.RelationStep{Relation: "twin"}
	groups := kgtext.GroupPaths([]*graphv1.ReasoningPath{
		path([]string{"V", "Tessen"}, river), path([]string{"V", "Orla"}, river), path([]string{"V", "Elde"}, river),
		path([]string{"V", "Harn"}, twin),
	})
	for _, c := range []struct {
		name         string
		groups, ends int
		want         []string
	}{
		{"all of them", 9, 9, []string{"V -> river: Tessen; Orla; Elde", "V -> twin: Harn"}},
		{"the first ends", 9, 2, []string{"V -> river: Tessen; Orla; …", "V -> twin: Harn"}},
		{"the first group", 1, 9, []string{"V -> river: Tessen; Orla; Elde"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := kgtext.FormatGroups(groups, c.groups, c.ends); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestWalksShareALineUpToTheirEnds(t *testing.T) {
	held, office, river := &graphv1.RelationStep{Relation: "position_held"}, &graphv1.RelationStep{Relation: "office"},
		&graphv1.RelationStep{Relation: "river", Inverse: true}
	for _, c := range []struct {
		name  string
		paths []*graphv1.ReasoningPath
		want  []string
	}{
		{"a mediator is left out", []*graphv1.ReasoningPath{path([]string{"Reik", "m.04j60kc", "Mayor"}, held, office)},
			[]string{"Reik -> position held -> office -> Mayor"}},
		{"so is a blank node", []*graphv1.ReasoningPath{path([]string{"Reik", "_:b7", "Mayor"}, held, office)},
			[]string{"Reik -> position held -> office -> Mayor"}},
		{"a mediator at an end is all there is to show",
			[]*graphv1.ReasoningPath{path([]string{"m.04j60kc", "m.04j60kd"}, held)},
			[]string{"m.04j60kc -> position held -> m.04j60kd"}},
		{"ends of one way stand together, each once", []*graphv1.ReasoningPath{
			path([]string{"Reik", "m.04j60kc", "Mayor"}, held, office), path([]string{"Tessen", "Velmora"}, river),
			path([]string{"Reik", "m.04j60kd", "Consul"}, held, office), path([]string{"Reik", "m.04j60ke", "Mayor"},
				held, office),
		}, []string{"Reik -> position held -> office -> Mayor; Consul", "Tessen -> is river of -> Velmora"}},
		{"the entities passed keep ways apart", []*graphv1.ReasoningPath{
			path([]string{"A", "B", "D"}, held, office), path([]string{"A", "C", "E"}, held, office),
		}, []string{"A -> position held -> B -> office -> D", "A -> position held -> C -> office -> E"}},
		{"a path of no steps is its entity", []*graphv1.ReasoningPath{path([]string{"Reik"})}, []string{"Reik"}},
		{"a path of nothing", []*graphv1.ReasoningPath{{}, nil}, []string{""}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := kgtext.FormatReadablePaths(c.paths); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestOpaque(t *testing.T) {
	for name, want := range map[string]bool{
		"m.04j60kc": true, "g.11b6jbqm_w": true, "_:b0": true,
		"m.": false, "": false, "m.A.A.D": false, "James K. Polk": false, "g.spot": false, "_": false,
	} {
		if got := kgtext.IsOpaqueName(name); got != want {
			t.Errorf("Opaque(%q) = %v, want %v", name, got, want)
		}
	}
}
