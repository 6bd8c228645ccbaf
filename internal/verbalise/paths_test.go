package verbalise_test

import (
	"slices"
	"testing"

	"github.com/triplemesh/triplemesh/internal/verbalise"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

func path(entities []string, steps ...*graphv1.RelationStep) *graphv1.ReasoningPath {
	return &graphv1.ReasoningPath{Entities: entities, Steps: steps}
}

func TestGroupKeepsOneRelationPathTogether(t *testing.T) {
	cast := &graphv1.RelationStep{Relation: "film.film.starring", Inverse: true}
	director := &graphv1.RelationStep{Relation: "director"}
	groups := verbalise.Group([]*graphv1.ReasoningPath{
		path([]string{"Ann", "Harbour", "Erik"}, cast, director),
		path([]string{"Ann", "Harbour"}, cast),
		path([]string{"Ann", "Tides", "Erik"}, cast, director),
		path([]string{"Ann", "Tides", "Ola"}, cast, director),
		path([]string{"Bo", "Harbour"}, cast),
		{},
	})
	var got []string
	for _, g := range groups {
		got = append(got, g.Words())
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
	if groups := verbalise.Group([]*graphv1.ReasoningPath{path([]string{"A", "B"}, out), path([]string{"A", "B"}, in)}); len(groups) != 2 {
		t.Errorf("got %d groups, want 2", len(groups))
	}
}
