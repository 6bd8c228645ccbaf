package sources_test

import (
	"fmt"
	"testing"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

func TestARelationGoesOnFromTheMediatorsOfBoth(t *testing.T) {
	r := newReader(t)
	on := func(opaque bool, onward ...string) *retrieverv1.ListNeighboursResponse {
		c := &retrieverv1.RelationCount{Relation: "held", Triples: 1, Opaque: opaque}
		for _, relation := range onward {
			c.Onward = append(c.Onward, &graphv1.RelationStep{Relation: relation})
		}
		return &retrieverv1.ListNeighboursResponse{Relations: []*retrieverv1.RelationCount{c}}
	}
	for _, c := range []struct {
		name      string
		old, next *retrieverv1.ListNeighboursResponse
		want      string
	}{
		{"steps of both, each once", on(true, "office", "from"), on(true, "from", "to"), "true office from to"},
		{"one leads to an entity", on(true, "office"), on(false), "false office"},
	} {
		t.Run(c.name, func(t *testing.T) {
			script[*retrieverv1.ListNeighboursRequest](r, map[string]*retrieverv1.ListNeighboursResponse{"old": c.old,
				"next": c.next}, nil)
			got, err := r.ListNeighbours(r.reading(t, both...), &retrieverv1.ListNeighboursRequest{Kg: old, Entity: "e",
				RelationsOnly: true})
			if err != nil || len(got.GetRelations()) != 1 {
				t.Fatalf("got %v, %v", got, err)
			}
			text := fmt.Sprint(got.GetRelations()[0].GetOpaque())
			for _, s := range got.GetRelations()[0].GetOnward() {
				text += " " + s.GetRelation()
			}
			if text != c.want {
				t.Errorf("got %s, want %s", text, c.want)
			}
		})
	}
}
