package query

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

// build makes the clauses and the result of a whole plan.
func (b *builder) build(c *chain) {
	result := b.plan.GetResult()
	switch root := c.calls[0]; strings.ToLower(root.name) {
	case "difference":
		b.subtract(root.args)
		return
	case "sum", "total", "average":
		if len(c.calls) == 1 && (b.total(root) || b.totalOf(root)) {
			return
		}
	}
	result.Variable, result.Function = b.chain(c)
	if open := b.open[result.GetVariable()]; open != "" {
		result.Variable = open // and not what is named
	}
	op := operatorOf(c.operator)
	switch counts := result.GetFunction() == graphv1.QueryFunction_QUERY_FUNCTION_COUNT; {
	case c.after == nil:
	case counts && c.after.isLiteral():
		b.compareCount(op, c.after)
	case !c.after.isLiteral():
		other, function := b.chain(c.after)
		if counts && function == result.GetFunction() {
			b.compareCounts(c.operator, other)
		} else if op != 0 {
			b.add(compareClause(result.GetVariable(), op, other))
		}
	case isNumber(c.after.text) && op != 0:
		b.add(conditionClause(result.GetVariable(), op, clean(c.after.text)))
	}
}

// compareCount reads Film(directed_by="A").count() > 5: whether a name has so many, and Speaker().count("talks") > 1:
// which have. Nothing is left of a plan that names nothing which could have them.
func (b *builder) compareCount(op graphv1.QueryOperator, amount *chain) {
	result := b.plan.GetResult()
	n, err := strconv.ParseUint(clean(amount.text), 10, 32)
	owner := factOf(b.plan, result.GetVariable()).GetStart().GetVariable()
	asksWhich := owner != "" && !kgtext.IsListed(b.plan, owner)
	if asksWhich && b.namedFact(owner) >= 0 {
		owner, asksWhich = "", false
	}
	if i := b.namedFact(result.GetVariable()); owner == "" && i >= 0 {
		p := b.plan.GetClauses()[i].GetMatch()
		owner = b.variable("owner")
		b.plan.Clauses = slices.Insert(b.plan.Clauses, 0, valuesClause(owner, []string{p.GetEnd().GetEntity()}))
		p.End = variableTerm(owner)
	}
	if owner != "" && err == nil && op != 0 {
		b.add(rankClause(&graphv1.QueryRank{Variable: result.GetVariable(), Count: true, GroupBy: owner, Operator: op,
			Amount: uint32(n)}))
		result.Variable, result.Function = owner, graphv1.QueryFunction_QUERY_FUNCTION_EXISTS
		if asksWhich {
			result.Function = graphv1.QueryFunction_QUERY_FUNCTION_UNSPECIFIED
		}
		return
	}
	b.plan.Clauses = nil
}

// compareCounts reads Film(by="A").count() > Film(by="B").count(), and their difference. Nothing is left of other
// comparisons.
func (b *builder) compareCounts(operator, other string) {
	result := b.plan.GetResult()
	result.OtherVariable = other
	switch operator {
	case "-":
		return
	case "<":
		result.Variable, result.OtherVariable = other, result.GetVariable()
	case ">":
	default:
		b.plan.Clauses = nil
		return
	}
	result.Function = graphv1.QueryFunction_QUERY_FUNCTION_EXISTS
}

// namedFact returns the clause that says by a name what a variable is, -1 if there is none.
func (b *builder) namedFact(variable string) int {
	return slices.IndexFunc(b.plan.GetClauses(), func(c *graphv1.QueryClause) bool {
		p := c.GetMatch()
		return p.GetStart().GetVariable() == variable && p.GetEnd().GetEntity() != "" &&
			kgtext.DescribeRelation(p) != TypeRelation
	})
}

// subtract reads difference(A, B) of two values, and difference(A, B, "population") of two things.
func (b *builder) subtract(args []argument) {
	result := b.plan.GetResult()
	values := min(len(args), 2)
	attribute := ""
	for _, a := range args[values:] {
		if !a.value.isLiteral() {
			continue
		}
		if unit := timeUnit(a.value.text); unit != "" {
			result.Unit = unit
		} else {
			attribute = strings.ToLower(clean(a.value.text))
		}
	}
	var variables []string
	counts := 0
	for _, a := range args[:values] {
		if a.value.isLiteral() && timeUnit(a.value.text) != "" {
			result.Unit = timeUnit(a.value.text)
			continue
		}
		operand := nameKind(a.value)
		if operand.isLiteral() && clean(operand.text) == "" {
			continue
		}
		v, function := b.chain(operand)
		if function == graphv1.QueryFunction_QUERY_FUNCTION_COUNT {
			counts++
		}
		if attribute == "" && result.GetUnit() != "" {
			attribute = "date" // what lies between two things in time
		}
		if attribute != "" && len(operand.calls) < 2 {
			v = b.attribute(v, attribute)
		}
		variables = append(variables, v)
	}
	if len(variables) == 2 {
		result.OtherVariable = variables[1]
	}
	if len(variables) > 0 {
		result.Variable, result.Function = variables[0], graphv1.QueryFunction_QUERY_FUNCTION_DIFFERENCE
	}
	if counts == 2 {
		result.Function = graphv1.QueryFunction_QUERY_FUNCTION_COUNT
	}
}

// nameKind returns a chain whose kind selects nothing as one that names a thing: of Kilifi().get("area")
// the area of Kilifi is meant, where one value is asked for.
func nameKind(c *chain) *chain {
	if c.isLiteral() || len(c.calls[0].args) > 0 || isGeneric(strings.ToLower(c.calls[0].name)) {
		return c
	}
	named := call{name: "Thing", args: []argument{{operator: "=", value: &chain{text: splitWords(c.calls[0].name)}}}}
	return &chain{calls: append([]call{named}, c.calls[1:]...)}
}

// totalOf reads average(RunTime()) and average(length) of an attribute of all things, and
// average(Film(by="A").get("length")).
func (b *builder) totalOf(root call) bool {
	if len(root.args) != 1 || root.args[0].name != "" {
		return false
	}
	result, attribute := b.plan.GetResult(), ""
	switch c := root.args[0].value; {
	case len(c.calls) == 1 && len(c.calls[0].args) == 0:
		attribute = c.calls[0].name
	case !c.isLiteral():
		result.Variable, _ = b.chain(c)
	case clean(c.text) == "" || c.text != strings.ToLower(c.text):
		return false // a name
	default:
		attribute = clean(c.text)
	}
	if attribute != "" {
		result.Variable = b.attribute(b.variable("thing"), strings.ToLower(splitWords(attribute)))
	}
	result.Function = functionOf(root.name)
	return true
}

// functionOf returns what the name of a call computes: a sum or a mean.
func functionOf(name string) graphv1.QueryFunction {
	if strings.EqualFold(name, "average") {
		return graphv1.QueryFunction_QUERY_FUNCTION_AVERAGE
	}
	return graphv1.QueryFunction_QUERY_FUNCTION_SUM
}

// total reads sum(A, B) of one attribute of named things. It reports false if these are something else.
func (b *builder) total(root call) bool {
	var names []string
	attribute := ""
	for _, a := range root.args {
		operand := nameKind(a.value)
		switch {
		case operand.isLiteral() && a.name == "":
			names = append(names, clean(operand.text))
		case operand.isLiteral() || len(operand.calls) > 2 || len(operand.calls[0].args) != 1:
			return false
		default:
			name := operand.calls[0].args[0]
			if !name.value.isLiteral() {
				return false
			}
			names = append(names, clean(name.value.text))
			attribute = cmp.Or(attribute, strings.ToLower(splitWords(name.name)))
		}
		if len(operand.calls) == 2 && len(operand.calls[1].args) == 1 && operand.calls[1].args[0].value.isLiteral() {
			attribute = strings.ToLower(splitWords(operand.calls[1].args[0].value.text))
		}
	}
	if len(names) < 2 {
		return false
	}
	v := b.variable("thing")
	b.add(valuesClause(v, names))
	result := b.plan.GetResult()
	result.Variable = b.attribute(v, cmp.Or(attribute, "number"))
	result.Function = functionOf(root.name)
	return true
}
