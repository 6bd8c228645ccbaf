package query

import (
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

func variableTerm(name string) *graphv1.QueryTerm {
	return &graphv1.QueryTerm{Term: &graphv1.QueryTerm_Variable{Variable: name}}
}

func entityTerm(name string) *graphv1.QueryTerm {
	return &graphv1.QueryTerm{Term: &graphv1.QueryTerm_Entity{Entity: name}}
}

func newPattern(start, relation string, end *graphv1.QueryTerm) *graphv1.QueryPattern {
	return &graphv1.QueryPattern{Start: variableTerm(start), End: end,
		Steps: []*graphv1.RelationStep{{Relation: relation}}}
}

func matchClause(p *graphv1.QueryPattern) *graphv1.QueryClause {
	return &graphv1.QueryClause{Clause: &graphv1.QueryClause_Match{Match: p}}
}

func excludeClause(p *graphv1.QueryPattern) *graphv1.QueryClause {
	return &graphv1.QueryClause{Clause: &graphv1.QueryClause_Exclude{Exclude: p}}
}

func valuesClause(variable string, names []string) *graphv1.QueryClause {
	return &graphv1.QueryClause{Clause: &graphv1.QueryClause_Values{Values: &graphv1.QueryValues{
		Variable: variable, Entities: names}}}
}

func conditionClause(variable string, op graphv1.QueryOperator, value string) *graphv1.QueryClause {
	return &graphv1.QueryClause{Clause: &graphv1.QueryClause_Condition{Condition: &graphv1.QueryCondition{
		Variable: variable, Operator: op, Operand: &graphv1.QueryCondition_Value{Value: value}}}}
}

func rankClause(r *graphv1.QueryRank) *graphv1.QueryClause {
	return &graphv1.QueryClause{Clause: &graphv1.QueryClause_Rank{Rank: r}}
}
