package verbalise_test

import (
	"slices"
	"testing"

	"github.com/triplemesh/triplemesh/internal/verbalise"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

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
			if got := verbalise.Fact(fact); got != c.want {
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
		{"a hop from object to subject is turned in words", path([]string{"Ann", "Harbour", "Erik"}, cast, &graphv1.RelationStep{Relation: "director"}), "Ann -> is starring of -> Harbour -> director -> Erik", "Erik"},
		{"a path that lacks a hop shows what it has", path([]string{"Ann", "Harbour", "Erik"}, cast), "Ann -> is starring of -> Harbour -> Erik", "Erik"},
		{"a path of nothing", path(nil), "", ""},
		{"no path", nil, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := verbalise.Path(c.path); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if got := verbalise.End(c.path); got != c.end {
				t.Errorf("ends in %q, want %q", got, c.end)
			}
		})
	}
}

func TestLinesShowTheFirstGroupsAndEnds(t *testing.T) {
	river, twin := &graphv1.RelationStep{Relation: "river"}, &graphv1.RelationStep{Relation: "twin"}
	groups := verbalise.Group([]*graphv1.ReasoningPath{
		path([]string{"V", "Tessen"}, river), path([]string{"V", "Orla"}, river), path([]string{"V", "Elde"}, river), path([]string{"V", "Harn"}, twin),
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
			if got := verbalise.Lines(groups, c.groups, c.ends); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
