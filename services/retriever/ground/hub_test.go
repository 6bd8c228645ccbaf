package ground

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// testRanker gives higher relations more relevance and higher entities a higher degree; 7 is named.
var testRanker = edgeRanker{
	relevance: func(r store.RelationID) float32 { return float32(r) },
	isNamed:   func(e store.EntityID) bool { return e == 7 },
	degree:    func(e store.EntityID) int { return int(e) },
}

// star returns perRelation[r] edges of each relation r.
func star(perRelation ...int) []store.Edge {
	var edges []store.Edge
	for r, n := range perRelation {
		for i := range n {
			edges = append(edges, store.Edge{Relation: store.RelationID(r), Entity: store.EntityID(i),
				Triple: store.TripleID(len(edges))})
		}
	}
	return edges
}

func countRelation(edges []store.Edge, r store.RelationID) int {
	n := 0
	for _, e := range edges {
		if e.Relation == r {
			n++
		}
	}
	return n
}

func TestCutEdges(t *testing.T) {
	tests := []struct {
		name  string
		edges []store.Edge
		limit int
		want  []int
	}{
		{"a list within the limit is unchanged", star(3, 2), 5, []int{3, 2}},
		{"every relation gets its share and the most relevant takes the rest", star(100, 100), 16, []int{2, 14}},
		{"a relation with few edges leaves its share to others", star(100, 1), 16, []int{15, 1}},
		{"with more relations than the limit only the most relevant are kept", star(1, 1, 1, 1), 2, []int{0, 0, 1, 1}},
		{"a limit of 0 keeps none", star(2, 2), 0, []int{0, 0}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := cutEdges(tt.edges, tt.limit, testRanker)
			for r, want := range tt.want {
				if n := countRelation(got, store.RelationID(r)); n != want {
					t.Errorf("%d edges of relation %d, want %d", n, r, want)
				}
			}
		})
	}
}

func TestCutEdgesKeepsNamedAndHighDegreeEntities(t *testing.T) {
	var got []store.EntityID
	for _, e := range cutEdges(star(20), 3, testRanker) {
		got = append(got, e.Entity)
	}
	if want := []store.EntityID{7, 19, 18}; !slices.Equal(got, want) {
		t.Errorf("kept %v, want %v", got, want)
	}
}

func TestCutEdgesIgnoresEdgeOrder(t *testing.T) {
	edges := star(40, 30, 20)
	want := cutEdges(edges, 25, testRanker)
	r := rand.New(rand.NewPCG(1, 2))
	shuffled := slices.Clone(edges)
	for _, part := range [][]store.Edge{shuffled[:40], shuffled[40:70], shuffled[70:]} {
		r.Shuffle(len(part), func(i, j int) { part[i], part[j] = part[j], part[i] })
	}
	if got := cutEdges(shuffled, 25, testRanker); !slices.Equal(got, want) {
		t.Errorf("shuffled edges give %v, want %v", got, want)
	}
}

func TestLevelLimit(t *testing.T) {
	for _, tt := range []struct {
		name    string
		lengths []int
		limit   int
		want    int
	}{
		{"all fit", []int{3, 5}, 10, 5},
		{"long lists are cut to the same length", []int{2, 50, 60}, 22, 10},
		{"none fits", []int{5, 5}, 1, 0},
		{"no lists", nil, 4, 4},
	} {
		if got := levelLimit(tt.lengths, tt.limit); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}
