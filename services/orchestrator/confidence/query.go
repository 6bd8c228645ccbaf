package confidence

import (
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// bounded is the confidence in a value that a limit makes a lower bound.
const bounded = 0.5

// queryGraphs returns the graphs of query, whether it was asked for or chosen; nil for other methods.
func queryGraphs(run *orchestratorv1.Run) *orchestratorv1.QueryGraphs {
	if g := run.GetQuery(); g != nil {
		return g
	}
	return run.GetAuto().GetQuery()
}

// estimateQuery returns the probability that a computed answer is right: what was computed is right if
// the plan is, so it is that of the alignment.
func estimateQuery(run *orchestratorv1.Run, g *orchestratorv1.QueryGraphs) *float32 {
	if len(run.GetAnswers()) == 0 {
		return nil
	}
	c := min(most, max(least, g.GetAlignment()))
	if len(g.GetTable().GetLimits()) > 0 {
		c = min(c, bounded)
	}
	return &c
}
