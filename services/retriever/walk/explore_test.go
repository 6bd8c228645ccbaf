package walk

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
)

// randomGraph has more relations than there are finalists, with as few words as make many paths
// equally good.
func randomGraph(random *rand.Rand) *storetest.Graph {
	var triples [][3]string
	for range 600 {
		triples = append(triples, [3]string{
			fmt.Sprint("entity ", random.IntN(60)),
			fmt.Sprintf("word%d of word%d", random.IntN(12), random.IntN(12)), fmt.Sprint("entity ", random.IntN(60)),
		})
	}
	return storetest.NewGraph(triples...)
}

func TestExtensionsThatAreNotFollowedAreNotAmongTheBest(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const beam = 5
	skipped := 0
	for range 20 {
		g := randomGraph(random)
		a := aimed(t, g, "which word3 has the word7 of the word1 of entity 5", "entity 5")
		frontier := []*prospect{{topic: g.ID("entity 5"), reach: ids(g, "entity 5"),
			via: []store.EntityID{severalEntities}, similarity: similarity{near: make([]float32, 1)}}}
		for range 3 {
			all, some := extended(t, g, a, frontier, 1<<12), extended(t, g, a, frontier, beam)
			skipped += len(all) - len(some)
			finalists := func(ranked []*prospect) []string {
				ranked = slices.DeleteFunc(slices.Clone(ranked), func(p *prospect) bool { return len(p.ends) == 0 })
				return described(ranked[:min(len(ranked), maxFinalists)])
			}
			if got, want := finalists(some), finalists(all); !slices.Equal(got, want) {
				t.Fatalf("finalists %q, want %q", got, want)
			}
			best := min(beam, len(all))
			if got, want := described(some[:best]), described(all[:best]); !slices.Equal(got, want) {
				t.Fatalf("the search continues from %q, want %q", got, want)
			}
			frontier = all[:min(len(all), 8)]
		}
	}
	if skipped == 0 {
		t.Error("every extension was followed")
	}
}

func extended(t *testing.T, g *storetest.Graph, a *aim, frontier []*prospect, beam int) []*prospect {
	t.Helper()
	e := newExtender(g, a, maxFinalists)
	next, err := e.extend(context.Background(), frontier, beam)
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(next, compareProspects)
	return next
}

func described(prospects []*prospect) []string {
	var all []string
	for _, p := range prospects {
		all = append(all, fmt.Sprint(p.steps, p.ends, p.score))
	}
	return all
}
