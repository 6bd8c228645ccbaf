package execute

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

// runCounts counts each of the two variables by itself, since their rows have nothing to do with each other, and
// compares the counts. The rows are those of both.
func runCounts(ctx context.Context, snap Snapshot, plan *graphv1.QueryPlan, maxRows int,
	limits Limits) (*Result, error) {
	both := &Result{}
	var counts [2]int
	var statements []string
	for i, variable := range []string{plan.GetResult().GetVariable(), plan.GetResult().GetOtherVariable()} {
		one, err := Run(ctx, snap, planOf(plan, variable), maxRows, limits)
		if err != nil || one.Reason != "" {
			return one, err
		}
		if counts[i], err = strconv.Atoi(one.Value); err != nil {
			return nil, err
		}
		both.Rows, both.Columns = append(both.Rows, one.Rows...), one.Columns
		both.Total, both.Limits = both.Total+one.Total, append(both.Limits, one.Limits...)
		statements = append(statements, one.Cypher)
	}
	both.Cypher = strings.Join(statements, ";\n")
	both.Rows = both.Rows[:min(len(both.Rows), maxRows)]
	if plan.GetResult().GetFunction() == graphv1.QueryFunction_QUERY_FUNCTION_COUNT {
		both.Value = strconv.Itoa(counts[0] - counts[1])
	} else {
		both.Value, _ = formatValue(counts[0] > counts[1], exactDigits)
	}
	return both, nil
}

// planOf returns the count of a variable alone, of the clauses that have to do with it.
func planOf(plan *graphv1.QueryPlan, variable string) *graphv1.QueryPlan {
	joined := map[string]bool{variable: true}
	isJoined := func(c *graphv1.QueryClause) bool {
		return slices.ContainsFunc(kgtext.ClauseVariables(c), func(v string) bool { return joined[v] })
	}
	for before := 0; before < len(joined); {
		before = len(joined)
		for _, c := range plan.GetClauses() {
			if isJoined(c) {
				for _, v := range kgtext.ClauseVariables(c) {
					joined[v] = true
				}
			}
		}
	}
	out := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: variable,
		Function: graphv1.QueryFunction_QUERY_FUNCTION_COUNT}}
	for _, c := range plan.GetClauses() {
		if isJoined(c) {
			out.Clauses = append(out.Clauses, c)
		}
	}
	return out
}
