package query

import (
	"strings"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

func (b *builder) add(c *graphv1.QueryClause) {
	if len(b.plan.Clauses) < maxClauses {
		b.plan.Clauses = append(b.plan.Clauses, c)
	}
}

// pattern adds a pattern; an empty relation is any.
func (b *builder) pattern(v, relation string, end *graphv1.QueryTerm, exclude bool) {
	if relation == "" {
		relation = "in"
	}
	p := newPattern(v, relation, end)
	if exclude {
		b.add(excludeClause(p))
	} else {
		b.add(matchClause(p))
	}
}

// attribute adds a variable for an attribute.
func (b *builder) attribute(v, phrase string) string {
	attribute := b.variable(phrase)
	b.add(matchClause(newPattern(v, phrase, variableTerm(attribute))))
	return attribute
}

// addName names a variable. If it has a name, the kind is a relation: Director("A") named B says that B
// is the director of A.
func (b *builder) addName(v, name string) {
	for _, c := range b.plan.GetClauses() {
		if c.GetValues().GetVariable() == v {
			b.pattern(v, kindOf(v), entityTerm(name), false)
			return
		}
	}
	b.add(valuesClause(v, []string{name}))
}

// rank adds a ranking by an attribute or, for "number of bridges", by a count.
func (b *builder) rank(v, phrase string, descending bool) {
	if counted, counts := cutCounted(phrase); counts {
		attribute := b.attribute(v, counted)
		b.add(rankClause(&graphv1.QueryRank{Variable: attribute, Count: true, GroupBy: v, Descending: descending}))
		return
	}
	if kindOf(v) != phrase {
		v = b.attribute(v, phrase)
	} // else Elevation(in_="A").most("elevation") is the greatest of these
	b.add(rankClause(&graphv1.QueryRank{Variable: v, Descending: descending}))
}

// clean bounds a name.
func clean(text string) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "")), " ")
	if len(text) > 1024 {
		text = strings.ToValidUTF8(text[:1024], "")
	}
	return text
}

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

func compareClause(variable string, op graphv1.QueryOperator, other string) *graphv1.QueryClause {
	return &graphv1.QueryClause{Clause: &graphv1.QueryClause_Condition{Condition: &graphv1.QueryCondition{
		Variable: variable, Operator: op, Operand: &graphv1.QueryCondition_OtherVariable{OtherVariable: other}}}}
}

func rankClause(r *graphv1.QueryRank) *graphv1.QueryClause {
	return &graphv1.QueryClause{Clause: &graphv1.QueryClause_Rank{Rank: r}}
}
