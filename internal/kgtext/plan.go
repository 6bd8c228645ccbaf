package kgtext

import (
	"fmt"
	"slices"
	"strings"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

// operatorMarks are the marks of operators.
var operatorMarks = map[graphv1.QueryOperator]string{
	graphv1.QueryOperator_QUERY_OPERATOR_EQUAL: "=", graphv1.QueryOperator_QUERY_OPERATOR_NOT_EQUAL: "≠",
	graphv1.QueryOperator_QUERY_OPERATOR_LESS: "<", graphv1.QueryOperator_QUERY_OPERATOR_LESS_OR_EQUAL: "≤",
	graphv1.QueryOperator_QUERY_OPERATOR_GREATER: ">", graphv1.QueryOperator_QUERY_OPERATOR_GREATER_OR_EQUAL: "≥",
}

// DescribeClause returns a clause of a plan on one line: "?film directed_by → Luc Besson".
func DescribeClause(c *graphv1.QueryClause) string {
	switch c := c.GetClause().(type) {
	case *graphv1.QueryClause_Match:
		return DescribePattern(c.Match)
	case *graphv1.QueryClause_Exclude:
		return "not " + DescribePattern(c.Exclude)
	case *graphv1.QueryClause_Values:
		return "?" + c.Values.GetVariable() + " is " + strings.Join(c.Values.GetEntities(), " or ")
	case *graphv1.QueryClause_Condition:
		other := c.Condition.GetValue()
		if v := c.Condition.GetOtherVariable(); v != "" {
			other = "?" + v
		}
		return "?" + c.Condition.GetVariable() + " " + operatorMarks[c.Condition.GetOperator()] + " " + other
	case *graphv1.QueryClause_Rank:
		return describeRank(c.Rank)
	}
	return ""
}

func describeRank(r *graphv1.QueryRank) string {
	if mark := operatorMarks[r.GetOperator()]; mark != "" {
		return fmt.Sprintf("?%s has %s %d ?%s", r.GetGroupBy(), mark, r.GetAmount(), r.GetVariable())
	}
	text := "least"
	if r.GetDescending() {
		text = "most"
	}
	if n := r.GetLimit(); n > 1 {
		text = fmt.Sprintf("%s %d", text, n)
	}
	if r.GetCount() {
		return fmt.Sprintf("%s ?%s for each ?%s", text, r.GetVariable(), r.GetGroupBy())
	}
	return text + " ?" + r.GetVariable()
}

// IsListed reports whether a clause of a plan lists the names that a variable stands for.
func IsListed(plan *graphv1.QueryPlan, variable string) bool {
	return slices.ContainsFunc(plan.GetClauses(), func(c *graphv1.QueryClause) bool {
		return c.GetValues() != nil && c.GetValues().GetVariable() == variable
	})
}

// ClauseVariables returns the variables of a clause.
func ClauseVariables(c *graphv1.QueryClause) []string {
	all := []string{c.GetMatch().GetStart().GetVariable(), c.GetMatch().GetEnd().GetVariable(),
		c.GetExclude().GetStart().GetVariable(), c.GetExclude().GetEnd().GetVariable(), c.GetValues().GetVariable(),
		c.GetCondition().GetVariable(), c.GetCondition().GetOtherVariable(), c.GetRank().GetVariable(),
		c.GetRank().GetGroupBy()}
	return slices.DeleteFunc(all, func(v string) bool { return v == "" })
}

// PlanNames returns the names of a plan, those of kinds too, each once.
func PlanNames(plan *graphv1.QueryPlan) []string {
	return listNames(plan, func(*graphv1.QueryPattern) bool { return true })
}

// ThingNames returns the names of a plan without those of kinds in a draft, each once.
func ThingNames(plan *graphv1.QueryPlan) []string {
	return listNames(plan, func(p *graphv1.QueryPattern) bool { return DescribeRelation(p) != "type" })
}

// listNames returns the names that a plan lists, and those in the patterns that hold.
func listNames(plan *graphv1.QueryPlan, holds func(*graphv1.QueryPattern) bool) []string {
	var all []string
	add := func(names ...string) {
		for _, name := range names {
			if name != "" && !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	for _, c := range plan.GetClauses() {
		for _, p := range []*graphv1.QueryPattern{c.GetMatch(), c.GetExclude()} {
			if holds(p) {
				add(p.GetStart().GetEntity(), p.GetEnd().GetEntity())
			}
		}
		add(c.GetValues().GetEntities()...)
	}
	return all
}

// DescribePattern returns a pattern on one line.
func DescribePattern(p *graphv1.QueryPattern) string {
	return describeTerm(p.GetStart()) + " " + DescribeSteps(p.GetSteps()) + " " + describeTerm(p.GetEnd())
}

// DescribeSteps returns the relations of a pattern with their directions.
func DescribeSteps(steps []*graphv1.RelationStep) string {
	parts := make([]string, len(steps))
	for i, s := range steps {
		names := strings.Join(append([]string{s.GetRelation()}, s.GetAlternatives()...), " or ")
		parts[i] = names + " →"
		if s.GetInverse() {
			parts[i] = "← " + names
		}
	}
	return strings.Join(parts, " ")
}

func describeTerm(t *graphv1.QueryTerm) string {
	if v := t.GetVariable(); v != "" {
		return "?" + v
	}
	return t.GetEntity()
}

// functionNames are the functions in words.
var functionNames = map[graphv1.QueryFunction]string{
	graphv1.QueryFunction_QUERY_FUNCTION_COUNT: "count", graphv1.QueryFunction_QUERY_FUNCTION_SUM: "sum",
	graphv1.QueryFunction_QUERY_FUNCTION_AVERAGE:    "average",
	graphv1.QueryFunction_QUERY_FUNCTION_MINIMUM:    "least",
	graphv1.QueryFunction_QUERY_FUNCTION_MAXIMUM:    "greatest",
	graphv1.QueryFunction_QUERY_FUNCTION_DIFFERENCE: "difference",
}

// FunctionName returns a function in a word; empty of those that compute no value.
func FunctionName(f graphv1.QueryFunction) string { return functionNames[f] }

// ComparesCounts reports whether a result is of how many of two variables there are.
func ComparesCounts(r *graphv1.QueryResult) bool {
	return r.GetOtherVariable() != "" && (r.GetFunction() == graphv1.QueryFunction_QUERY_FUNCTION_COUNT ||
		r.GetFunction() == graphv1.QueryFunction_QUERY_FUNCTION_EXISTS)
}

// DescribeResult returns what a plan computes on one line.
func DescribeResult(r *graphv1.QueryResult) string {
	switch asksWhether := r.GetFunction() == graphv1.QueryFunction_QUERY_FUNCTION_EXISTS; {
	case ComparesCounts(r) && asksWhether:
		return "are there more ?" + r.GetVariable() + " than ?" + r.GetOtherVariable()
	case ComparesCounts(r):
		return "how many more ?" + r.GetVariable() + " than ?" + r.GetOtherVariable()
	case asksWhether:
		return "is there any"
	}
	text := "?" + r.GetVariable()
	switch name := FunctionName(r.GetFunction()); name {
	case "":
	case "sum", "average", "difference":
		text = name + " of " + text
	default:
		text = name + " " + text
	}
	if v := r.GetOtherVariable(); v != "" {
		text += " and ?" + v
	}
	if u := r.GetUnit(); u != "" {
		text += " in " + u
	}
	if g := r.GetGroupBy(); g != "" {
		text += " for each ?" + g
	}
	return text
}

// ResultVariables returns the variables that a result is of.
func ResultVariables(r *graphv1.QueryResult) []string {
	all := []string{r.GetVariable(), r.GetOtherVariable(), r.GetGroupBy()}
	return slices.DeleteFunc(all, func(v string) bool { return v == "" })
}

// ValuedVariables returns the variables that must be numbers or dates: a plan compares, ranks or computes with them.
func ValuedVariables(plan *graphv1.QueryPlan) map[string]bool {
	valued := map[string]bool{}
	for _, c := range plan.GetClauses() {
		cond, v := c.GetCondition(), c.GetCondition().GetOtherVariable()
		switch {
		case v != "" && cond.GetOperator() == graphv1.QueryOperator_QUERY_OPERATOR_EQUAL: // so may be names
		case v != "":
			valued[cond.GetVariable()], valued[v] = true, true
		case cond != nil && (cond.GetValue() == "" || IsComparable(cond.GetValue())):
			valued[cond.GetVariable()] = true
		}
		if r := c.GetRank(); r != nil && !r.GetCount() {
			valued[r.GetVariable()] = true
		}
	}
	switch r := plan.GetResult(); r.GetFunction() {
	case graphv1.QueryFunction_QUERY_FUNCTION_UNSPECIFIED, graphv1.QueryFunction_QUERY_FUNCTION_COUNT,
		graphv1.QueryFunction_QUERY_FUNCTION_EXISTS:
	default:
		valued[r.GetVariable()] = true
		if v := r.GetOtherVariable(); v != "" {
			valued[v] = true
		}
	}
	return valued
}

// HasValue reports whether a plan has a fact by which a variable has one of these that must be numbers or dates.
func HasValue(plan *graphv1.QueryPlan, variable string, valued map[string]bool) bool {
	return variable != "" && slices.ContainsFunc(plan.GetClauses(), func(c *graphv1.QueryClause) bool {
		p := c.GetMatch()
		return p != nil && p.GetStart().GetVariable() == variable && valued[p.GetEnd().GetVariable()]
	})
}

// DescribePlan returns a plan, a clause a line, the result last.
func DescribePlan(p *graphv1.QueryPlan) []string {
	var lines []string
	for _, c := range p.GetClauses() {
		lines = append(lines, DescribeClause(c))
	}
	if p.GetResult().GetVariable() != "" {
		lines = append(lines, DescribeResult(p.GetResult()))
	}
	return lines
}

// DescribeRelation returns the words of a pattern's relation.
func DescribeRelation(p *graphv1.QueryPattern) string {
	words := make([]string, len(p.GetSteps()))
	for i, s := range p.GetSteps() {
		words[i] = s.GetRelation()
	}
	return strings.Join(words, " ")
}
