package execute

import (
	"slices"
	"strconv"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// isStar reports whether a plan asks for one variable, or for how many it has, and each of its
// patterns is one step from this variable to a name or to what nothing else is said of. What reading
// left of the variable is the answer then: the engine would join 100,000 rows to find it again.
func (c *compiled) isStar() bool {
	result := c.plan.GetResult()
	switch result.GetFunction() {
	case graphv1.QueryFunction_QUERY_FUNCTION_UNSPECIFIED, graphv1.QueryFunction_QUERY_FUNCTION_COUNT:
	default:
		return false
	}
	ends := map[string]int{}
	for _, clause := range c.plan.GetClauses() {
		p := clause.GetMatch()
		start, end := p.GetStart(), p.GetEnd()
		if end.GetVariable() == result.GetVariable() {
			start, end = end, start
		}
		if len(p.GetSteps()) != 1 || start.GetVariable() != result.GetVariable() ||
			end.GetVariable() == result.GetVariable() {
			return false
		}
		if ends[end.GetVariable()]++; end.GetVariable() != "" && ends[end.GetVariable()] > 1 {
			return false
		}
	}
	return result.GetOtherVariable() == "" && result.GetGroupBy() == ""
}

// answerStar takes what is left of the variable, and keeps the triples of the rows to be shown.
func (r *runner) answerStar(maxRows int) error {
	r.result.Cypher = r.writer(false).write(maxRows)
	left := r.domains[r.plan.GetResult().GetVariable()].list
	if r.result.Total = len(left); r.plan.GetResult().GetFunction() == graphv1.QueryFunction_QUERY_FUNCTION_COUNT {
		r.result.Value = strconv.Itoa(len(left))
	} else if len(left) == 0 {
		r.result.Reason = nothingFulfils
		return nil
	}
	shown := make(map[store.EntityID]bool, maxRows)
	for _, id := range left[:min(len(left), maxRows)] {
		shown[id] = true
	}
	r.part.facts = slices.DeleteFunc(r.part.facts, func(f fact) bool { return !shown[f.Subject] && !shown[f.Object] })
	r.build()
	return r.runRows(maxRows)
}
