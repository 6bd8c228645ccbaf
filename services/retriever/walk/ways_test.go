package walk

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
)

var offices = storetest.NewGraph(
	[3]string{"Reik", "held", "m.0off1"}, [3]string{"m.0off1", "office", "Mayor"}, [3]string{"m.0off1", "from", "1999"},
	[3]string{"m.0off1", "holder", "Reik"},
	[3]string{"Reik", "held", "m.0off2"}, [3]string{"m.0off2", "office", "Consul"},
	[3]string{"Velmora", "governed by", "m.0off2"},
	[3]string{"Reik", "child", "Ann"}, [3]string{"Reik", "child", "m.0kid1"}, [3]string{"m.0kid1", "name of", "Bo"},
	[3]string{"Reik", "seal", "m.0seal"},
	[3]string{"Gudrun", "child", "Reik"},
)

// ways formats each as "relation^ xTriples > onward, onward", with a * if it is opaque.
func ways(g *storetest.Graph, all []Way) []string {
	show := func(s Step) string {
		if s.Inverse {
			return g.RelationName(s.Relation) + "^"
		}
		return g.RelationName(s.Relation)
	}
	var out []string
	for _, w := range all {
		line := fmt.Sprintf("%s x%d", show(w.Step), w.Triples)
		if w.Opaque {
			line += " *"
		}
		for _, s := range w.Onward {
			line += " > " + show(s)
		}
		out = append(out, line)
	}
	return out
}

func TestFindOnwardPassesMediators(t *testing.T) {
	both := []store.Direction{store.Out, store.In}
	for _, c := range []struct {
		name, from string
		directions []store.Direction
		relations  []store.RelationID
		want       []string
	}{
		{"each relation and direction is counted, mediators are passed", "Reik", both, nil, []string{
			"child x2 > name of", "held x2 * > office > from > governed by^", "seal x1 *", "child^ x1",
			"holder^ x1 * > from > office",
		}},
		{"one direction", "Reik", both[1:], nil, []string{"child^ x1", "holder^ x1 * > from > office"}},
		{"one relation", "Reik", both, []store.RelationID{offices.RelationID("seal")}, []string{"seal x1 *"}},
		{"the way in to a mediator is no way on from it", "Mayor", both, nil,
			[]string{"office^ x1 * > from > held^ > holder"}},
		{"nothing in this direction", "Ann", both[:1], nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			found, err := ListWays(t.Context(), offices, offices.ID(c.from), c.directions, c.relations)
			if err != nil {
				t.Fatal(err)
			}
			if err := FindOnward(t.Context(), offices, offices.ID(c.from), found); err != nil {
				t.Fatal(err)
			}
			if got := ways(offices, found); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// hubOf has many edges of one relation; reading all of them fails the test.
type hubOf struct {
	*storetest.Graph
	t *testing.T
}

func (h hubOf) Edges(ctx context.Context, entities []store.EntityID, dir store.Direction,
	relations []store.RelationID) ([][]store.Edge, error) {
	if slices.Contains(entities, h.ID("Hub")) {
		h.t.Error("the hub's edges are read")
	}
	if len(entities) > sampleSize {
		h.t.Errorf("%d mediators are read, want no more than %d", len(entities), sampleSize)
	}
	return h.Graph.Edges(ctx, entities, dir, relations)
}

func TestFindOnwardSamplesHubs(t *testing.T) {
	var facts [][3]string
	for i := range 500 {
		m := fmt.Sprintf("m.0%d", 1000+i)
		facts = append(facts, [3]string{"Hub", "event", m}, [3]string{m, "year", fmt.Sprint(1500 + i)})
	}
	// A mediator with many edges joins no fact.
	for i := range maxMediatorDegree + 1 {
		facts = append(facts, [3]string{"m.0zzz", "thing", fmt.Sprint("thing ", i)})
	}
	facts = append(facts, [3]string{"Hub", "node", "m.0zzz"})
	hub := hubOf{storetest.NewGraph(facts...), t}
	found, err := ListWays(t.Context(), hub, hub.ID("Hub"), []store.Direction{store.Out}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := FindOnward(t.Context(), hub, hub.ID("Hub"), found); err != nil {
		t.Fatal(err)
	}
	if got, want := ways(hub.Graph, found), []string{"event x500 * > year", "node x1 *"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// unreadable fails every read.
type unreadable struct{ *storetest.Graph }

func (unreadable) Sample(context.Context, store.EntityID, store.Direction, store.RelationID,
	int) ([]store.Edge, error) {
	return nil, store.ErrCorrupt
}

func (unreadable) Relations(context.Context, store.EntityID, store.Direction) ([]store.RelationEdges, error) {
	return nil, store.ErrCorrupt
}

func TestWaysReturnStoreErrors(t *testing.T) {
	if _, err := ListWays(t.Context(), unreadable{offices}, offices.ID("Reik"), []store.Direction{store.Out},
		nil); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("counting gives %v", err)
	}
	if err := FindOnward(t.Context(), unreadable{offices}, offices.ID("Reik"), make([]Way, 1)); !errors.Is(err,
		store.ErrCorrupt) {
		t.Errorf("sampling gives %v", err)
	}
}
