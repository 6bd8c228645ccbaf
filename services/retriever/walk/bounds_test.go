package walk

import (
	"context"
	"slices"
	"testing"

	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
)

// clique is a complete graph of n entities, the most expensive graph to follow paths in. It counts
// the edges read, in total and per read.
type clique struct {
	Reader
	n            int
	read, atOnce int
}

func (c *clique) Kind(store.EntityID) store.Kind             { return store.Entity }
func (c *clique) Degree(store.EntityID, store.Direction) int { return c.n }

func (c *clique) Edges(ctx context.Context, entities []store.EntityID, _ store.Direction,
	_ []store.RelationID) ([][]store.Edge, error) {
	lists := make([][]store.Edge, len(entities))
	for i, e := range entities {
		lists[i] = make([]store.Edge, c.n)
		for to := range c.n {
			lists[i][to] = store.Edge{Entity: store.EntityID(to), Triple: store.TripleID(int(e)*c.n + to)}
		}
	}
	c.read += c.n * len(entities)
	c.atOnce = max(c.atOnce, c.n*len(entities))
	return lists, ctx.Err()
}

// A request may ask for 256 paths of eight hops from 64 entities each, with ten
// thousand walks of each. In a clique every hop leads to everything.
func TestFollowStaysWithinBoundsInAClique(t *testing.T) {
	c := &clique{n: 2500}
	var plans []Plan
	for range 256 {
		plan := Plan{Steps: make([]Step, 8)}
		for topic := range 64 {
			plan.Topics = append(plan.Topics, store.EntityID(topic))
		}
		plan.Steps[7].Inverse = len(plans)%2 == 1
		plans = append(plans, plan)
	}
	walks, truncated, err := Follow(t.Context(), c, plans, Limit{Walks: 10_000})
	if err != nil || !truncated {
		t.Fatalf("truncated %v, %v", truncated, err)
	}
	total := 0
	for _, of := range walks {
		total += len(of)
	}
	if c.read > defaultBounds.edges+maxEdgesPerRead || c.atOnce > maxEdgesPerRead+c.n || total > defaultBounds.walks {
		t.Errorf("%d edges were read, up to %d at once, for %d walks", c.read, c.atOnce, total)
	}
}

func TestFollowReportsTruncationByBounds(t *testing.T) {
	g := storetest.NewGraph(
		[3]string{"a", "r", "b"}, [3]string{"a", "r", "c"}, [3]string{"b", "r", "d"}, [3]string{"c", "r", "e"},
	)
	for _, tt := range []struct {
		name      string
		within    bounds
		want      []string
		truncated bool
	}{
		{"enough of everything", bounds{edges: 9, arrivals: 9, walks: 9}, []string{"a > b > d", "a > c > e"}, false},
		{"few edges", bounds{edges: 2, arrivals: 9, walks: 9}, nil, true},
		{"few partial walks", bounds{edges: 9, arrivals: 3, walks: 9}, []string{"a > b > d"}, true},
		{"few walks", bounds{edges: 9, arrivals: 9, walks: 1}, []string{"a > b > d"}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			walks, truncated, err := follow(t.Context(), g, []Plan{{Steps: steps(g, "r, r"), Topics: ids(g, "a")}},
				Limit{Walks: 9}, tt.within)
			if err != nil {
				t.Fatal(err)
			}
			if got := formatWalks(g, walks[0]); !slices.Equal(got, tt.want) || truncated != tt.truncated {
				t.Errorf("got %q, truncated %v; want %q, %v", got, truncated, tt.want, tt.truncated)
			}
		})
	}
}

func TestManyEntitiesAreReadInParts(t *testing.T) {
	c := &clique{n: 1000}
	p := newPass(t.Context(), c, Limit{Walks: 1})
	p.remaining = defaultBounds
	entities := make([]store.EntityID, 1000)
	for i := range entities {
		entities[i] = store.EntityID(i)
	}
	lists, err := p.readEdges(entities, store.Out, nil)
	if err != nil || len(lists) != 1000 ||
		slices.ContainsFunc(lists, func(l []store.Edge) bool { return len(l) != 1000 }) {
		t.Fatalf("%d lists, %v", len(lists), err)
	}
	if c.atOnce > maxEdgesPerRead || p.truncated {
		t.Errorf("%d edges at once, truncated %v", c.atOnce, p.truncated)
	}
	p.remaining.edges = 1
	if lists, err = p.readEdges(entities, store.Out, nil); err != nil || len(lists) != 1000 || len(lists[0]) != 1000 ||
		lists[1] != nil || !p.truncated {
		t.Errorf("with room for one edge: %d lists, truncated %v, %v", len(lists), p.truncated, err)
	}
}

// hubs are entities with a million edges each.
type hubs struct{ Snapshot }

func (hubs) Degree(store.EntityID, store.Direction) int { return 1_000_000 }

func TestSuggestStartsFromTheFirstOfSeveralHubs(t *testing.T) {
	of := func(steps int) (all []*prospect) {
		for e := range store.EntityID(64) {
			all = append(all, &prospect{reach: []store.EntityID{e}, steps: make([]Step, steps)})
		}
		return all
	}
	e := newExtender(hubs{}, nil, 0)
	if entities, _ := e.affordableEntities(of(0), store.Out); len(entities) != maxTopicReads/1_000_000 {
		t.Errorf("%d topic entities are read", len(entities))
	}
	if entities, _ := e.affordableEntities(of(1), store.Out); len(entities) != 0 {
		t.Errorf("%d hubs are read on the way", len(entities))
	}
}
