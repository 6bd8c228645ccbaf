package walk

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
)

var painter = storetest.NewGraph(
	[3]string{"Ida", "painted", "Alder"}, [3]string{"Ida", "painted", "Birch"}, [3]string{"Ida", "painted", "Cedar"},
	[3]string{"Cedar", "shown in", "Oslo"}, [3]string{"Cedar", "year", "1901"}, [3]string{"Birch", "shown in", "Oslo"},
)

func TestLimitSelectsByRelevance(t *testing.T) {
	asks := func(question string) func(context.Context) ([]float32, error) {
		return func(context.Context) ([]float32, error) { return storetest.WordVector(question), nil }
	}
	tests := []struct {
		name      string
		limit     Limit
		want      []string
		truncated bool
	}{
		{"without a question the end of the highest degree is kept", Limit{Walks: 1}, []string{"Ida > Cedar"}, true},
		{"of two the second highest too, in the order of the edges", Limit{Walks: 2},
			[]string{"Ida > Birch", "Ida > Cedar"}, true},
		{"with a question the nearest is kept", Limit{Walks: 1, Question: asks("who painted Alder")},
			[]string{"Ida > Alder"}, true},
		{"a question that has no vector is none", Limit{Walks: 1, Question: func(context.Context) ([]float32,
			error) {
			return nil, nil
		}}, []string{"Ida > Cedar"}, true},
		{"walks within the limit are not ranked", Limit{Walks: 3, Question: func(context.Context) ([]float32,
			error) {
			return nil, errDown
		}}, []string{"Ida > Alder", "Ida > Birch", "Ida > Cedar"}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			walks, truncated, err := Follow(context.Background(), painter,
				[]Plan{{steps(painter, "painted"), ids(painter, "Ida")}}, tt.limit)
			if err != nil {
				t.Fatal(err)
			}
			if got := formatWalks(painter, walks[0]); !slices.Equal(got, tt.want) || truncated != tt.truncated {
				t.Errorf("got %q, truncated %v, want %q, %v", got, truncated, tt.want, tt.truncated)
			}
		})
	}
}

type unscored struct {
	*storetest.Graph
	err error
}

func (u unscored) ScoreTriples(context.Context, [][]float32, []store.TripleID) ([][]float32, error) {
	return nil, u.err
}

func TestLimitSelectsByDegreeWithoutVectors(t *testing.T) {
	plans := []Plan{{steps(painter, "painted"), ids(painter, "Ida")}}
	limit := Limit{Walks: 1, Question: func(context.Context) ([]float32, error) {
		return storetest.WordVector("Alder"),
			nil
	}}
	walks, _, err := Follow(context.Background(), unscored{painter, store.ErrNoVectors}, plans, limit)
	if err != nil {
		t.Fatal(err)
	}
	if got := formatWalks(painter, walks[0]); !slices.Equal(got, []string{"Ida > Cedar"}) {
		t.Errorf("got %q, want the highest degree", got)
	}
	if _, _, err := Follow(context.Background(), unscored{painter, errDown}, plans, limit); !errors.Is(err, errDown) {
		t.Errorf("error %v, want %v", err, errDown)
	}
	limit.Question = func(context.Context) ([]float32, error) { return nil, errDown }
	if _, _, err := Follow(context.Background(), painter, plans, limit); !errors.Is(err, errDown) {
		t.Errorf("error %v, want %v", err, errDown)
	}
}

// hub is a graph in which entity 0 has many objects, each of which points back to it. An object's
// degree grows with its number modulo 1000.
type hub struct {
	unscored
	edges []store.Edge
}

func newHub(n int) *hub {
	h := &hub{unscored{films, store.ErrNoVectors}, make([]store.Edge, n)}
	for i := range h.edges {
		h.edges[i] = store.Edge{Entity: store.EntityID(i + 1), Triple: store.TripleID(i)}
	}
	return h
}

func (h *hub) Kind(store.EntityID) store.Kind            { return store.Entity }
func (h *hub) EntityName(store.EntityID) string          { return "x" }
func (h *hub) RelationName(store.RelationID) string      { return "r" }
func (h *hub) RelationVector(store.RelationID) []float32 { return storetest.WordVector("r") }
func (h *hub) Degree(e store.EntityID, _ store.Direction) int {
	if e == 0 {
		return len(h.edges)
	}
	return int(e) % 1000
}

func (h *hub) Edges(_ context.Context, entities []store.EntityID, dir store.Direction,
	_ []store.RelationID) ([][]store.Edge, error) {
	lists := make([][]store.Edge, len(entities))
	for i, e := range entities {
		switch {
		case e == 0 && dir == store.Out:
			lists[i] = h.edges
		case e != 0 && dir == store.In:
			lists[i] = []store.Edge{{Entity: 0, Triple: store.TripleID(e - 1)}}
		}
	}
	return lists, nil
}

func TestAHubIsBounded(t *testing.T) {
	h := newHub(1_000_000)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	walks, truncated, err := Follow(context.Background(), h, []Plan{
		{[]Step{{}}, []store.EntityID{0}},
		{[]Step{{}, {Inverse: true}, {}}, []store.EntityID{0}},
		{[]Step{{Inverse: true}, {}}, []store.EntityID{7, 8, 9}},
	}, Limit{Walks: 10})
	if err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 8<<20 {
		t.Errorf("took %d bytes, want less than half of what the hub's edges take", took)
	}
	if !truncated || len(walks[0]) != 10 || len(walks[2]) != 30 {
		t.Errorf("truncated %v, %d and %d walks; want 10 and 30", truncated, len(walks[0]), len(walks[2]))
	}
	for i, w := range walks[0] {
		if want := store.EntityID(1000*i + 999); w.Entities[1] != want {
			t.Errorf("walk %d ends in %d, want %d: the highest degree, the first of ties", i, w.Entities[1], want)
		}
	}
}

func TestBestIndicesAgreesWithSorting(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		scores := make([]uint32, r.IntN(40))
		order := make([]int, len(scores))
		for i := range scores {
			scores[i], order[i] = uint32(r.IntN(9)), i
		}
		k := r.IntN(45)
		slices.SortStableFunc(order, func(a, b int) int { return int(scores[b]) - int(scores[a]) })
		want := slices.Sorted(slices.Values(order[:min(k, len(order))]))
		if got := bestIndices(len(scores), k, func(i int) uint32 { return scores[i] }); !slices.Equal(got, want) {
			t.Fatalf("best %d of %v: got %v, want %v", k, scores, got, want)
		}
	}
}

func TestSuggestDoesNotContinueFromAHub(t *testing.T) {
	paths, err := Suggest(context.Background(), newHub(maxHopReads+1), &storetest.WordEncoder{},
		SuggestRequest{Question: "r", Topics: []store.EntityID{7}, MaxHops: 4, Limit: 9})
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) != 1 || paths[0].Ends != 1 {
		t.Errorf("paths %v, want only the one to the hub", paths)
	}
}
