package neo4j

import (
	"slices"
	"testing"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

func TestShown(t *testing.T) {
	for name, c := range map[string]struct {
		shown func() (Identity, error)
		want  Identity
		among []string
	}{
		"a node by its name": {func() (Identity, error) { return NodeIdentity(7, "Ann\tLee") },
			Identity{"urn:neo4j:node/7", "Ann Lee", store.Entity},
			[]string{"Ann Lee (urn:neo4j:node/7)", "Ann Lee (7)", "Ann Lee"}},
		"a node without a name is a mediator": {func() (Identity, error) { return NodeIdentity(7, nil) },
			Identity{"_:n7", "_:n7", store.Mediator}, []string{"_:n7"}},
		"a name that is no text is none": {func() (Identity, error) { return NodeIdentity(7, int64(3)) },
			Identity{"_:n7", "_:n7", store.Mediator}, []string{"_:n7"}},
		"a type in plain words": {func() (Identity, error) { return TypeIdentity("ACTED_IN") },
			Identity{"urn:neo4j:type/ACTED_IN",
				"acted in", store.Entity},
			[]string{"acted in (urn:neo4j:type/ACTED_IN)", "acted in (ACTED_IN)", "acted in"}},
		"a property": {func() (Identity, error) { return PropertyIdentity("born") }, Identity{"urn:neo4j:property/born",
			"born", store.Entity},
			[]string{"born (urn:neo4j:property/born)", "born (born)", "born"}},
		"a label": {func() (Identity, error) { return LabelIdentity("A B") }, Identity{"urn:neo4j:label/A%20B",
			"a b", store.Entity},
			[]string{"a b (urn:neo4j:label/A%20B)", "a b (A%20B)", "a b"}},
	} {
		got, err := c.shown()
		if err != nil || got != c.want || !slices.Equal(got.PossibleNames(), c.among) {
			t.Errorf("%s: %+v among %q, %v", name, got, got.PossibleNames(), err)
		}
	}
}

func TestNodesAreNamedByTheirLabels(t *testing.T) {
	byLabel := map[string]string{"Film": "title"}
	for _, c := range []struct {
		labels   []any
		property string
		want     bool
	}{{[]any{"Work", "Film"}, "title", true}, {[]any{"Film"}, "year", false}, {[]any{"Person"}, "title", false},
		{[]any{1}, "title", false}} {
		if got := isNameProperty(byLabel, c.labels, c.property); got != c.want {
			t.Errorf("%v.%s names: %v", c.labels, c.property, got)
		}
	}
	if pairs := (Config{Names: map[string]string{"Film": "title",
		"Book": "heading"}}).namesByLabel(); len(pairs) != 2 || pairs[0].([]any)[0] != "Book" {
		t.Errorf("names by label: %v", pairs)
	}
}
