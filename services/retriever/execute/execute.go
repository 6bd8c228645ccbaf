// Package execute computes query plans on a part of a knowledge graph: it reads what the plan needs
// through the store interfaces, within bounds, prints the plan as Cypher, and runs that in memory.
// No statement that a model wrote reaches a database.
package execute

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/triplemesh/triplemesh/internal/cypher"
	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// Row is one row of a result with the triples that it rests on.
type Row struct {
	Cells   []store.EntityID
	Triples []store.TripleID
	// Value is that of the group, of a plan that computes one for each.
	Value string
}

// Result is what a plan computes.
type Result struct {
	// Value is a number, "yes" or "no"; empty where the rows are the result.
	Value, Unit string
	Columns     []string
	// Rows are the first ones; Total counts all.
	Rows  []Row
	Total int
	// Compared counts what a superlative or an aggregate was taken over, Lacking those of them without
	// a value that can be compared.
	Compared, Lacking int
	// Limits are the limits that were reached, in words.
	Limits []string
	// Reason says why there is no value and no row.
	Reason string
	// Cypher is the plan as it was run.
	Cypher string
}

// Run computes a plan and returns at most maxRows rows. Errors are *InvalidError for a plan that makes
// no sense, the context's and the store's; what the knowledge graph does not hold is a Reason.
func Run(ctx context.Context, snap Snapshot, plan *graphv1.QueryPlan, maxRows int, limits Limits) (*Result, error) {
	if _, err := compile(plan); err != nil {
		return nil, err
	}
	if kgtext.ComparesCounts(plan.GetResult()) {
		return runCounts(ctx, snap, plan, maxRows, limits)
	}
	c, err := compile(order(plan))
	if err != nil {
		return nil, err
	}
	p := newPart(ctx, snap, limits.orDefault())
	if err := p.gather(c); err != nil {
		if reason, ok := isMissing(err); ok {
			return &Result{Reason: reason}, nil
		}
		return nil, err
	}
	r := &runner{part: p, compiled: c, result: &Result{Limits: p.reached}}
	if c.isStar() {
		return r.result, r.answerStar(maxRows)
	}
	r.build()
	if err := r.run(maxRows); err != nil {
		return nil, err
	}
	return r.result, nil
}

const nothingFulfils = "nothing in the knowledge graph fulfils all of the conditions"

// runner runs a compiled plan on the part that was read.
type runner struct {
	*part
	*compiled
	result *Result
	graph  *cypher.Graph
	nodes  map[store.EntityID]*cypher.Node
	ids    map[*cypher.Node]store.EntityID
	facts  map[*cypher.Relationship]store.TripleID
	sorts  map[string]sort
	units  map[string]string
}

// build makes the scratch graph: nodes with their names, and with values where these are compared.
func (r *runner) build() {
	r.graph = cypher.NewGraph(cypher.Limits{Rows: r.limits.Rows, Steps: r.limits.Steps, Memory: r.limits.Memory,
		Nodes: 2*r.limits.Triples + 1024, Relationships: r.limits.Triples + 1024})
	r.nodes = make(map[store.EntityID]*cypher.Node, len(r.part.facts))
	r.ids = make(map[*cypher.Node]store.EntityID, len(r.part.facts))
	r.facts = make(map[*cypher.Relationship]store.TripleID, len(r.part.facts))
	values := r.readValues()
	for _, f := range r.part.facts {
		rel := r.graph.AddRelationship(r.snap.RelationName(f.Relation), r.node(f.Subject, values), r.node(f.Object,
			values))
		r.facts[rel] = f.id
	}
	for _, id := range r.names {
		r.node(id, values)
	}
}

func (r *runner) node(id store.EntityID, values map[store.EntityID]*value) *cypher.Node {
	if n := r.nodes[id]; n != nil {
		return n
	}
	n := r.graph.AddNode(nil, nodeProperties(r.snap.EntityName(id), values[id])...)
	r.nodes[id], r.ids[n] = n, id
	return n
}

// nodeProperties are the properties of a node: its name and, if its value is compared, what it is compared by.
func nodeProperties(name string, v *value) []cypher.Property {
	props := []cypher.Property{{Key: "name", Value: name}}
	if v == nil {
		return props
	}
	props = append(props, cypher.Property{Key: "key", Value: foldKey(name)})
	if v.isNumber {
		props = append(props, cypher.Property{Key: "number", Value: v.number})
	}
	if v.isDate {
		props = append(props, cypher.Property{Key: "from", Value: v.from}, cypher.Property{Key: "to", Value: v.to},
			cypher.Property{Key: "month", Value: int64(v.month)}, cypher.Property{Key: "day", Value: v.day})
	}
	return props
}

// readValues reads the literals of the variables that are compared, and chooses how each is compared.
func (r *runner) readValues() map[store.EntityID]*value {
	values := map[store.EntityID]*value{}
	r.sorts, r.units = map[string]sort{}, map[string]string{}
	days := map[string]bool{}
	var compared []string
	need := func(v string) {
		if v != "" && !slices.Contains(compared, v) {
			compared = append(compared, v)
		}
	}
	var pairs [][2]string
	for _, c := range r.plan.GetClauses() {
		if cond := c.GetCondition(); cond != nil {
			need(cond.GetVariable())
			need(cond.GetOtherVariable())
			if parseValue(cond.GetValue()).isDay {
				days[cond.GetVariable()] = true
			}
			if cond.GetOtherVariable() != "" {
				pairs = append(pairs, [2]string{cond.GetVariable(), cond.GetOtherVariable()})
			}
		}
		if rank := c.GetRank(); rank != nil && !rank.GetCount() {
			need(rank.GetVariable())
		}
	}
	if result := r.plan.GetResult(); r.computes() {
		need(result.GetVariable())
		need(result.GetOtherVariable())
		if result.GetOtherVariable() != "" {
			pairs = append(pairs, [2]string{result.GetVariable(), result.GetOtherVariable()})
		}
	}
	for _, v := range compared {
		domain := r.domains[v]
		if domain == nil {
			continue
		}
		parsed := make([]value, len(domain.list))
		unitCounts := map[string]int{}
		for i, id := range domain.list {
			parsed[i] = parseValue(r.snap.EntityName(id))
			values[id] = &parsed[i]
			if parsed[i].isNumber {
				unitCounts[parsed[i].unit]++
			}
		}
		r.sorts[v] = chooseSort(parsed, days[v])
		r.convert(v, parsed, unitCounts)
	}
	for _, pair := range pairs {
		if r.sorts[pair[0]] != r.sorts[pair[1]] && (r.sorts[pair[0]] == byDate || r.sorts[pair[1]] == byDate) {
			r.sorts[pair[0]], r.sorts[pair[1]] = byDate, byDate
		}
	}
	for _, v := range compared {
		r.countLacking(v, values)
	}
	return values
}

// convert gives the numbers of a variable the unit that most of them have, of those known if there are several.
// Numbers of another measure cannot be compared with these, nor can those without a unit among several.
func (r *runner) convert(variable string, values []value, unitCounts map[string]int) {
	known := maps.Clone(unitCounts)
	maps.DeleteFunc(known, func(unit string, _ int) bool { return !kgtext.IsUnit(unit) })
	isMixed := len(known) > 1
	if isMixed {
		unitCounts = known
	}
	best := ""
	for unit, n := range unitCounts {
		if most := unitCounts[best]; n > most || n == most && unit < best {
			best = unit
		}
	}
	r.units[variable] = best
	bare := 0
	for i := range values {
		if v := &values[i]; isMixed && v.isNumber && v.unit == "" {
			v.isNumber = false
			bare++
		}
		values[i].convert(best)
	}
	if bare > 0 {
		r.result.Limits = append(r.result.Limits, kgtext.FormatCount(bare, "value")+" without a unit were left out")
	}
}

// computes reports whether the result is computed of values.
func (r *runner) computes() bool {
	switch r.plan.GetResult().GetFunction() {
	case graphv1.QueryFunction_QUERY_FUNCTION_UNSPECIFIED, graphv1.QueryFunction_QUERY_FUNCTION_COUNT,
		graphv1.QueryFunction_QUERY_FUNCTION_EXISTS:
		return false
	}
	return true
}

// adds reports whether the result is a sum or an average.
func (r *runner) adds() bool {
	f := r.plan.GetResult().GetFunction()
	return f == graphv1.QueryFunction_QUERY_FUNCTION_SUM || f == graphv1.QueryFunction_QUERY_FUNCTION_AVERAGE
}

// countLacking adds the values that cannot be compared to those that are missing.
func (r *runner) countLacking(v string, values map[store.EntityID]*value) {
	domain := r.domains[v]
	if domain == nil {
		return
	}
	unusable := 0
	for _, id := range domain.list {
		if p := values[id]; r.sorts[v] == byNumber && !p.isNumber || r.sorts[v] == byDate && !p.isDate {
			unusable++
		}
	}
	r.result.Compared = max(r.result.Compared, r.compared[v])
	r.result.Lacking = max(r.result.Lacking, min(r.lacking[v]+unusable, max(r.compared[v], unusable)))
}

// writer prints the plan, with the relationships of each row if facts is set.
func (r *runner) writer(facts bool) *writer {
	names := make(map[string]string, len(r.names))
	for name, id := range r.names {
		names[name] = r.snap.EntityName(id)
	}
	return &writer{compiled: r.compiled, names: names, sorts: r.sorts, units: r.units, facts: facts}
}

// run runs the plan for its value, then for the rows that this rests on.
func (r *runner) run(maxRows int) error {
	r.result.Cypher = r.writer(false).write(maxRows)
	for _, c := range r.plan.GetClauses() {
		if rank := c.GetRank(); rank != nil && !rank.GetCount() && r.sorts[rank.GetVariable()] == byText {
			r.result.Reason = fmt.Sprintf("the values of ?%s are texts, which have no order", rank.GetVariable())
			return nil
		}
	}
	if v := r.plan.GetResult().GetVariable(); r.computes() && r.sorts[v] == byText {
		r.result.Reason = fmt.Sprintf("?%s has no numbers or dates to compute with", v)
		if d := r.domains[v]; d != nil && len(d.list) == 0 {
			r.result.Reason = nothingFulfils
		}
		return nil
	}
	if v := r.plan.GetResult().GetVariable(); r.adds() && r.sorts[v] != byNumber {
		r.result.Reason = "nothing in the knowledge graph has a number to compute with"
		return nil
	}
	computed, err := r.graph.Run(r.ctx, r.result.Cypher, nil)
	if err != nil {
		return r.limited(err)
	}
	r.setValue(computed)
	if r.result.Reason != "" {
		return nil
	}
	return r.runRows(maxRows)
}

// runRows runs the plan for its rows with their triples.
func (r *runner) runRows(maxRows int) error {
	r.result.Rows = r.result.Rows[:min(len(r.result.Rows), maxRows)]
	rows, err := r.graph.Run(r.ctx, r.writer(true).write(maxRows), nil)
	if err != nil {
		return r.limited(err)
	}
	r.setRows(rows)
	return nil
}

// limited makes a limit of the engine a part of the result.
func (r *runner) limited(err error) error {
	var limit *cypher.LimitError
	if errors.As(err, &limit) {
		r.result.Limits = append(r.result.Limits, fmt.Sprintf("%d %s were used", limit.Limit, limit.What))
		if r.result.Value == "" && r.result.Total == 0 {
			r.result.Reason = "the query is too large: " + limit.Error()
		}
		return nil
	}
	return err
}

// setValue takes the value of the plain query.
func (r *runner) setValue(computed cypher.Result) {
	function := r.plan.GetResult().GetFunction()
	r.result.Total = len(computed.Rows)
	if function == graphv1.QueryFunction_QUERY_FUNCTION_UNSPECIFIED {
		if len(computed.Rows) == 0 {
			r.result.Reason = nothingFulfils
		}
		return
	}
	if r.plan.GetResult().GetGroupBy() != "" {
		r.setGroups(computed)
		return
	}
	var v cypher.Value
	if len(computed.Rows) > 0 && len(computed.Rows[0]) > 0 {
		v = computed.Rows[0][0]
	}
	if r.result.Value, r.result.Reason = formatValue(v, digitsOf(function)); r.result.Reason != "" {
		return
	}
	if function == graphv1.QueryFunction_QUERY_FUNCTION_DIFFERENCE && r.plan.GetResult().GetOtherVariable() == "" &&
		r.result.Compared == 1 {
		r.result.Value, r.result.Reason = "", "there is one value, and a difference is between two"
		return
	}
	if n, err := strconv.Atoi(r.result.Value); err == nil && function == graphv1.QueryFunction_QUERY_FUNCTION_COUNT {
		r.result.Total = n
	}
	r.result.Unit = r.unit()
}

// unit is that of what is computed; empty if it has none.
func (r *runner) unit() string {
	result := r.plan.GetResult()
	switch result.GetFunction() {
	case graphv1.QueryFunction_QUERY_FUNCTION_COUNT, graphv1.QueryFunction_QUERY_FUNCTION_EXISTS:
		return ""
	case graphv1.QueryFunction_QUERY_FUNCTION_DIFFERENCE:
		if r.sorts[result.GetVariable()] == byDate {
			return cmp.Or(result.GetUnit(), "days")
		}
	}
	return r.units[result.GetVariable()]
}

// setGroups takes the groups with their values, without those that have nothing to compute with.
func (r *runner) setGroups(computed cypher.Result) {
	for _, cells := range computed.Rows {
		group, ok := cells[0].(*cypher.Node)
		value, reason := formatValue(cells[1], digitsOf(r.plan.GetResult().GetFunction()))
		if ok && reason == "" {
			r.result.Rows = append(r.result.Rows, Row{Cells: []store.EntityID{r.ids[group]}, Value: value})
		}
	}
	if r.result.Total, r.result.Unit = len(r.result.Rows), r.unit(); r.result.Total == 0 {
		r.result.Reason = nothingFulfils
	}
}

// exactDigits is the number of significant digits of a number without the noise of binary fractions,
// averageDigits that of an average, which is no more exact than what it is made of.
const exactDigits, averageDigits = 12, 6

// digitsOf returns the number of significant digits in what a function computes.
func digitsOf(function graphv1.QueryFunction) int {
	if function == graphv1.QueryFunction_QUERY_FUNCTION_AVERAGE {
		return averageDigits
	}
	return exactDigits
}

// formatValue prints a value, a number with a number of significant digits, or says why it is none.
func formatValue(v cypher.Value, digits int) (text, reason string) {
	switch v := v.(type) {
	case bool:
		if v {
			return "yes", ""
		}
		return "no", ""
	case int64:
		return strconv.FormatInt(v, 10), ""
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return "", "the value is no number"
		}
		return formatNumber(v, digits), ""
	}
	return "", "nothing in the knowledge graph has a value to compute with"
}

// formatNumber prints a number with a number of significant digits, and all of those before the point.
func formatNumber(v float64, digits int) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return strconv.FormatInt(int64(v), 10)
	}
	digits = max(digits, len(strconv.FormatFloat(math.Abs(v), 'f', 0, 64)))
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64)
	if err != nil {
		rounded = v
	}
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

// setRows takes the rows with their triples.
func (r *runner) setRows(rows cypher.Result) {
	if len(rows.Columns) > 0 {
		r.result.Columns = append(r.result.Columns, rows.Columns[:len(rows.Columns)-1]...)
	}
	if result := r.plan.GetResult(); result.GetGroupBy() != "" {
		r.result.Columns = append(r.result.Columns, kgtext.FunctionName(result.GetFunction()))
		r.setGroupFacts(rows)
		return
	}
	for _, cells := range rows.Rows {
		var row Row
		for _, v := range cells[:len(cells)-1] {
			n, ok := v.(*cypher.Node)
			if !ok {
				row.Cells = nil
				break
			}
			row.Cells = append(row.Cells, r.ids[n])
		}
		if len(row.Cells) == 0 {
			continue
		}
		r.collect(cells[len(cells)-1], &row)
		r.result.Rows = append(r.result.Rows, row)
	}
}

// setGroupFacts gives the groups the triples that they rest on.
func (r *runner) setGroupFacts(rows cypher.Result) {
	byGroup := make(map[store.EntityID]*Row, len(r.result.Rows))
	for i := range r.result.Rows {
		byGroup[r.result.Rows[i].Cells[0]] = &r.result.Rows[i]
	}
	for _, cells := range rows.Rows {
		if group, ok := cells[0].(*cypher.Node); ok && byGroup[r.ids[group]] != nil {
			r.collect(cells[1], byGroup[r.ids[group]])
		}
	}
}

// maxRowTriples bounds the triples of a row.
const maxRowTriples = 24

// collect takes the relationships out of nested lists.
func (r *runner) collect(v cypher.Value, row *Row) {
	switch v := v.(type) {
	case []cypher.Value:
		for _, inner := range v {
			r.collect(inner, row)
		}
	case *cypher.Relationship:
		if id, ok := r.facts[v]; ok && len(row.Triples) < maxRowTriples && !slices.Contains(row.Triples, id) {
			row.Triples = append(row.Triples, id)
		}
	}
}
