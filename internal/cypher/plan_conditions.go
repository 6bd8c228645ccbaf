package cypher

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// opposites are what NOT makes of an operator.
var opposites = map[string]string{"=": "<>", "<>": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}

// mirrored are operators whose sides are exchanged.
var mirrored = map[string]string{"=": "=", "<>": "<>", "<": ">", ">": "<", "<=": ">=", ">=": "<="}

// addCondition adds what a condition says.
func (b *planner) addCondition(e expr) {
	if e == nil || b.err != nil {
		return
	}
	switch e := e.(type) {
	case *binary:
		switch e.op {
		case "AND":
			b.addCondition(e.left)
			b.addCondition(e.right)
		case "IN":
			b.addMembership(e.left, e.right, false)
		case "CONTAINS", "STARTS WITH", "ENDS WITH", "=~":
			b.comparePair(e.left, "=", e.right)
		case "OR":
			b.or(e)
		default:
			b.fail("%s in a condition", e.op)
		}
	case *comparison:
		for i, op := range e.ops {
			b.comparePair(e.operands[i], op, e.operands[i+1])
		}
	case *unary:
		if e.op != "NOT" {
			b.fail("%s in a condition", e.op)
			return
		}
		b.addNegation(e.operand)
	case *patternExpr:
		b.pattern(e, false)
	case *isNull:
		b.exists(e.operand, e.not)
	case *labelTest:
		if v := b.operand(e.target); v != "" && len(e.labels) > 0 {
			b.match(planPattern(variableTerm(v), TypeRelation, entityTerm(b.words(e.labels[0]))))
		}
	case *call:
		if e.name == "exists" && len(e.args) == 1 {
			b.exists(e.args[0], true)
			return
		}
		b.fail("%s() as a condition", e.name)
	default:
		b.fail("%.60q as a condition", b.text(e))
	}
}

// addNegation adds that a condition does not hold.
func (b *planner) addNegation(e expr) {
	switch e := e.(type) {
	case *patternExpr:
		b.pattern(e, true)
	case *binary:
		switch e.op {
		case "IN":
			b.addMembership(e.left, e.right, true)
		case "CONTAINS", "STARTS WITH", "ENDS WITH", "=~":
			b.comparePair(e.left, "<>", e.right)
		case "OR":
			b.addNegation(e.left)
			b.addNegation(e.right)
		default:
			b.fail("NOT of %s", e.op)
		}
	case *comparison:
		if len(e.ops) == 1 {
			b.comparePair(e.operands[0], opposites[e.ops[0]], e.operands[1])
			return
		}
		b.fail("NOT of several comparisons")
	case *isNull:
		b.exists(e.operand, !e.not)
	case *call:
		if e.name == "exists" && len(e.args) == 1 {
			b.exists(e.args[0], false)
			return
		}
		b.fail("NOT %s()", e.name)
	default:
		b.fail("NOT %.60q", b.text(e))
	}
}

// exists adds that a property is there or, if it is not wanted, that it is not.
func (b *planner) exists(e expr, wanted bool) {
	if p, ok := e.(*patternExpr); ok {
		b.pattern(p, !wanted)
		return
	}
	owner, key := b.property(e)
	switch {
	case owner == "":
		b.fail("a test of %.60q", b.text(e))
	case wanted:
		b.attribute(owner, key)
	default:
		b.exclude(planPattern(variableTerm(owner), b.words(key), variableTerm(b.fresh(key))))
	}
}

// property returns the variable of the plan and the key that an expression reads, if it is a property
// that is no name.
func (b *planner) property(e expr) (owner, key string) {
	p, ok := unwrap(e).(*property)
	if !ok || isName(p.key) {
		return "", ""
	}
	if target, ok := p.target.(*variable); ok {
		return b.variables[target.name], p.key
	}
	return "", ""
}

func (b *planner) exclude(p *PlanPattern) {
	b.add(PlanClause{Exclude: p})
}

// pattern adds a path that must match, or must not.
func (b *planner) pattern(e *patternExpr, exclude bool) {
	switch {
	case !exclude:
		for _, p := range e.paths {
			b.path(p)
		}
		b.addCondition(e.condition)
		return
	case len(e.paths) != 1 || len(e.paths[0].rels) != 1 || e.condition != nil:
		b.fail("the exclusion of more than one relationship")
		return
	}
	p := e.paths[0]
	before := len(b.plan.Clauses)
	left, right := b.node(p.nodes[0], true), b.node(p.nodes[1], true)
	// What the excluded nodes are is not said of the rows.
	b.plan.Clauses = b.plan.Clauses[:before]
	if pattern := b.relationship(p.rels[0], left, right); pattern != nil {
		b.exclude(pattern)
	}
}

// addMembership adds that a value is one of a list, or none of it.
func (b *planner) addMembership(left, right expr, exclude bool) {
	texts, ok := literalTexts(right)
	if !ok {
		b.fail("IN of what is no list of texts or numbers")
		return
	}
	if exclude {
		for _, text := range texts {
			b.compareText(left, "<>", text)
		}
		return
	}
	if v := b.operand(left); v != "" {
		b.values(v, texts...)
	}
}

// or adds that one property has one of several values; a plan holds no other choice.
func (b *planner) or(e *binary) {
	var texts []string
	var left expr
	var collect func(expr) bool
	collect = func(e expr) bool {
		if or, ok := e.(*binary); ok && or.op == "OR" {
			return collect(or.left) && collect(or.right)
		}
		c, ok := e.(*comparison)
		if !ok || len(c.ops) != 1 || c.ops[0] != "=" || left != nil && b.text(left) != b.text(c.operands[0]) {
			return false
		}
		left = c.operands[0]
		text, ok := literalText(c.operands[1])
		texts = append(texts, text)
		return ok && text != ""
	}
	if !collect(e) {
		b.fail("OR of different conditions")
		return
	}
	if v := b.operand(left); v != "" {
		b.values(v, texts...)
	}
}

// comparePair adds a comparison of two expressions.
func (b *planner) comparePair(left expr, op string, right expr) {
	if _, ok := literalText(left); ok {
		left, right, op = right, left, mirrored[op]
	}
	if aggregate := cmp.Or(b.aggregateOf(left), b.aggregateOf(right)); aggregate != nil {
		b.compareCount(aggregate, op, right)
		return
	}
	if text, ok := literalText(right); ok {
		b.compareText(left, op, text)
		return
	}
	v, other := b.operand(left), b.operand(right)
	if v == "" || other == "" {
		return
	}
	b.add(PlanClause{Condition: &PlanCondition{Variable: v, Operator: op, Other: other}})
}

// compareCount keeps the groups that have so many.
func (b *planner) compareCount(counted *call, op string, amount expr) {
	text, _ := literalText(amount)
	n, err := strconv.ParseUint(text, 10, 32)
	if counted.name != "count" || err != nil || b.grouped == nil {
		b.fail("a condition on %s() but of a count for each of something with a whole number", counted.name)
		return
	}
	rank := b.countFor(counted)
	rank.Operator, rank.Amount = op, uint32(n)
	b.add(PlanClause{Rank: rank})
}

// countFor returns the rank that counts for each group. Behind one there is nothing left to count.
func (b *planner) countFor(counted *call) *PlanRank {
	if b.group != "" {
		b.fail("two comparisons of counts")
	}
	b.group = b.groupOf(b.grouped)
	rank := &PlanRank{Count: true, GroupBy: b.group, Variable: b.findCounted(counted)}
	if rank.Variable == "" {
		rank.Variable = b.otherThan(rank.GroupBy)
	}
	return rank
}

// settle keeps an OPTIONAL MATCH as a match if something is asked of what it binds: then what lacks it is
// not asked for, or counts 0. If nothing is, it changes no result.
func (b *planner) settle(o planOptional) {
	if b.err != nil {
		return
	}
	clauses := b.plan.Clauses
	own, elsewhere := variablesOf(clauses[o.begin:o.end]), variablesOf(clauses[:o.begin])
	own = slices.DeleteFunc(own, func(v string) bool { return slices.Contains(elsewhere, v) })
	result := b.plan.Result
	later := append(variablesOf(clauses[o.end:]), result.Variable, result.Other)
	if !slices.ContainsFunc(own, func(v string) bool { return slices.Contains(later, v) }) {
		b.plan.Clauses = slices.Delete(clauses, o.begin, o.end)
		return
	}
	for _, c := range clauses[o.end:] {
		if c.Rank == nil || !c.Rank.Count || !slices.Contains(own, c.Rank.Variable) {
			continue
		}
		isPart := func(c PlanClause) bool { return c.Match == nil }
		if len(own) > 1 || slices.ContainsFunc(clauses[o.begin:o.end], isPart) ||
			!slices.Contains(elsewhere, c.Rank.GroupBy) {
			b.fail("a count over an OPTIONAL MATCH but of one relation of something that MATCH restricts")
		}
	}
}

// variablesOf returns the variables of clauses.
func variablesOf(clauses []PlanClause) []string {
	var all []string
	for _, c := range clauses {
		for _, p := range []*PlanPattern{c.Match, c.Exclude} {
			if p != nil {
				all = append(all, p.Start.Variable, p.End.Variable)
			}
		}
		switch {
		case c.Condition != nil:
			all = append(all, c.Condition.Variable, c.Condition.Other)
		case c.Values != nil:
			all = append(all, c.Values.Variable)
		case c.Rank != nil:
			all = append(all, c.Rank.Variable, c.Rank.GroupBy)
		}
	}
	return slices.DeleteFunc(all, func(v string) bool { return v == "" })
}

// compareText adds a comparison with a literal. A text that is no number or date is a name: a relation
// leads to it or not.
func (b *planner) compareText(left expr, op, text string) {
	if owner, key := b.property(left); owner != "" {
		attribute := b.attributes[[2]string{owner, key}]
		if attribute == "" && startsWithDigit(text) {
			attribute = b.attribute(owner, key)
		}
		b.compare(attribute, op, text, owner, key)
		return
	}
	v := b.operand(left)
	switch {
	case v == "":
	case op == "=" && !startsWithDigit(text):
		b.values(v, text)
	default:
		b.condition(v, op, text)
	}
}

// compare adds a comparison of an attribute, a variable of its own or none yet, of a thing.
func (b *planner) compare(attribute, op, text, v, key string) {
	if attribute != "" {
		b.condition(attribute, op, text)
		return
	}
	p := planPattern(variableTerm(v), b.words(key), entityTerm(text))
	switch op {
	case "=":
		b.match(p)
	case "<>":
		b.exclude(p)
	default:
		b.fail("an order of texts")
	}
}

func startsWithDigit(s string) bool {
	s = strings.TrimLeft(s, "-+$€£ ")
	return s != "" && s[0] >= '0' && s[0] <= '9'
}
