package ground

import (
	"cmp"
	"slices"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// edgeRanker ranks the edges of a hub by their value to a question.
type edgeRanker struct {
	// relevance is the cosine of a relation to the question.
	relevance func(store.RelationID) float32
	// isNamed reports whether the question or its pseudo-graph names an entity.
	isNamed func(store.EntityID) bool
	// degree is the number of edges of an entity.
	degree func(store.EntityID) int
}

// hubShares divides the limit into equal shares: no relation takes more than one of them while
// others still have edges.
const hubShares = 8

// cutEdges returns at most limit edges of an entity, which must be ordered by relation: those of
// the most relevant relations, and within a relation first those to named entities, then those to
// entities of the highest degree. The choice does not depend on the order of the edges within a
// relation. A list within the limit is returned unchanged.
func cutEdges(edges []store.Edge, limit int, ranker edgeRanker) []store.Edge {
	if len(edges) <= limit {
		return edges
	}
	groups := splitByRelation(edges)
	slices.SortStableFunc(groups, func(a, b []store.Edge) int {
		return cmp.Compare(ranker.relevance(b[0].Relation), ranker.relevance(a[0].Relation))
	})
	taken := make([]int, len(groups))
	share, room := max(limit/hubShares, 1), limit
	for i, g := range groups {
		taken[i] = min(len(g), share, room)
		room -= taken[i]
	}
	for i, g := range groups {
		more := min(len(g)-taken[i], room)
		taken[i] += more
		room -= more
	}
	chosen := make([]store.Edge, 0, limit)
	for i, g := range groups {
		if 0 < taken[i] && taken[i] < len(g) {
			g = rankEdges(g, ranker)
		}
		chosen = append(chosen, g[:taken[i]]...)
	}
	return chosen
}

func splitByRelation(edges []store.Edge) [][]store.Edge {
	var groups [][]store.Edge
	first := 0
	for i := range edges {
		if i+1 == len(edges) || edges[i+1].Relation != edges[i].Relation {
			groups = append(groups, edges[first:i+1])
			first = i + 1
		}
	}
	return groups
}

// rankEdges returns a copy sorted by rank: named entities first, then by degree.
func rankEdges(edges []store.Edge, ranker edgeRanker) []store.Edge {
	type ranked struct {
		store.Edge
		named, degree int
	}
	all := make([]ranked, len(edges))
	for i, e := range edges {
		all[i] = ranked{Edge: e, degree: ranker.degree(e.Entity)}
		if ranker.isNamed(e.Entity) {
			all[i].named = 1
		}
	}
	slices.SortFunc(all, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(b.named, a.named), cmp.Compare(b.degree, a.degree),
			cmp.Compare(a.Triple, b.Triple))
	})
	sorted := make([]store.Edge, len(all))
	for i, r := range all {
		sorted[i] = r.Edge
	}
	return sorted
}

// levelLimit returns the limit per list with which all lists together keep at most limit items:
// short lists leave their share to long ones.
func levelLimit(lengths []int, limit int) int {
	sorted := slices.Sorted(slices.Values(lengths))
	for i, n := range sorted {
		if n*(len(sorted)-i) > limit {
			return limit / (len(sorted) - i)
		}
		limit -= n
	}
	if len(sorted) == 0 {
		return limit
	}
	return sorted[len(sorted)-1]
}
