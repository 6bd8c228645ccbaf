package query

import (
	"regexp"
	"strings"

	"github.com/triplemesh/triplemesh/internal/cypher"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

// newPlan returns what a Cypher statement says as a plan of the contract.
func newPlan(p *cypher.Plan) *graphv1.QueryPlan {
	plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Function: functions[p.Result.Function],
		Variable: p.Result.Variable, OtherVariable: p.Result.Other,
		GroupBy: p.Result.GroupBy}}
	for _, c := range p.Clauses {
		plan.Clauses = append(plan.Clauses, newClause(c))
	}
	return plan
}

var functions = map[string]graphv1.QueryFunction{
	"count": graphv1.QueryFunction_QUERY_FUNCTION_COUNT, "sum": graphv1.QueryFunction_QUERY_FUNCTION_SUM,
	"avg": graphv1.QueryFunction_QUERY_FUNCTION_AVERAGE, "min": graphv1.QueryFunction_QUERY_FUNCTION_MINIMUM,
	"max":        graphv1.QueryFunction_QUERY_FUNCTION_MAXIMUM,
	"difference": graphv1.QueryFunction_QUERY_FUNCTION_DIFFERENCE,
	"exists":     graphv1.QueryFunction_QUERY_FUNCTION_EXISTS,
}

func newClause(c cypher.PlanClause) *graphv1.QueryClause {
	switch {
	case c.Match != nil:
		return matchClause(convertPattern(c.Match))
	case c.Exclude != nil:
		return excludeClause(convertPattern(c.Exclude))
	case c.Values != nil:
		return valuesClause(c.Values.Variable, c.Values.Names)
	case c.Rank != nil:
		return rankClause(&graphv1.QueryRank{Variable: c.Rank.Variable, GroupBy: c.Rank.GroupBy, Count: c.Rank.Count,
			Descending: c.Rank.Descending, Limit: c.Rank.Limit, Operator: operatorOf(c.Rank.Operator),
			Amount: c.Rank.Amount})
	}
	if c.Condition.Other != "" {
		return compareClause(c.Condition.Variable, operatorOf(c.Condition.Operator), c.Condition.Other)
	}
	return conditionClause(c.Condition.Variable, operatorOf(c.Condition.Operator), c.Condition.Value)
}

func convertPattern(p *cypher.PlanPattern) *graphv1.QueryPattern {
	return &graphv1.QueryPattern{Start: convertTerm(p.Start), End: convertTerm(p.End),
		Steps: []*graphv1.RelationStep{{Relation: p.Relation}}}
}

func convertTerm(t cypher.PlanTerm) *graphv1.QueryTerm {
	if t.Variable != "" {
		return variableTerm(t.Variable)
	}
	return entityTerm(t.Entity)
}

// cypherForm begins a statement, whether or not a plan can hold it. A chain has no space behind its kind.
var cypherForm = regexp.MustCompile(
	`(?i)^\s*(?:match|optional|create|merge|call|unwind|with|detach|delete|return|load)\s`)

// matchForm is a statement that reads, within prose.
var matchForm = regexp.MustCompile(`(?is)\bMATCH\b.*\bRETURN\b`)

// findStatement returns the Cypher statement in what a model or a person wrote, empty if there is none.
func findStatement(text string) string {
	at := matchForm.FindStringIndex(text)
	if at == nil {
		return ""
	}
	statement := text[at[0]:]
	if fence := strings.Index(statement, "```"); fence >= 0 {
		statement = statement[:fence]
	}
	return strings.TrimSpace(statement)
}
