package query

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

// relationOf returns the last relation of a candidate; empty if it has none.
func relationOf(c *graphv1.RelationCandidate) string {
	if len(c.GetSteps()) == 0 {
		return ""
	}
	return c.GetSteps()[len(c.GetSteps())-1].GetRelation()
}

// isInverse reports whether a candidate leads from the end of its triples to their subject.
func isInverse(c *graphv1.RelationCandidate) bool {
	return len(c.GetSteps()) == 1 && c.GetSteps()[0].GetInverse()
}

// isNamed reports whether a relation has the name of a kind, whatever its number.
func isNamed(relation, kind string) bool {
	return holdsWords(relation, kind) && holdsWords(kind, relation)
}

// dropDated leaves out the condition on a year that a relation has in its name: "Population (2005)" is
// of 2005.
func (x *alignment) dropDated() {
	for i, c := range x.draft.GetClauses() {
		cond := c.GetCondition()
		if cond.GetOperator() != graphv1.QueryOperator_QUERY_OPERATOR_EQUAL ||
			!fourDigits.MatchString(cond.GetValue()) {
			continue
		}
		at := slices.IndexFunc(x.draft.GetClauses(), func(c *graphv1.QueryClause) bool {
			return c.GetMatch() != nil && c.GetMatch().GetEnd().GetVariable() == cond.GetVariable()
		})
		for j, other := range x.draft.GetClauses() {
			p := other.GetMatch()
			if at < 0 || p == nil || j == at || cond.GetVariable() == x.draft.GetResult().GetVariable() {
				continue
			}
			best := x.choose(kgtext.DescribeRelation(p), x.patterns[j].GetCandidates(), p.GetEnd().GetVariable())
			if best == nil || !strings.Contains(relationOf(best), cond.GetValue()) {
				continue
			}
			x.dropped[i], x.dropped[at] = true, true
			x.edit(graphv1.EditKind_EDIT_KIND_DELETE, kgtext.DescribeClause(c), "",
				fmt.Sprintf("%q is of that year", relationOf(best)), nil)
			break
		}
	}
}

var fourDigits = regexp.MustCompile(`^\d{4}$`)

// isOwnValue reports whether a pattern asks for an attribute of what is itself a number or a date, which
// is then meant: the height of the highest elevation of a place.
func (x *alignment) isOwnValue(at int, p *graphv1.QueryPattern) bool {
	start, end := p.GetStart().GetVariable(), p.GetEnd().GetVariable()
	if !x.literals[start] || end == "" {
		return false
	}
	x.edit(graphv1.EditKind_EDIT_KIND_DELETE, kgtext.DescribePattern(p), "", "?"+start+" is the value itself", nil)
	for _, c := range x.draft.GetClauses()[at+1:] {
		renameVariable(c, end, start)
	}
	result := x.plan.GetResult()
	if result.GetVariable() == end {
		result.Variable = start
	}
	if result.GetOtherVariable() == end {
		result.OtherVariable = start
	}
	if result.GetGroupBy() == end {
		result.GroupBy = start
	}
	return true
}

// renameVariable puts one variable in the place of another.
func renameVariable(c *graphv1.QueryClause, from, to string) {
	for _, t := range []*graphv1.QueryTerm{c.GetMatch().GetStart(), c.GetMatch().GetEnd(),
		c.GetExclude().GetStart(), c.GetExclude().GetEnd()} {
		if t.GetVariable() == from && from != "" {
			t.Term = &graphv1.QueryTerm_Variable{Variable: to}
		}
	}
	if cond := c.GetCondition(); cond.GetVariable() == from {
		cond.Variable = to
	}
	if cond := c.GetCondition(); cond.GetOtherVariable() == from && from != "" {
		cond.Operand = &graphv1.QueryCondition_OtherVariable{OtherVariable: to}
	}
	if rank := c.GetRank(); rank.GetVariable() == from {
		rank.Variable = to
	}
	if rank := c.GetRank(); rank.GetGroupBy() == from && from != "" {
		rank.GroupBy = to
	}
}

// saysBest reports whether a pattern serves a ranking only that a relation states: a lowest point is
// the lowest by its relation. The ranking is left out with it.
func (x *alignment) saysBest(at int, p *graphv1.QueryPattern) bool {
	start, end := p.GetStart().GetVariable(), p.GetEnd().GetVariable()
	bound := x.ends[start]
	for _, c := range x.plan.GetClauses() {
		if m := c.GetMatch(); bound == nil && m.GetStart().GetVariable() == start {
			bound = &graphv1.RelationCandidate{Steps: m.GetSteps()}
		}
	}
	if bound == nil || !asksBest.MatchString(relationOf(bound)) || !holdsSuperlative(x.question, relationOf(bound)) {
		return false
	}
	ranked := -1
	for i, c := range x.draft.GetClauses() {
		switch {
		case c.GetRank().GetVariable() == end && !c.GetRank().GetCount():
			ranked = i
		case i != at && end != "" && slices.Contains(kgtext.ClauseVariables(c), end):
			return false
		}
	}
	if ranked < 0 || x.draft.GetResult().GetVariable() == end {
		return false
	}
	x.dropped[ranked] = true
	x.edit(graphv1.EditKind_EDIT_KIND_DELETE, kgtext.DescribePattern(p), "",
		fmt.Sprintf("%q says so already", relationOf(bound)), nil)
	return true
}

// holdsSuperlative reports whether a question has the superlative of a relation.
func holdsSuperlative(question, relation string) bool {
	word := asksBest.FindString(relation)
	return word != "" && strings.Contains(strings.ToLower(question), strings.ToLower(word))
}

// addColumn adds that the rows of a table have the column that a kind names: the songs of a table whose
// rows are performances.
func (x *alignment) addColumn(p *graphv1.QueryPattern, column *graphv1.RelationCandidate) {
	if x.plan.GetResult().GetFunction() != graphv1.QueryFunction_QUERY_FUNCTION_EXISTS && isFlag(column) {
		x.addFlag(p, column, false)
		return
	}
	out := proto.CloneOf(p)
	v := x.newVariable()
	out.Steps, out.End = column.GetSteps(), &graphv1.QueryTerm{Term: &graphv1.QueryTerm_Variable{Variable: v}}
	after := &graphv1.QueryClause{Clause: &graphv1.QueryClause_Match{Match: out}}
	x.edit(graphv1.EditKind_EDIT_KIND_REPLACE, kgtext.DescribePattern(p), kgtext.DescribeClause(after),
		"the table has a column for it", nil)
	x.plan.Clauses = append(x.plan.Clauses, after)
	x.columns[p.GetStart().GetVariable()] = v
	x.ends[v] = column
}

// isFlag reports whether the values of a relation are yes and no.
func isFlag(c *graphv1.RelationCandidate) bool {
	return len(c.GetExamples()) > 0 && !slices.ContainsFunc(c.GetExamples(), func(t *graphv1.Triple) bool {
		return !kgtext.IsFlag(t.GetObject())
	})
}

// rankColumn ranks the rows of a table by a column of numbers, where the plan counts these as things: who scored the
// most goals has the greatest number of goals.
func (x *alignment) rankColumn() {
	for i, c := range x.draft.GetClauses() {
		p, columns := c.GetMatch(), x.patterns[i].GetElsewhere()
		if p == nil || kgtext.DescribeRelation(p) != typeRelation || len(columns) == 0 ||
			columns[0].GetComparable() < 0.8 || !isNamed(relationOf(columns[0]), p.GetEnd().GetEntity()) {
			continue
		}
		number := p.GetStart().GetVariable()
		at := slices.IndexFunc(x.draft.GetClauses(), func(c *graphv1.QueryClause) bool {
			r := c.GetRank()
			return r.GetCount() && r.GetVariable() == number && r.GetGroupBy() == x.draft.GetResult().GetVariable()
		})
		if at < 0 {
			continue
		}
		rank := x.draft.GetClauses()[at].GetRank()
		row := &graphv1.QueryTerm{Term: &graphv1.QueryTerm_Variable{Variable: rank.GetGroupBy()}}
		for j, other := range x.draft.GetClauses() {
			m := other.GetMatch()
			if m.GetStart().GetVariable() == number && m.GetEnd().GetVariable() == rank.GetGroupBy() {
				x.dropped[j] = true
			}
		}
		c.Clause = &graphv1.QueryClause_Match{Match: &graphv1.QueryPattern{Start: row, End: p.GetStart(),
			Steps: []*graphv1.RelationStep{{Relation: p.GetEnd().GetEntity()}}}}
		rank.Count, rank.GroupBy, x.valued[number] = false, "", true
		x.patterns[i] = &graphv1.PatternCandidates{Clause: uint32(i), Candidates: columns}
		return
	}
}

// askFlagged asks for the things of which a relation says yes, where the plan asks for its value: the captain of a club
// is the one of its players who is a captain.
func (x *alignment) askFlagged(p *graphv1.QueryPattern, best *graphv1.RelationCandidate) bool {
	result, last := x.plan.GetResult(), len(best.GetSteps())-1
	if v := p.GetEnd().GetVariable(); last < 1 || v == "" || v != result.GetVariable() || !isFlag(best) ||
		result.GetFunction() == graphv1.QueryFunction_QUERY_FUNCTION_EXISTS {
		return false
	}
	thing, flag := proto.CloneOf(best), proto.CloneOf(best)
	thing.Steps, flag.Steps = best.GetSteps()[:last], best.GetSteps()[last:]
	x.add(p, thing, nil, false)
	x.addFlag(&graphv1.QueryPattern{Start: p.GetEnd(), Steps: p.GetSteps(), End: p.GetEnd()}, flag, false)
	return true
}

// addFlag adds that a relation says yes of a variable, or that it does not, where the plan says that it is what the
// relation is called: hardy.
func (x *alignment) addFlag(p *graphv1.QueryPattern, flag *graphv1.RelationCandidate, exclude bool) {
	yes := "yes"
	for _, t := range flag.GetExamples() {
		if strings.EqualFold(t.GetObject(), yes) {
			yes = t.GetObject()
		}
	}
	x.add(p, flag, []*graphv1.EntityLink{{Entity: yes}}, exclude)
}

// isCellOf reports whether another clause leads from a row to a variable by the column itself, in either direction: the
// jockey of a named horse is the cell of the horse's row.
func (x *alignment) isCellOf(variable string, column *graphv1.RelationCandidate) bool {
	for i, c := range x.draft.GetClauses() {
		p := c.GetMatch()
		isStart, isEnd := p.GetStart().GetVariable() == variable, p.GetEnd().GetVariable() == variable
		if !isStart && !isEnd || kgtext.DescribeRelation(p) == typeRelation {
			continue
		}
		best := x.choose(kgtext.DescribeRelation(p), x.patterns[i].GetCandidates(), p.GetEnd().GetVariable())
		if best != nil && len(best.GetSteps()) == 1 && isInverse(best) == isStart &&
			relationOf(best) == relationOf(column) {
			return true
		}
	}
	return false
}

// countRows counts the rows of each value of a column, where the plan counts what a row has: the owner
// with the most stations, of a table whose rows are stations.
func (x *alignment) countRows(p *graphv1.QueryPattern) bool {
	row, counted := p.GetStart().GetVariable(), p.GetEnd().GetVariable()
	column := x.columns[row]
	if column == "" || counted == "" {
		return false
	}
	if result := x.plan.GetResult(); result.GetGroupBy() == row && result.GetVariable() == counted &&
		result.GetFunction() == graphv1.QueryFunction_QUERY_FUNCTION_COUNT {
		before := kgtext.DescribeResult(result)
		result.Variable, result.GroupBy = row, column
		delete(x.columns, row)
		x.edit(graphv1.EditKind_EDIT_KIND_REPLACE, kgtext.DescribePattern(p)+"; "+before, kgtext.DescribeResult(result),
			"in a table every row is one", nil)
		return true
	}
	for _, c := range x.draft.GetClauses() {
		rank := c.GetRank()
		if !rank.GetCount() || rank.GetVariable() != counted || rank.GetGroupBy() != row {
			continue
		}
		before := kgtext.DescribeClause(c)
		rank.Variable, rank.GroupBy = row, column
		x.edit(graphv1.EditKind_EDIT_KIND_REPLACE, kgtext.DescribePattern(p)+"; "+before, kgtext.DescribeClause(c),
			"in a table every row is one", nil)
		return true
	}
	return false
}

// countsNamed counts the things themselves if the plan counts what the same relation names of them: the
// members of the team engineering are the rows that have it for their team.
func (x *alignment) countsNamed(p *graphv1.QueryPattern, best *graphv1.RelationCandidate) bool {
	result, thing := x.plan.GetResult(), p.GetStart().GetVariable()
	if thing == "" || result.GetFunction() != graphv1.QueryFunction_QUERY_FUNCTION_COUNT ||
		result.GetVariable() != p.GetEnd().GetVariable() || !slices.ContainsFunc(x.plan.GetClauses(),
		func(c *graphv1.QueryClause) bool {
			m := c.GetMatch()
			return m.GetEnd().GetEntity() != "" && m.GetStart().GetVariable() == thing &&
				kgtext.StepsKey(m.GetSteps()) == kgtext.StepsKey(best.GetSteps())
		}) {
		return false
	}
	before := kgtext.DescribeResult(result)
	result.Variable = thing
	delete(x.columns, thing)
	x.edit(graphv1.EditKind_EDIT_KIND_REPLACE, before, kgtext.DescribeResult(result), "each of them has that name", nil)
	return true
}

// countsShared counts what two names share if the plan counts one of them: how many times A directed B is the number
// of films of A with B.
func (x *alignment) countsShared(p *graphv1.QueryPattern, best *graphv1.RelationCandidate,
	links []*graphv1.EntityLink) bool {
	result, steps := x.plan.GetResult(), best.GetSteps()
	if len(steps) != 2 || len(links) == 0 || result.GetVariable() != p.GetStart().GetVariable() ||
		result.GetFunction() != graphv1.QueryFunction_QUERY_FUNCTION_COUNT ||
		!kgtext.IsListed(x.draft, result.GetVariable()) {
		return false
	}
	shared := &graphv1.QueryTerm{Term: &graphv1.QueryTerm_Variable{Variable: x.newVariable()}}
	first, second := proto.CloneOf(best), proto.CloneOf(best)
	first.Steps, second.Steps = steps[:1], steps[1:]
	x.add(&graphv1.QueryPattern{Start: p.GetStart(), End: shared, Steps: p.GetSteps()}, first, nil, false)
	x.add(&graphv1.QueryPattern{Start: shared, End: p.GetEnd(), Steps: p.GetSteps()}, second, links, false)
	result.Variable = shared.GetVariable()
	return true
}

// countsPeople is "how many people work in A", and peopleForm a kind of these.
var (
	countsPeople = regexp.MustCompile(`(?i)^how many (?:people|persons|employees) (?:work|are employed) ` +
		`(?:at|for|in|on) `)
	peopleForm = regexp.MustCompile(`(?i)^(?:people|person|human|employees?|staff|(?:staff )?members?|workers?)$`)
)

// findWorkers returns the only relation by which people have a named thing, where the plan counts who work there; nil
// if there is none.
func (x *alignment) findWorkers(p *graphv1.QueryPattern,
	candidates []*graphv1.RelationCandidate) *graphv1.RelationCandidate {
	result := x.draft.GetResult()
	if !countsPeople.MatchString(x.question) || result.GetFunction() != graphv1.QueryFunction_QUERY_FUNCTION_COUNT ||
		result.GetVariable() != p.GetEnd().GetVariable() || !kgtext.IsListed(x.draft, p.GetStart().GetVariable()) {
		return nil
	}
	isPeople := func(c *graphv1.RelationCandidate) bool {
		return len(c.GetSteps()) == 1 && isInverse(c) && slices.ContainsFunc(c.GetEndTypes(), peopleForm.MatchString)
	}
	at := slices.IndexFunc(candidates, isPeople)
	if at < 0 || slices.ContainsFunc(candidates[at+1:], isPeople) {
		return nil
	}
	return candidates[at]
}

// askColumn makes the column of a kind the answer, where rows of a table would be, unless these are asked for: "which
// models have been discontinued".
func (x *alignment) askColumn() {
	result := x.plan.GetResult()
	if v := x.columns[result.GetGroupBy()]; v != "" {
		before := kgtext.DescribeResult(result)
		result.GroupBy = v
		x.edit(graphv1.EditKind_EDIT_KIND_REPLACE, before, kgtext.DescribeResult(result), "the groups are the column",
			nil)
		return
	}
	v := x.columns[result.GetVariable()]
	counts := result.GetFunction() == graphv1.QueryFunction_QUERY_FUNCTION_COUNT
	asked := kgtext.AskedKinds(x.question)
	if v == "" || !counts && result.GetFunction() != graphv1.QueryFunction_QUERY_FUNCTION_UNSPECIFIED ||
		asked != nil && x.hasKind(result.GetVariable(), asked...) {
		return
	}
	before := kgtext.DescribeResult(result)
	result.Variable = v
	if column := x.ends[v]; counts && column.GetComparable() > 0.8 && !kgtext.IsTime(relationOf(column)) &&
		!ordinalForm.MatchString(relationOf(column)) {
		result.Function = graphv1.QueryFunction_QUERY_FUNCTION_SUM // of a column of numbers the total
	}
	x.edit(graphv1.EditKind_EDIT_KIND_REPLACE, before, kgtext.DescribeResult(result),
		"the question asks for the column", nil)
}

// ordinalForm is a relation that numbers things or ranks them: "Track number", "Rank", "#".
var ordinalForm = regexp.MustCompile(`(?i)(?:\bnumber|\bno\.?|#|\brank(?:ing)?|\bposition|\bplace|\bpos\.?|\bid)$`)

// isRank reports whether a relation ranks things, the best with the least number.
func isRank(relation string) bool {
	switch kgtext.Fold(relation) {
	case "rank", "ranking", "position", "place", "pos":
		return true
	}
	return false
}

var asksTop = regexp.MustCompile(`(?i)\b(?:top|best|highest|first|leading)\b`)

// isAge reports whether words say an age.
func isAge(words string) bool {
	return slices.Contains(strings.Fields(kgtext.Fold(words)), "age")
}

// turnAges turns what is compared by age in the plan and by date in the graph, or the other way, since
// the oldest is born first, and what is ranked by a rank, of which the first is the best.
func (x *alignment) turnAges() {
	for _, c := range x.plan.GetClauses() {
		before := kgtext.DescribeClause(c)
		reason := "who is older was born earlier"
		if rank := c.GetRank(); x.turned[rank.GetVariable()] && !rank.GetCount() {
			rank.Descending = !rank.GetDescending()
		} else if bound := x.ends[rank.GetVariable()]; bound != nil && !rank.GetCount() && rank.GetDescending() &&
			isRank(relationOf(bound)) && asksTop.MatchString(x.question) {
			rank.Descending, reason = false, "the top has the least number"
		} else if cond := c.GetCondition(); x.turned[cond.GetVariable()] &&
			(cond.GetOtherVariable() != "" || fourDigits.MatchString(cond.GetValue())) { // a year, and no age
			cond.Operator = turnedOperator(cond.GetOperator())
		}
		if after := kgtext.DescribeClause(c); after != before {
			x.edit(graphv1.EditKind_EDIT_KIND_REPLACE, before, after, reason, nil)
		}
	}
}

func turnedOperator(op graphv1.QueryOperator) graphv1.QueryOperator {
	switch op {
	case graphv1.QueryOperator_QUERY_OPERATOR_LESS:
		return graphv1.QueryOperator_QUERY_OPERATOR_GREATER
	case graphv1.QueryOperator_QUERY_OPERATOR_LESS_OR_EQUAL:
		return graphv1.QueryOperator_QUERY_OPERATOR_GREATER_OR_EQUAL
	case graphv1.QueryOperator_QUERY_OPERATOR_GREATER:
		return graphv1.QueryOperator_QUERY_OPERATOR_LESS
	case graphv1.QueryOperator_QUERY_OPERATOR_GREATER_OR_EQUAL:
		return graphv1.QueryOperator_QUERY_OPERATOR_LESS_OR_EQUAL
	}
	return op
}

// scaleForm is the scale in the name of a relation, such as "Fee (€ million)" and "Power (kW)".
var scaleForm = regexp.MustCompile(`(?i)\b(thousand|million|billion)s?\b|\(k(?:w|g|m|hz|va|wh)\)`)

// hoursForm is a time in hours, minutesForm a relation in minutes.
var (
	hoursForm   = regexp.MustCompile(`(?i)\b(?:\d+(?:\.\d+)?|an|one|two|three|four|five|six) hours?\b`)
	minutesForm = regexp.MustCompile(`(?i)\bmin(?:ute)?s?\b`)
)

// scale brings a value of the question to the scale of its relation: 8 million are 8 of a relation in
// millions, two hours 120 of one in minutes. A time of a relation without a unit may be in either.
func (x *alignment) scale() {
	asksHours := hoursForm.MatchString(x.question)
	for _, c := range x.plan.GetClauses() {
		cond := c.GetCondition()
		bound := x.ends[cond.GetVariable()]
		q, ok := kgtext.ParseQuantity(cond.GetValue())
		if bound == nil || !ok {
			continue
		}
		relation := relationOf(bound)
		if asksHours && kgtext.IsLength(relation) && q.Number <= 24 { // of more the draft has made minutes
			if minutesForm.MatchString(relation) {
				x.scaleTo(c, q.Number*60, fmt.Sprintf("%q is in minutes", relation))
			} else {
				x.doubt(fmt.Sprintf("the question asks in hours, and %q has no unit", relation))
			}
			continue
		}
		m := scaleForm.FindStringSubmatch(relation)
		if m == nil {
			continue
		}
		by := map[string]float64{"thousand": 1e3, "million": 1e6, "billion": 1e9, "": 1e3}[strings.ToLower(m[1])]
		// Kilometres are compared as they are, unless the draft has metres that the question has not.
		if math.Abs(q.Number) < by || m[1] == "" && strings.Contains(x.question, cond.GetValue()) {
			continue
		}
		x.scaleTo(c, q.Number/by, fmt.Sprintf("%q has this scale", relation))
	}
}

// scaleTo compares with another value.
func (x *alignment) scaleTo(c *graphv1.QueryClause, value float64, reason string) {
	before := kgtext.DescribeClause(c)
	c.GetCondition().Operand = &graphv1.QueryCondition_Value{Value: strconv.FormatFloat(value, 'f', -1, 64)}
	x.edit(graphv1.EditKind_EDIT_KIND_REPLACE, before, kgtext.DescribeClause(c), reason, nil)
}
