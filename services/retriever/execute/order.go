package execute

import (
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

// order puts the clauses so that each pattern joins what is there already: drafts begin with what
// their variables are, and the engine would multiply all rivers by all states by all states. A pattern
// that has nothing to do with a rank comes after it, as a rank by count drops all other variables.
func order(plan *graphv1.QueryPlan) *graphv1.QueryPlan {
	out := proto.CloneOf(plan)
	out.Clauses = nil
	live := map[string]bool{}
	var scope []*graphv1.QueryClause
	for _, c := range plan.GetClauses() {
		rank := c.GetRank()
		if rank == nil {
			scope = append(scope, c)
			continue
		}
		inside, outside := split(scope, kgtext.ClauseVariables(c))
		out.Clauses = append(append(out.Clauses, chain(inside, live)...), c)
		if scope = outside; rank.GetCount() {
			live = map[string]bool{rank.GetGroupBy(): true}
		}
	}
	out.Clauses = append(out.Clauses, chain(scope, live)...)
	return out
}

// split returns the clauses that hang together with some variables, and the others.
func split(scope []*graphv1.QueryClause, variables []string) (inside, outside []*graphv1.QueryClause) {
	for grown := true; grown; {
		grown = false
		for _, c := range scope {
			own := kgtext.ClauseVariables(c)
			joined := slices.ContainsFunc(own, func(v string) bool { return slices.Contains(variables, v) })
			if !joined {
				continue
			}
			for _, v := range own {
				if !slices.Contains(variables, v) {
					variables, grown = append(variables, v), true
				}
			}
		}
	}
	for _, c := range scope {
		own := kgtext.ClauseVariables(c)
		if len(own) == 0 || slices.Contains(variables, own[0]) {
			inside = append(inside, c)
		} else {
			outside = append(outside, c)
		}
	}
	return inside, outside
}

// chain orders the clauses of a scope; live are the variables that are bound, and grows.
func chain(scope []*graphv1.QueryClause, live map[string]bool) []*graphv1.QueryClause {
	left := slices.Clone(scope)
	ordered := make([]*graphv1.QueryClause, 0, len(left))
	isLive := func(v string) bool { return live[v] }
	for len(left) > 0 {
		best, bestRank := 0, 5
		for i, c := range left {
			own, rank := kgtext.ClauseVariables(c), 4
			switch p := c.GetMatch(); {
			case c.GetValues() != nil:
				rank = 0
			case p == nil && slices.ContainsFunc(own, func(v string) bool { return !live[v] }):
				rank = 4 // nothing binds it yet
			case p == nil:
				rank = 1
			case slices.ContainsFunc(own, isLive):
				rank = 2
			case p.GetStart().GetEntity() != "" || p.GetEnd().GetEntity() != "":
				rank = 3
			}
			if rank < bestRank {
				best, bestRank = i, rank
			}
		}
		if bestRank == 4 { // a pattern binds, an exclusion or a condition does not
			best = max(0, slices.IndexFunc(left, func(c *graphv1.QueryClause) bool { return c.GetMatch() != nil }))
		}
		c := left[best]
		left = slices.Delete(left, best, best+1)
		ordered = append(ordered, c)
		if c.GetMatch() != nil || c.GetValues() != nil {
			for _, v := range kgtext.ClauseVariables(c) {
				live[v] = true
			}
		}
	}
	return ordered
}
