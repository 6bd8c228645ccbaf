package walk

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
)

var films = storetest.NewGraph(
	[3]string{"Harbour", "director", "Ann"}, [3]string{"Harbour", "cast", "Bo"}, [3]string{"Harbour", "cast", "Cy"},
	[3]string{"Tides", "director", "Ann"}, [3]string{"Tides", "cast", "Bo"},
	[3]string{"Ann", "sibling", "m.0aaaa1"}, [3]string{"Dee", "sibling", "m.0aaaa1"},
	[3]string{"Ann", "born in", "Oslo"}, [3]string{"Oslo", "country", "Norway"},
)

// steps reads "director cast^ …", a caret for the inverse.
func steps(g *storetest.Graph, text string) []Step {
	var out []Step
	for word := range strings.SplitSeq(text, ", ") {
		name, inverse := strings.CutSuffix(word, "^")
		out = append(out, Step{Relation: g.RelationID(name), Inverse: inverse})
	}
	return out
}

func ids(g *storetest.Graph, names ...string) []store.EntityID {
	var out []store.EntityID
	for _, n := range names {
		out = append(out, g.ID(n))
	}
	return out
}

func formatWalks(g *storetest.Graph, walks []Walk) []string {
	var out []string
	for _, w := range walks {
		var names []string
		for _, e := range w.Entities {
			names = append(names, g.EntityName(e))
		}
		out = append(out, strings.Join(names, " > "))
	}
	return out
}

func TestFollow(t *testing.T) {
	tests := []struct {
		name      string
		topics    []string
		path      string
		limit     int
		want      []string
		truncated bool
	}{
		{"one hop lists every object", []string{"Harbour"}, "cast", 10, []string{"Harbour > Bo", "Harbour > Cy"},
			false},
		{"an inverse hop goes from object to subject", []string{"Ann"}, "director^", 10,
			[]string{"Ann > Harbour", "Ann > Tides"}, false},
		{"two hops show what they pass", []string{"Ann"}, "director^, cast", 10, []string{"Ann > Harbour > Bo",
			"Ann > Harbour > Cy", "Ann > Tides > Bo"}, false},
		{"a walk does not go back over the triple it came by", []string{"Harbour"}, "director, director^", 10,
			[]string{"Harbour > Ann > Tides"}, false},
		{"a mediator is passed", []string{"Ann"}, "sibling, sibling^", 10, []string{"Ann > m.0aaaa1 > Dee"}, false},
		{"a mediator is no end", []string{"Ann"}, "sibling", 10, nil, false},
		{"cycles are allowed", []string{"Bo"}, "cast^, director, director^, cast", 10,
			[]string{"Bo > Harbour > Ann > Tides > Bo", "Bo > Tides > Ann > Harbour > Bo",
				"Bo > Tides > Ann > Harbour > Cy"}, false},
		{"topics keep their order", []string{"Tides", "Harbour"}, "director", 10,
			[]string{"Tides > Ann", "Harbour > Ann"}, false},
		{"a topic given twice is followed once", []string{"Tides", "Tides"}, "director", 10, []string{"Tides > Ann"},
			false},
		{"the limit holds for each topic", []string{"Harbour", "Tides"}, "cast", 1,
			[]string{"Harbour > Bo", "Tides > Bo"}, true},
		{"a path that leads nowhere has no walks", []string{"Oslo"}, "country, director", 10, nil, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			walks, truncated, err := Follow(context.Background(), films,
				[]Plan{{steps(films, tt.path), ids(films, tt.topics...)}}, Limit{Walks: tt.limit})
			if err != nil {
				t.Fatal(err)
			}
			if got := formatWalks(films, walks[0]); !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if truncated != tt.truncated {
				t.Errorf("truncated %v, want %v", truncated, tt.truncated)
			}
		})
	}
}

func TestFollowSharesReadsBetweenPlans(t *testing.T) {
	plans := []Plan{
		{steps(films, "director, born in"), ids(films, "Harbour")},
		{steps(films, "director"), ids(films, "Tides")},
		{steps(films, "director, born in, country"), ids(films, "Tides")},
	}
	films.EdgeReads.Store(0)
	walks, _, err := Follow(context.Background(), films, plans, Limit{Walks: 10})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"Harbour > Ann > Oslo", "Tides > Ann", "Tides > Ann > Oslo > Norway"} {
		if got := formatWalks(films, walks[i]); !slices.Equal(got, []string{want}) {
			t.Errorf("plan %d: got %q, want only %q", i, got, want)
		}
	}
	if films.EdgeReads.Load() != 3 {
		t.Errorf("%d reads, want one per hop", films.EdgeReads.Load())
	}
}

type brokenGraph struct{ *storetest.Graph }

var errDown = errors.New("store is down")

func (brokenGraph) Edges(context.Context, []store.EntityID, store.Direction,
	[]store.RelationID) ([][]store.Edge, error) {
	return nil, errDown
}

func TestFollowReturnsStoreErrors(t *testing.T) {
	_, _, err := Follow(context.Background(), brokenGraph{films}, []Plan{{steps(films, "cast"), ids(films, "Tides")}},
		Limit{Walks: 10})
	if !errors.Is(err, errDown) {
		t.Errorf("error %v, want %v", err, errDown)
	}
}

// A slow and plain walk, one path at a time, must agree with the shared one.
func TestFollowAgreesWithBruteForce(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 60 {
		var triples [][3]string
		for range 25 {
			triples = append(triples, [3]string{"e" + strconv.Itoa(r.IntN(7)), "r" + strconv.Itoa(r.IntN(3)),
				"e" + strconv.Itoa(r.IntN(7))})
		}
		g := storetest.NewGraph(triples...)
		var plans []Plan
		for range 6 {
			var p Plan
			for range 1 + r.IntN(3) {
				p.Steps = append(p.Steps, Step{store.RelationID(r.IntN(g.Info().Relations)), r.IntN(2) == 0})
			}
			p.Topics = []store.EntityID{store.EntityID(r.IntN(g.Info().Entities))}
			plans = append(plans, p)
		}
		walks, truncated, err := Follow(context.Background(), g, plans, Limit{Walks: 1000})
		if err != nil || truncated {
			t.Fatalf("truncated %v, error %v", truncated, err)
		}
		for i, p := range plans {
			got, want := formatWalks(g, walks[i]),
				formatWalks(g, bruteForceFollow(g, p.Steps, []store.EntityID{p.Topics[0]}, nil))
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Fatalf("plan %v: got %q, want %q", p, got, want)
			}
		}
	}
}

func bruteForceFollow(g *storetest.Graph, steps []Step, so []store.EntityID, by *store.TripleID) []Walk {
	if len(steps) == 0 {
		return []Walk{{Entities: slices.Clone(so)}}
	}
	lists, _ := g.Edges(context.Background(), so[len(so)-1:], steps[0].Direction(), nil)
	var walks []Walk
	for _, e := range lists[0] {
		if e.Relation == steps[0].Relation && (by == nil || *by != e.Triple) {
			walks = append(walks, bruteForceFollow(g, steps[1:], append(slices.Clone(so), e.Entity), &e.Triple)...)
		}
	}
	return walks
}

func TestWalksHaveTheValidityOfTheirMediator(t *testing.T) {
	g := storetest.NewGraph(
		[3]string{"Polk", "held", "m.0aaaa1"}, [3]string{"m.0aaaa1", "title", "Governor"}, [3]string{"m.0aaaa1", "from",
			"1839"}, [3]string{"m.0aaaa1", "to", "1841"},
		[3]string{"Polk", "held", "m.0aaaa2"}, [3]string{"m.0aaaa2", "title", "Speaker"},
		[3]string{"Polk", "knew", "Speaker"},
	)
	walks, _, err := Follow(context.Background(), g, []Plan{
		{steps(g, "held, title"), ids(g, "Polk")}, {steps(g, "knew"), ids(g, "Polk")},
	}, Limit{Walks: 10})
	if err != nil {
		t.Fatal(err)
	}
	if got := formatWalks(g, walks[0]); !slices.Equal(got, []string{"Polk > m.0aaaa1 > Governor",
		"Polk > m.0aaaa2 > Speaker"}) {
		t.Fatalf("got %q", got)
	}
	if v := walks[0][0].Validity; v == nil || *v != (store.Validity{Start: "1839", End: "1841"}) {
		t.Errorf("governor held %v", v)
	}
	if walks[0][1].Validity != nil || walks[1][0].Validity != nil {
		t.Error("a walk without dates has a validity")
	}
}
