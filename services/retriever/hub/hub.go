// Package hub chooses among the edges of an entity that has more of them than
// can be looked at: those of the relations that matter most, and of each
// relation the edges that are named or lead to what is best known. What is left
// out never depends on the order in which edges happen to lie.
package hub

import (
	"cmp"
	"slices"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// Judge says what matters to a question.
type Judge struct {
	// Relevance is how near a relation is to what is asked.
	Relevance func(store.RelationID) float32
	// Named tells the entities that the question or its pseudo-graph names.
	Named func(store.EntityID) bool
	// Degree is how many edges an entity has: how well known it is.
	Degree func(store.EntityID) int
}

// shares is into how many equal parts the limit is divided: no relation takes
// more than one of them while others still have edges.
const shares = 8

// Cut returns the limit edges that matter most, by relation, the most relevant
// first; all of them, as they are, where there are no more than that. The edges
// must be in the order of their relations.
func Cut(edges []store.Edge, limit int, judge Judge) []store.Edge {
	if len(edges) <= limit {
		return edges
	}
	groups := byRelation(edges)
	relevance := make(map[store.RelationID]float32, len(groups))
	for _, g := range groups {
		relevance[g[0].Relation] = judge.Relevance(g[0].Relation)
	}
	slices.SortStableFunc(groups, func(a, b []store.Edge) int {
		return cmp.Compare(relevance[b[0].Relation], relevance[a[0].Relation])
	})
	taken := make([]int, len(groups))
	share, room := max(limit/shares, 1), limit
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
			g = best(g, judge)
		}
		chosen = append(chosen, g[:taken[i]]...)
	}
	return chosen
}

func byRelation(edges []store.Edge) [][]store.Edge {
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

// best sorts a copy: named ends first, then the best known.
func best(edges []store.Edge, judge Judge) []store.Edge {
	type ranked struct {
		store.Edge
		named  bool
		degree int
	}
	all := make([]ranked, len(edges))
	for i, e := range edges {
		all[i] = ranked{e, judge.Named(e.Entity), judge.Degree(e.Entity)}
	}
	slices.SortFunc(all, func(a, b ranked) int {
		if a.named != b.named {
			if a.named {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(b.degree, a.degree), cmp.Compare(a.Triple, b.Triple))
	})
	sorted := make([]store.Edge, len(all))
	for i, r := range all {
		sorted[i] = r.Edge
	}
	return sorted
}

// Level is the most that each of some lists may keep so that all together keep
// no more than limit: short lists leave their room to the long ones.
func Level(lengths []int, limit int) int {
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
