package walk

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
)

var cinema = storetest.NewGraph(
	[3]string{"Harbour", "director", "Ann"}, [3]string{"Harbour", "cast", "Bo"}, [3]string{"Harbour", "cast", "Cy"},
	[3]string{"Tides", "director", "Ann"}, [3]string{"Tides", "cast", "Bo"}, [3]string{"Tides", "editor", "Bo"},
	[3]string{"Ann", "sibling", "m.0aaaa1"}, [3]string{"Dee", "sibling", "m.0aaaa1"},
	[3]string{"m.0aaaa1", "sibling from", "1990"},
	[3]string{"Ann", "born in", "Oslo"}, [3]string{"Oslo", "country", "Norway"}, [3]string{"Oslo", "twin", "Oslo"},
	[3]string{"Ann", "admires", "Dee"}, [3]string{"Dee", "admires", "Ann"},
	[3]string{"Sun", "kind", "star"},
)

// formatConnection formats a walk as "Ann -born in> Oslo", with "<born in-" for an inverse step.
func formatConnection(g *storetest.Graph, w Connection) string {
	var b strings.Builder
	b.WriteString(g.EntityName(w.Entities[0]))
	for i, s := range w.Steps {
		form := " -%s> %s"
		if s.Inverse {
			form = " <%s- %s"
		}
		fmt.Fprintf(&b, form, g.RelationName(s.Relation), g.EntityName(w.Entities[i+1]))
	}
	return b.String()
}

func TestShortestWalks(t *testing.T) {
	tests := []struct {
		name      string
		from, to  []string
		maxHops   int
		limit     int
		want      []string
		truncated bool
	}{
		{"one hop, along the relation", []string{"Ann"}, []string{"Oslo"}, 4, 9, []string{"Ann -born in> Oslo"}, false},
		{"one hop, against the relation", []string{"Oslo"}, []string{"Ann"}, 4, 9, []string{"Oslo <born in- Ann"},
			false},
		{"every relation between two entities is a walk, in both directions", []string{"Ann"}, []string{"Dee"}, 4, 9,
			[]string{"Ann -admires> Dee", "Ann <admires- Dee"}, false},
		{"all shortest walks and no longer one", []string{"Ann"}, []string{"Bo"}, 4, 9,
			[]string{"Ann <director- Harbour -cast> Bo", "Ann <director- Tides -cast> Bo",
				"Ann <director- Tides -editor> Bo"}, false},
		{"a mediator is a hop, and may be an end", []string{"Oslo"}, []string{"m.0aaaa1"}, 4, 9,
			[]string{"Oslo <born in- Ann -sibling> m.0aaaa1"}, false},
		{"three and four hops", []string{"Cy"}, []string{"Norway", "Oslo"}, 4, 9,
			[]string{"Cy <cast- Harbour -director> Ann -born in> Oslo",
				"Cy <cast- Harbour -director> Ann -born in> Oslo -country> Norway"}, false},
		{"no more hops than asked for", []string{"Cy"}, []string{"Norway", "Oslo"}, 3, 9,
			[]string{"Cy <cast- Harbour -director> Ann -born in> Oslo"}, false},
		{"the shortest pairs are first", []string{"Harbour", "Ann"}, []string{"Norway", "Oslo"}, 4, 9,
			[]string{"Ann -born in> Oslo", "Harbour -director> Ann -born in> Oslo",
				"Ann -born in> Oslo -country> Norway", "Harbour -director> Ann -born in> Oslo -country> Norway"},
			false},
		{"the limit truncates each pair", []string{"Ann"}, []string{"Bo", "Dee"}, 4, 1,
			[]string{"Ann -admires> Dee", "Ann <director- Harbour -cast> Bo"}, true},
		{"as many walks as the limit are not cut", []string{"Ann"}, []string{"Bo"}, 4, 3,
			[]string{"Ann <director- Harbour -cast> Bo", "Ann <director- Tides -cast> Bo",
				"Ann <director- Tides -editor> Bo"}, false},
		{"an entity is not joined with itself", []string{"Oslo"}, []string{"Oslo"}, 4, 9, nil, false},
		{"entities given twice are joined once", []string{"Oslo", "Oslo"}, []string{"Norway", "Norway"}, 4, 9,
			[]string{"Oslo -country> Norway"}, false},
		{"unconnected entities have no walks", []string{"Ann"}, []string{"Sun"}, 4, 9, nil, false},
		{"nothing to join", nil, []string{"Ann"}, 4, 9, nil, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			walks, truncated, err := ShortestWalks(context.Background(), cinema,
				ShortestRequest{From: ids(cinema, tt.from...),
					To: ids(cinema, tt.to...), MaxHops: tt.maxHops, Limit: tt.limit})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, w := range walks {
				got = append(got, formatConnection(cinema, w))
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if truncated != tt.truncated {
				t.Errorf("truncated %v, want %v", truncated, tt.truncated)
			}
		})
	}
}

func TestConnectionsHaveTheValidityOfTheirMediator(t *testing.T) {
	g := storetest.NewGraph([3]string{"Ann", "held", "m.0aaaa1"}, [3]string{"m.0aaaa1", "office", "Mayor"},
		[3]string{"m.0aaaa1", "office.from", "1990"})
	walks, _, err := ShortestWalks(context.Background(), g, ShortestRequest{From: ids(g, "Ann"), To: ids(g, "Mayor"),
		MaxHops: 2, Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	if len(walks) != 1 || walks[0].Validity == nil || walks[0].Validity.Start != "1990" {
		t.Errorf("got %+v, want one walk from 1990 on", walks)
	}
}

func TestShortestWalksReadsTheStoreTwicePerHop(t *testing.T) {
	g := storetest.NewGraph([3]string{"a", "r", "b"}, [3]string{"b", "r", "c"}, [3]string{"c", "r", "d"},
		[3]string{"d", "r", "e"}, [3]string{"A", "r", "b"}, [3]string{"d", "r", "E"})
	g.EdgeReads.Store(0)
	walks, _, err := ShortestWalks(context.Background(), g, ShortestRequest{From: ids(g, "a", "A"),
		To:      ids(g, "e", "E"),
		MaxHops: 4, Limit: 9})
	if err != nil || len(walks) != 4 {
		t.Fatalf("%d walks, %v; want 4", len(walks), err)
	}
	if g.EdgeReads.Load() != 8 {
		t.Errorf("%d reads, want two for each of four hops", g.EdgeReads.Load())
	}
}

func TestShortestWalksBounds(t *testing.T) {
	var triples [][3]string
	for i := range 50 {
		triples = append(triples, [3]string{fmt.Sprint("person ", i), "is a", "human"})
	}
	triples = append(triples, [3]string{"person 1", "knows", "Li"}, [3]string{"Li", "knows", "person 2"})
	g := storetest.NewGraph(triples...)
	tests := []struct {
		name      string
		within    shortestBounds
		want      []string
		truncated bool
	}{
		{"a hub is met from both sides without being read", shortestBounds{edges: 8, arrivals: 99, walks: 9},
			[]string{"person 1 -is a> human <is a- person 2", "person 1 -knows> Li -knows> person 2"}, false},
		{"with nothing to read there are no walks", shortestBounds{edges: 1, arrivals: 99, walks: 9}, nil, true},
		{"with nowhere to arrive there are no walks", shortestBounds{edges: 99, arrivals: 3, walks: 9}, nil, true},
		{"no more walks are listed than there is room for", shortestBounds{edges: 99, arrivals: 99, walks: 1},
			[]string{"person 1 -is a> human <is a- person 2"}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			walks, truncated, err := shortestWalks(context.Background(), g, ShortestRequest{From: ids(g, "person 1"),
				To: ids(g, "person 2"), MaxHops: 4, Limit: 9}, tt.within)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, w := range walks {
				got = append(got, formatConnection(g, w))
			}
			if !slices.Equal(got, tt.want) || truncated != tt.truncated {
				t.Errorf("got %q, truncated %v; want %q, %v", got, truncated, tt.want, tt.truncated)
			}
		})
	}
	walks, truncated, err := shortestWalks(context.Background(), g, ShortestRequest{From: ids(g, "Li"),
		To:      ids(g, "person 7"),
		MaxHops: 4, Limit: 9}, shortestBounds{edges: 40, arrivals: 999, walks: 9})
	if err != nil || len(walks) != 2 || truncated {
		t.Errorf("%d walks, truncated %v, %v; want two that meet at the hub", len(walks), truncated, err)
	}
}

func TestShortestWalksReturnsStoreErrors(t *testing.T) {
	req := ShortestRequest{From: ids(cinema, "Ann"), To: ids(cinema, "Bo"), MaxHops: 4, Limit: 9}
	if _, _, err := ShortestWalks(context.Background(), brokenGraph{cinema}, req); !errors.Is(err, errDown) {
		t.Errorf("got %v", err)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := ShortestWalks(ended, cinema, req); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}

// bruteForceShortest finds the shortest walks by trying all.
func bruteForceShortest(g *storetest.Graph, from, to store.EntityID, maxHops int) []string {
	type partial struct {
		entities []store.EntityID
		steps    []Step
	}
	level := []partial{{entities: []store.EntityID{from}}}
	for range maxHops {
		var next []partial
		var found []string
		for _, p := range level {
			for _, dir := range []store.Direction{store.Out, store.In} {
				lists, _ := g.Edges(context.Background(), p.entities[len(p.entities)-1:], dir, nil)
				for _, e := range lists[0] {
					n := partial{append(slices.Clone(p.entities), e.Entity), append(slices.Clone(p.steps),
						Step{Relation: e.Relation, Inverse: dir == store.In})}
					if e.Entity == to {
						found = append(found, formatConnection(g, Connection{Walk{Entities: n.entities}, n.steps}))
					}
					next = append(next, n)
				}
			}
		}
		if len(found) > 0 {
			slices.Sort(found)
			return found
		}
		level = next
	}
	return nil
}

func TestShortestWalksAgreesWithBruteForce(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for round := range 200 {
		entities, relations := 4+random.IntN(9), 1+random.IntN(3)
		name := func(n int) string { return fmt.Sprint("e", random.IntN(n)) }
		triples := [][3]string{{"e0", "r0", "e1"}, {"e2", "r0", "e3"}}
		for range random.IntN(2 * entities) {
			triples = append(triples, [3]string{name(entities), fmt.Sprint("r", random.IntN(relations)),
				name(entities)})
		}
		g := storetest.NewGraph(triples...)
		req := ShortestRequest{From: ids(g, "e0", "e2"), To: ids(g, "e1", "e2", "e3"), MaxHops: 1 + random.IntN(4),
			Limit: 1 << 20}
		walks, truncated, err := ShortestWalks(context.Background(), g, req)
		if err != nil || truncated {
			t.Fatalf("round %d: truncated %v, %v", round, truncated, err)
		}
		got := map[[2]store.EntityID][]string{}
		for _, w := range walks {
			pair := [2]store.EntityID{w.Entities[0], w.Entities[len(w.Entities)-1]}
			got[pair] = append(got[pair], formatConnection(g, w))
		}
		for _, from := range req.From {
			for _, to := range req.To {
				var want []string
				if from != to {
					want = bruteForceShortest(g, from, to, req.MaxHops)
				}
				found := got[[2]store.EntityID{from, to}]
				slices.Sort(found)
				if !slices.Equal(found, want) {
					t.Fatalf("round %d, up to %d hops of %v: got %q, want %q", round, req.MaxHops, triples, found, want)
				}
			}
		}
	}
}
