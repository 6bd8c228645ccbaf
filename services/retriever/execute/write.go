package execute

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

// writer prints a compiled plan as Cypher. Nodes have the properties name and, where their values are
// compared, number, unit, from, to and year.
type writer struct {
	*compiled
	names map[string]string // of entities, by their name in the plan
	sorts map[string]sort   // of the variables that are compared
	units map[string]string // the unit that most values of a variable have
	facts bool              // also returns the relationships of each row
	b     strings.Builder
	live  []string // the variables of the rows
	rels  []string // the relationships bound since the last WITH
	held  bool     // the variable facts holds those before
}

// line writes a line.
func (w *writer) line(format string, args ...any) {
	if w.b.Len() > 0 {
		w.b.WriteByte('\n')
	}
	fmt.Fprintf(&w.b, format, args...)
}

func (w *writer) bind(variables ...string) {
	for _, v := range variables {
		if v != "" && !slices.Contains(w.live, v) {
			w.live = append(w.live, v)
		}
	}
}

// write prints the plan.
func (w *writer) write(maxRows int) string {
	clauses := w.plan.GetClauses()
	var later []int // exclusions and conditions whose variables are bound later in their scope
	for i, c := range clauses {
		switch c := c.GetClause().(type) {
		case *graphv1.QueryClause_Values:
			w.values(c.Values)
		case *graphv1.QueryClause_Match:
			if w.byClause[i].kind == matched {
				w.match(w.byClause[i])
			}
		case *graphv1.QueryClause_Condition:
			w.condition(c.Condition)
		case *graphv1.QueryClause_Exclude:
			later = append(later, i)
		case *graphv1.QueryClause_Rank:
			for _, j := range later {
				w.exclude(w.byClause[j])
			}
			later = nil
			w.rank(i, c.Rank)
		}
	}
	for _, j := range later {
		w.exclude(w.byClause[j])
	}
	w.result(maxRows)
	return w.b.String()
}

func (w *writer) values(v *graphv1.QueryValues) {
	names := make([]string, len(v.GetEntities()))
	for i, name := range v.GetEntities() {
		names[i] = quoteText(w.names[name])
	}
	if len(names) == 1 {
		w.line("MATCH (%s {name: %s})", identifier(v.GetVariable()), names[0])
	} else {
		each := identifier(v.GetVariable() + "_name")
		w.line("UNWIND [%s] AS %s", strings.Join(names, ", "), each)
		w.line("MATCH (%s {name: %s})", identifier(v.GetVariable()), each)
	}
	w.bind(v.GetVariable())
}

func (w *writer) match(p *pattern) {
	w.line("MATCH %s", p.path(w.facts, w.names))
	w.bind(p.GetStart().GetVariable(), p.GetEnd().GetVariable())
	if w.facts {
		w.rels = append(w.rels, p.relVariables()...)
	}
}

// writeCondition hands the live variables on.
func (w *writer) writeCondition(condition string) {
	columns := make([]string, len(w.live))
	for i, v := range w.live {
		columns[i] = identifier(v)
	}
	if f := w.factList(); f != "" {
		columns = append(columns, f+" AS facts")
		w.rels, w.held = nil, true
	}
	w.line("WITH %s", strings.Join(columns, ", "))
	if condition != "" {
		w.line("WHERE %s", condition)
	}
}

// factList is the list of the relationships so far; empty if they are not wanted.
func (w *writer) factList() string {
	switch {
	case !w.facts:
		return ""
	case w.held && len(w.rels) == 0:
		return "facts"
	case w.held:
		return "facts + [" + strings.Join(w.rels, ", ") + "]"
	}
	return "[" + strings.Join(w.rels, ", ") + "]"
}

func (w *writer) exclude(p *pattern) {
	// A variable that only the exclusion has is any node.
	text := p.path(false, w.names)
	for _, t := range []*graphv1.QueryTerm{p.GetStart(), p.GetEnd()} {
		if v := t.GetVariable(); v != "" && !slices.Contains(w.live, v) {
			text = strings.Replace(text, "("+identifier(v)+")", "()", 1)
		}
	}
	w.writeCondition("NOT " + text)
}

// property is the property of a variable that is compared; last takes the end of a date.
func (w *writer) property(v string, last bool) string {
	name := "name"
	switch w.sorts[v] {
	case byNumber:
		name = "number"
	case byDate:
		name = "from"
		if last {
			name = "to"
		}
	}
	return identifier(v) + ".`" + name + "`"
}

var operatorTexts = map[graphv1.QueryOperator]string{
	graphv1.QueryOperator_QUERY_OPERATOR_EQUAL: "=", graphv1.QueryOperator_QUERY_OPERATOR_NOT_EQUAL: "<>",
	graphv1.QueryOperator_QUERY_OPERATOR_LESS: "<", graphv1.QueryOperator_QUERY_OPERATOR_LESS_OR_EQUAL: "<=",
	graphv1.QueryOperator_QUERY_OPERATOR_GREATER: ">", graphv1.QueryOperator_QUERY_OPERATOR_GREATER_OR_EQUAL: ">=",
}

// condition keeps rows. Values without the property compared make it null, which keeps none.
func (w *writer) condition(c *graphv1.QueryCondition) {
	op := c.GetOperator()
	v := c.GetVariable()
	if other := c.GetOtherVariable(); other != "" {
		if w.sorts[v] == byText && operatorIsOrder(op) {
			w.writeCondition("false") // texts have no order
			return
		}
		// A date is before another if its last day is before that one's first.
		late := op == graphv1.QueryOperator_QUERY_OPERATOR_LESS
		w.writeCondition(w.property(v, late) + " " + operatorTexts[op] + " " +
			w.property(other, op == graphv1.QueryOperator_QUERY_OPERATOR_GREATER))
		return
	}
	literal := parseValue(c.GetValue())
	switch w.sorts[v] {
	case byNumber:
		isYear := !literal.isNumber && literal.isDate
		literal.convert(w.units[v])
		number := literal.number
		switch {
		case isYear:
			number = float64(literal.year)
		case !literal.isNumber:
			w.writeCondition("false") // feet are no hours
			return
		}
		w.writeCondition(w.property(v, false) + " " + operatorTexts[op] + " " + formatLiteral(number))
	case byDate:
		w.writeCondition(w.dateCondition(v, op, literal))
	default:
		if operatorIsOrder(op) {
			w.writeCondition("false")
			return
		}
		w.writeCondition(identifier(v) + ".`key` " + operatorTexts[op] + " " + quoteText(foldKey(c.GetValue())))
	}
}

func operatorIsOrder(op graphv1.QueryOperator) bool {
	return op != graphv1.QueryOperator_QUERY_OPERATOR_EQUAL && op != graphv1.QueryOperator_QUERY_OPERATOR_NOT_EQUAL
}

// dateCondition compares a date with a literal of any precision.
func (w *writer) dateCondition(v string, op graphv1.QueryOperator, literal value) string {
	if !literal.isDate {
		return "false"
	}
	from, to := w.property(v, false), w.property(v, true)
	first, last := quoteText(literal.from), quoteText(literal.to)
	switch op {
	case graphv1.QueryOperator_QUERY_OPERATOR_EQUAL:
		return from + " >= " + first + " AND " + to + " <= " + last
	case graphv1.QueryOperator_QUERY_OPERATOR_NOT_EQUAL:
		return to + " < " + first + " OR " + from + " > " + last
	case graphv1.QueryOperator_QUERY_OPERATOR_LESS:
		return to + " < " + first
	case graphv1.QueryOperator_QUERY_OPERATOR_LESS_OR_EQUAL:
		return to + " <= " + last
	case graphv1.QueryOperator_QUERY_OPERATOR_GREATER:
		return from + " > " + last
	default:
		return from + " >= " + first
	}
}

// rank keeps the best rows, ties included.
func (w *writer) rank(at int, r *graphv1.QueryRank) {
	direction, best := "", "min"
	if r.GetDescending() {
		direction, best = " DESC", "max"
	}
	key := w.property(r.GetVariable(), r.GetDescending())
	if r.GetCount() {
		w.count(at, r)
		key = "amount"
	}
	if op := operatorTexts[r.GetOperator()]; op != "" {
		w.line("WHERE amount %s %d", op, r.GetAmount()) // of the WITH that count wrote
		return
	}
	columns := slices.Clone(w.live)
	if r.GetCount() {
		columns = append(columns, "amount")
	}
	if n := r.GetLimit(); n > 1 {
		if !r.GetCount() {
			w.writeCondition(key + " IS NOT NULL")
		}
		texts := make([]string, len(columns))
		for i, v := range columns {
			texts[i] = identifier(v)
		}
		if w.held {
			texts = append(texts, "facts")
		}
		w.line("WITH %s ORDER BY %s%s LIMIT %d", strings.Join(texts, ", "), key, direction, n)
		return
	}
	fields := make([]string, 0, len(columns)+1)
	back := make([]string, 0, len(columns)+2)
	for _, v := range columns {
		fields = append(fields, identifier(v)+": "+identifier(v))
		back = append(back, "row."+identifier(v)+" AS "+identifier(v))
	}
	if f := w.factList(); f != "" {
		fields = append(fields, "facts: "+f)
		back = append(back, "row.facts AS facts")
		w.rels, w.held = nil, true
	}
	w.line("WITH %s(%s) AS best, collect({%s}) AS rows", best, key, strings.Join(fields, ", "))
	w.line("UNWIND rows AS row")
	w.line("WITH %s, best", strings.Join(back, ", "))
	w.line("WHERE %s = best", key)
}

// count makes groups with an amount.
func (w *writer) count(at int, r *graphv1.QueryRank) {
	var optional []string
	var rels []string
	for i := range w.plan.GetClauses()[:at] {
		if p := w.byClause[i]; p != nil && p.kind == counted && !slices.Contains(w.live, r.GetVariable()) {
			terms := []string{p.GetStart().GetVariable(), p.GetEnd().GetVariable()}
			if slices.Contains(terms, r.GetVariable()) {
				optional = append(optional, p.path(w.facts, w.names))
				rels = append(rels, p.relVariables()...)
			}
		}
	}
	if len(optional) > 0 {
		w.line("OPTIONAL MATCH %s", strings.Join(optional, ", "))
		if w.facts {
			w.rels = append(w.rels, rels...)
		}
	}
	group := identifier(r.GetGroupBy())
	columns := []string{group, "count(DISTINCT " + identifier(r.GetVariable()) + ") AS amount"}
	if f := w.factList(); f != "" {
		columns = append(columns, "collect("+f+")["+"..20] AS facts")
		w.rels, w.held = nil, true
	}
	w.line("WITH %s", strings.Join(columns, ", "))
	w.live = []string{r.GetGroupBy()}
}

// result returns the value, or with facts the rows.
func (w *writer) result(maxRows int) {
	r := w.plan.GetResult()
	v := identifier(r.GetVariable())
	if r.GetGroupBy() != "" {
		w.eachGroup(r)
		return
	}
	if w.facts {
		w.rows(r, maxRows)
		return
	}
	switch r.GetFunction() {
	case graphv1.QueryFunction_QUERY_FUNCTION_EXISTS:
		w.line("RETURN count(*) > 0 AS value")
	case graphv1.QueryFunction_QUERY_FUNCTION_COUNT:
		w.line("RETURN count(DISTINCT %s) AS value", v)
	case graphv1.QueryFunction_QUERY_FUNCTION_SUM, graphv1.QueryFunction_QUERY_FUNCTION_AVERAGE,
		graphv1.QueryFunction_QUERY_FUNCTION_MINIMUM, graphv1.QueryFunction_QUERY_FUNCTION_MAXIMUM:
		w.line("RETURN %s AS value", w.aggregate(r))
	case graphv1.QueryFunction_QUERY_FUNCTION_DIFFERENCE:
		w.line("RETURN %s AS value", w.difference(r))
	default:
		w.line("RETURN DISTINCT %s.name AS %s", v, v)
	}
}

// eachGroup returns the groups with the value of each, or with facts what it rests on.
func (w *writer) eachGroup(r *graphv1.QueryResult) {
	group, value := identifier(r.GetGroupBy()), "amount"
	counts := r.GetFunction() == graphv1.QueryFunction_QUERY_FUNCTION_COUNT
	if counts {
		w.count(len(w.plan.GetClauses()), w.groups())
	}
	if w.facts {
		w.line("RETURN %s, collect(%s)[..20] AS facts", group, w.factList())
		return
	}
	if !counts {
		value = w.aggregate(r)
	}
	w.line("RETURN %s, %s AS value ORDER BY value DESC, %s.name", group, value, group)
}

// aggregate returns what a sum, an average, a least or a greatest is in Cypher, and makes the rows that it is
// taken of.
func (w *writer) aggregate(r *graphv1.QueryResult) string {
	function := "max"
	switch r.GetFunction() {
	case graphv1.QueryFunction_QUERY_FUNCTION_SUM:
		w.perOwner(r)
		function = "sum"
	case graphv1.QueryFunction_QUERY_FUNCTION_AVERAGE:
		w.perOwner(r)
		function = "avg"
	case graphv1.QueryFunction_QUERY_FUNCTION_MINIMUM:
		function = "min"
	}
	return function + "(" + w.property(r.GetVariable(), false) + ")"
}

// perOwner keeps one row for each thing that has a value, however often other clauses repeat it.
func (w *writer) perOwner(r *graphv1.QueryResult) {
	for _, c := range w.plan.GetClauses() {
		p := c.GetMatch()
		if owner := p.GetStart().GetVariable(); p.GetEnd().GetVariable() == r.GetVariable() &&
			slices.Contains(w.live, owner) {
			columns := []string{identifier(owner), identifier(r.GetVariable())}
			if g := r.GetGroupBy(); g != "" && g != owner {
				columns = append(columns, identifier(g))
			}
			w.line("WITH DISTINCT %s", strings.Join(columns, ", "))
			return
		}
	}
}

// difference is how far two values are apart, or the least and the greatest of one variable. Years are whole ones, as
// ages are: a day more is counted, since birthdays are not 365.2425 days apart.
func (w *writer) difference(r *graphv1.QueryResult) string {
	a, b := r.GetVariable(), r.GetOtherVariable()
	first, second := w.property(a, false), ""
	if b != "" {
		second = w.property(b, false)
	}
	if w.sorts[a] == byDate {
		part := map[string]string{"": ".day", "days": ".day", "months": ".month", "years": ".day"}[r.GetUnit()]
		first = identifier(a) + part
		if b != "" {
			second = identifier(b) + part
		}
	}
	apart := "abs(min(" + first + ") - min(" + second + "))"
	if b == "" {
		apart = "max(" + first + ") - min(" + first + ")"
	}
	if w.sorts[a] == byDate && r.GetUnit() == "years" {
		return "toInteger(floor((" + apart + " + 1) / 365.2425))"
	}
	return apart
}

// rows returns the rows of the result with the relationships that each rests on.
func (w *writer) rows(r *graphv1.QueryResult, maxRows int) {
	var columns []string
	for _, c := range w.columns(r) {
		columns = append(columns, identifier(c))
	}
	facts := w.factList()
	w.line("RETURN %s, collect(%s)[..20] AS facts LIMIT %d", strings.Join(columns, ", "), facts, maxRows)
}

// columns are the variables that the rows show.
func (w *writer) columns(r *graphv1.QueryResult) []string {
	var columns []string
	add := func(v string) {
		if v != "" && slices.Contains(w.live, v) && !slices.Contains(columns, v) {
			columns = append(columns, v)
		}
	}
	switch r.GetFunction() {
	case graphv1.QueryFunction_QUERY_FUNCTION_SUM, graphv1.QueryFunction_QUERY_FUNCTION_AVERAGE,
		graphv1.QueryFunction_QUERY_FUNCTION_MINIMUM, graphv1.QueryFunction_QUERY_FUNCTION_MAXIMUM,
		graphv1.QueryFunction_QUERY_FUNCTION_DIFFERENCE:
		for _, c := range w.plan.GetClauses() {
			if p := c.GetMatch(); p.GetEnd().GetVariable() == r.GetVariable() || r.GetOtherVariable() != "" &&
				p.GetEnd().GetVariable() == r.GetOtherVariable() {
				add(p.GetStart().GetVariable())
			}
		}
	}
	add(r.GetVariable())
	add(r.GetOtherVariable())
	// What the result was chosen by is shown beside it.
	for _, c := range w.plan.GetClauses() {
		add(c.GetCondition().GetVariable())
		add(c.GetCondition().GetOtherVariable())
		if !c.GetRank().GetCount() {
			add(c.GetRank().GetVariable())
		}
	}
	if len(columns) == 0 {
		columns = append(columns, w.live[:min(len(w.live), 3)]...)
	}
	return columns
}

// formatLiteral prints a number in Cypher, which has integers of 64 bits and no plus in an exponent.
func formatLiteral(number float64) string {
	if math.Abs(number) < 1<<53 {
		return strconv.FormatFloat(number, 'f', -1, 64)
	}
	return strings.Replace(strconv.FormatFloat(number, 'e', -1, 64), "e+", "e", 1)
}
