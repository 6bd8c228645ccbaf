package cypher

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// project adds what WITH hands on or RETURN computes.
func (b *planner) project(p *projection) {
	if p.skip != nil {
		b.fail("SKIP")
		return
	}
	if p.star && len(p.items) == 0 {
		b.fail("RETURN *")
		return
	}
	renamed, aliases := map[string]string{}, map[string]expr{}
	for _, item := range p.items {
		if v, ok := unwrap(item.value).(*variable); ok {
			if known := b.variables[v.name]; known != "" {
				renamed[item.name] = known
			} else if alias := b.aliases[v.name]; alias != nil {
				aliases[item.name] = alias // never an alias of a name, which may be its own
			}
			continue
		}
		aliases[item.name] = item.value
		if _, ok := unwrap(item.value).(*property); ok && !p.isReturn {
			renamed[item.name] = b.operand(item.value)
		}
	}
	maps.Copy(b.aliases, aliases)
	if slices.ContainsFunc(p.items, func(i *item) bool { return b.aggregateOf(i.value) != nil }) {
		b.grouped = p
	}
	b.order(p)
	for name, v := range renamed {
		if !p.isReturn {
			b.variables[name] = v
		}
	}
	b.addCondition(p.condition)
	if p.isReturn && b.err == nil {
		b.result(p)
	}
}

// order adds the ranking of ORDER BY … LIMIT. Without a limit the order chooses nothing.
func (b *planner) order(p *projection) {
	if len(p.order) == 0 || p.limit == nil {
		return
	}
	text, ok := literalText(p.limit)
	limit := uint32(0)
	for _, r := range text {
		if r < '0' || r > '9' || limit > 100 {
			ok = false
			break
		}
		limit = limit*10 + uint32(r-'0')
	}
	if !ok || limit == 0 {
		b.fail("LIMIT %.20s", text)
		return
	}
	key := p.order[0]
	rank := &PlanRank{Descending: key.descending}
	if limit > 1 {
		rank.Limit = limit
	}
	if aggregate := b.aggregateOf(key.value); aggregate != nil {
		if aggregate.name != "count" {
			b.fail("ORDER BY %s()", aggregate.name)
			return
		}
		counted := b.countFor(aggregate)
		counted.Descending, counted.Limit = rank.Descending, rank.Limit
		rank = counted
	} else {
		rank.Variable = b.operand(key.value)
	}
	if b.err == nil {
		b.add(PlanClause{Rank: rank})
	}
}

// groupOf returns the variable of the first column that is no aggregate.
func (b *planner) groupOf(p *projection) string {
	for _, item := range p.items {
		if b.aggregateOf(item.value) == nil {
			return b.operand(item.value)
		}
	}
	b.fail("an order by a count without a group")
	return ""
}

// findCounted returns the variable that count(x) counts, empty for count(*).
func (b *planner) findCounted(c *call) string {
	if c.star || len(c.args) == 0 {
		return ""
	}
	return b.operand(c.args[0])
}

// otherThan returns the variable that count(*) counts for each group: the first that is not the group.
func (b *planner) otherThan(group string) string {
	for _, c := range b.plan.Clauses {
		if c.Match == nil {
			continue
		}
		for _, t := range []PlanTerm{c.Match.Start, c.Match.End} {
			if v := t.Variable; v != "" && v != group {
				return v
			}
		}
	}
	b.fail("count(*) of one variable")
	return ""
}

// result sets what RETURN computes: the first column, the first that is an aggregate if all are, or the first
// aggregate for each of another column.
func (b *planner) result(p *projection) {
	result := &b.plan.Result
	first := p.items[0].value
	var aggregate *call
	for _, item := range p.items {
		if a := b.aggregateOf(item.value); a != nil {
			aggregate = cmp.Or(aggregate, a)
		} else if b.aggregateOf(first) != nil {
			first = item.value // what the aggregate is grouped by
		}
	}
	if aggregate != nil && b.aggregateOf(first) == nil && b.group == "" && b.computeEach(aggregate, first) {
		return
	}
	switch e := unwrapResult(first).(type) {
	case *comparison:
		if c := b.aggregateOf(e.operands[0]); len(e.ops) == 1 && c != nil && c.name == "count" {
			result.Variable = b.findCountedOrAny(c)
		} else {
			b.addCondition(e)
			result.Variable = b.otherThan("")
		}
		result.Function = "exists"
	case *patternExpr:
		b.pattern(e, false)
		result.Variable, result.Function = b.otherThan(""), "exists"
	case *binary:
		b.difference(e.op, e.left, e.right)
	case *call:
		b.compute(e)
	default:
		result.Variable = b.operand(first)
	}
}

// computeEach sets an aggregate for each group as the result. It reports false if the group is no name or
// value, or is what is aggregated.
func (b *planner) computeEach(aggregate *call, group expr) bool {
	result := &b.plan.Result
	switch group.(type) {
	case *variable, *property:
		b.compute(aggregate)
		result.GroupBy = b.operand(group)
	}
	if b.err == nil && (result.Function == "" || result.GroupBy == "" || result.GroupBy == result.Variable) {
		*result = PlanResult{}
		return false
	}
	return true
}

// unwrapResult takes abs and round off a difference.
func unwrapResult(e expr) expr {
	if c, ok := e.(*call); ok && (c.name == "abs" || c.name == "round") && len(c.args) > 0 {
		return c.args[0]
	}
	return e
}

func (b *planner) findCountedOrAny(c *call) string {
	return cmp.Or(b.findCounted(c), b.group, b.otherThan(""))
}

func (b *planner) difference(op string, left, right expr) {
	if op != "-" {
		b.fail("%q of two values", op)
		return
	}
	result := &b.plan.Result
	result.Function = "difference"
	result.Variable, result.Other = b.operand(left), b.operand(right)
}

// compute sets an aggregate as the result.
func (b *planner) compute(c *call) {
	result := &b.plan.Result
	function, ok := map[string]string{"count": "count", "sum": "sum", "avg": "avg", "min": "min", "max": "max",
		"collect": ""}[c.name]
	switch {
	case strings.HasPrefix(c.name, "duration.") && len(c.args) == 2:
		b.difference("-", c.args[0], c.args[1])
		return
	case !ok && len(c.args) > 0 && unwrap(c) != expr(c):
		result.Variable = b.operand(c)
		return
	case !ok:
		b.fail("%s()", c.name)
		return
	}
	result.Function = function
	result.Variable = b.findCountedOrAny(c)
}
