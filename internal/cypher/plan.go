package cypher

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Plan is a statement as clauses that are applied in order and a result: a query plan of the contract,
// which this package does not import. Variables begin with a lower-case letter and have letters, digits
// and underscores.
type Plan struct {
	Clauses []PlanClause
	Result  PlanResult
}

// PlanClause has exactly one of its fields.
type PlanClause struct {
	Match, Exclude *PlanPattern
	Condition      *PlanCondition
	Values         *PlanValues
	Rank           *PlanRank
}

// PlanTerm is a variable or the name of an entity.
type PlanTerm struct{ Variable, Entity string }

// PlanPattern is a relation between two terms.
type PlanPattern struct {
	Start, End PlanTerm
	Relation   string
}

// PlanCondition compares a variable (=, <>, <, <=, >, >=) with a value or with another variable.
type PlanCondition struct{ Variable, Operator, Value, Other string }

// PlanValues lists what a variable stands for.
type PlanValues struct {
	Variable string
	Names    []string
}

// PlanRank keeps the best rows: by a variable or, with Count, by how many of it each GroupBy has. Limit 0
// keeps the best with its ties. With an Operator it keeps the groups whose count compares so with Amount.
type PlanRank struct {
	Variable, GroupBy string
	Count, Descending bool
	Limit             uint32
	Operator          string
	Amount            uint32
}

// PlanResult is what is computed: "" lists the variable; count, sum, avg, min, max, difference and exists
// compute, the first five for each GroupBy if that is set.
type PlanResult struct{ Function, Variable, Other, GroupBy string }

// TypeRelation is the relation of the clauses that say what a variable is: ?film type film.
const TypeRelation = "type"

// maxPlanClauses bounds a plan, as QueryPlan does.
const maxPlanClauses = 64

// ReadPlan reads MATCH … RETURN as a query plan: labels are kinds, the name, title or id of a node says
// which it is, other properties are relations to values. Relations and kinds become words: DIRECTED_BY is
// "directed by". What a plan cannot hold is an error that says so; errors of the statement itself are
// those of Parse.
func ReadPlan(text string) (*Plan, error) { return readPlan(text, readable) }

// ReadExactPlan is ReadPlan for a statement in the names of a knowledge graph, which stay as they are.
func ReadExactPlan(text string) (*Plan, error) {
	return readPlan(text, func(name string) string { return name })
}

func readPlan(text string, words func(string) string) (*Plan, error) {
	q, err := Parse(text)
	if err == nil && len(q.parts) != 1 {
		err = planError("UNION")
	}
	if err != nil {
		return nil, fmt.Errorf("read query plan: %w", err)
	}
	b := &planner{source: q.source, words: words, plan: &Plan{},
		variables: map[string]string{}, attributes: map[[2]string]string{}, aliases: map[string]expr{},
		taken: map[string]bool{}}
	for _, c := range q.parts[0].clauses {
		if b.err == nil { // variables behind an error are not bound
			b.clause(c)
		}
	}
	if b.err == nil && b.plan.Result.Variable == "" {
		b.fail("a statement without RETURN")
	}
	for _, o := range slices.Backward(b.optional) {
		b.settle(o)
	}
	if b.err == nil && len(b.plan.Clauses) > maxPlanClauses {
		b.fail("more than %d clauses", maxPlanClauses)
	}
	if b.err != nil {
		return nil, fmt.Errorf("read query plan: %w", b.err)
	}
	return b.plan, nil
}

func planError(format string, args ...any) error {
	return fmt.Errorf("a plan cannot hold %s; write it with MATCH, WHERE, WITH, ORDER BY and "+
		"RETURN", fmt.Sprintf(format, args...))
}

// planner makes the clauses of a plan. It keeps the first error.
type planner struct {
	source     *source
	words      func(string) string // what a relation or a kind is called in the plan
	plan       *Plan
	variables  map[string]string    // of the statement, as the plan names them
	attributes map[[2]string]string // the variable for a property of a variable
	aliases    map[string]expr      // what WITH and RETURN call an aggregate
	taken      map[string]bool
	grouped    *projection // the last one with a count for each group
	group      string      // of the rank that counts; the other variables are gone behind it
	optional   []planOptional
	err        error
}

// planOptional are the clauses of an OPTIONAL MATCH: from begin to before end.
type planOptional struct{ begin, end int }

func (b *planner) fail(format string, args ...any) {
	if b.err == nil {
		b.err = planError(format, args...)
	}
}

func (b *planner) add(c PlanClause) { b.plan.Clauses = append(b.plan.Clauses, c) }

func (b *planner) clause(c clause) {
	switch c := c.(type) {
	case *matchClause:
		begin := len(b.plan.Clauses)
		for _, p := range c.paths {
			b.path(p)
		}
		b.addCondition(c.condition)
		if c.optional {
			b.optional = append(b.optional, planOptional{begin, len(b.plan.Clauses)})
		}
	case *projection:
		b.project(c)
	default:
		b.fail("a clause that is not MATCH, WITH or RETURN")
	}
}

// fresh returns a variable of the plan that is not in use.
func (b *planner) fresh(words string) string {
	base := PlanVariable(readable(words), 48)
	v := base
	for n := 2; b.taken[v]; n++ {
		v = base + strconv.Itoa(n)
	}
	b.taken[v] = true
	return v
}

// PlanVariable returns words as the name of a variable of about so many bytes.
func PlanVariable(words string, length int) string {
	var name strings.Builder
	for _, r := range words {
		switch {
		case r >= 'a' && r <= 'z', name.Len() > 0 && r >= '0' && r <= '9':
			name.WriteRune(r)
		case name.Len() > 0 && !strings.HasSuffix(name.String(), "_"):
			name.WriteByte('_')
		}
		if name.Len() >= length {
			break
		}
	}
	return cmp.Or(strings.Trim(name.String(), "_"), "thing")
}

// variable returns the variable of the plan for one of the statement.
func (b *planner) variable(name string) string {
	if v := b.variables[name]; v != "" {
		return v
	}
	v := b.fresh(name)
	b.variables[name] = v
	return v
}

// isName reports whether a property says which thing a node is.
func isName(key string) bool {
	switch strings.ToLower(key) {
	case "name", "title", "id", "label", "names":
		return true
	}
	return false
}

func variableTerm(v string) PlanTerm { return PlanTerm{Variable: v} }

func entityTerm(name string) PlanTerm { return PlanTerm{Entity: name} }

func planPattern(start PlanTerm, relation string, end PlanTerm) *PlanPattern {
	return &PlanPattern{Start: start, End: end, Relation: relation}
}

func (b *planner) match(p *PlanPattern) { b.add(PlanClause{Match: p}) }

func (b *planner) values(v string, names ...string) {
	b.add(PlanClause{Values: &PlanValues{Variable: v, Names: names}})
}

func (b *planner) condition(v, op, value string) {
	if value == "" {
		b.fail("an empty text")
		return
	}
	b.add(PlanClause{Condition: &PlanCondition{Variable: v, Operator: op, Value: value}})
}

// path adds the patterns of a path.
func (b *planner) path(p *pathPattern) {
	terms := make([]PlanTerm, len(p.nodes))
	for i, n := range p.nodes {
		terms[i] = b.node(n, i > 0 && p.rels[i-1].dir != incoming || i < len(p.rels) && p.rels[i].dir == incoming)
	}
	for i, r := range p.rels {
		if pattern := b.relationship(r, terms[i], terms[i+1]); pattern != nil {
			b.match(pattern)
		}
	}
}

// relationship makes the pattern of a relationship between two terms.
func (b *planner) relationship(r *relPattern, left, right PlanTerm) *PlanPattern {
	switch {
	case r.variable:
		b.fail("a path of variable length")
		return nil
	case r.props != nil:
		b.fail("properties of a relationship")
		return nil
	case len(r.types) > 1:
		b.fail("a choice of relationships")
		return nil
	}
	relation := "related to"
	if len(r.types) == 1 {
		relation = b.words(r.types[0])
	}
	if r.dir == incoming {
		left, right = right, left
	}
	return planPattern(left, relation, right)
}

// node adds what a node pattern says and returns its term: the name itself where a relationship ends in
// a node that the statement does not speak of again.
func (b *planner) node(n *nodePattern, isEnd bool) PlanTerm {
	name, rest := b.properties(n.props)
	kind := ""
	if len(n.labels) > 0 {
		kind = b.words(n.labels[0])
	}
	if name != "" && isEnd && len(rest) == 0 && (n.name == "" || b.mentions(n.name) == 1) {
		return entityTerm(name)
	}
	_, known := b.variables[n.name]
	var v string
	switch {
	case n.name != "" && (known || kind == ""):
		v = b.variable(n.name)
	case n.name != "":
		v = b.fresh(kind)
		b.variables[n.name] = v
	default:
		v = b.fresh(kind)
	}
	switch {
	case name != "":
		b.values(v, name)
	case kind != "" && kind != "thing" && kind != "entity":
		b.match(planPattern(variableTerm(v), TypeRelation, entityTerm(kind)))
	}
	for _, p := range rest {
		attribute := ""
		if startsWithDigit(p.value) {
			attribute = b.attribute(v, p.key)
		}
		b.compare(attribute, "=", p.value, v, p.key)
	}
	return variableTerm(v)
}

// mentions counts how often the statement has a variable.
func (b *planner) mentions(name string) int {
	n := 0
	for _, t := range b.source.tokens {
		if b.source.textOf(t) == name {
			n++
		}
	}
	return n
}

type planProperty struct{ key, value string }

// properties reads {name: "A", year: 1990}: the name, and the others.
func (b *planner) properties(e expr) (name string, rest []planProperty) {
	if e == nil {
		return "", nil
	}
	m, ok := e.(*mapExpr)
	if !ok {
		b.fail("parameters")
		return "", nil
	}
	for i, key := range m.keys {
		value, ok := literalText(m.values[i])
		if !ok || value == "" {
			b.fail("a property that is no text or number")
			return "", nil
		}
		if isName(key) {
			name = value
		} else {
			rest = append(rest, planProperty{key, value})
		}
	}
	return name, rest
}

// attribute returns the variable for a property of a variable.
func (b *planner) attribute(v, key string) string {
	if isName(key) {
		return v
	}
	at := [2]string{v, key}
	if b.attributes[at] == "" {
		a := b.fresh(key)
		b.attributes[at] = a
		b.match(planPattern(variableTerm(v), b.words(key), variableTerm(a)))
	}
	return b.attributes[at]
}

// literalText returns the text of a literal, under functions such as toLower and date as well.
func literalText(e expr) (string, bool) {
	switch e := unwrap(e).(type) {
	case *literal:
		if text, ok := e.value.(string); ok {
			return strings.Join(strings.Fields(text), " "), true
		}
		if e.value == nil {
			return "", false
		}
		return Format(e.value), true
	}
	return "", false
}

// unwrap takes off functions that do not change what a value means to a plan.
func unwrap(e expr) expr {
	for {
		switch f := e.(type) {
		case *call:
			switch f.name {
			case "tolower", "toupper", "trim", "tointeger", "tofloat", "tostring", "date", "datetime", "round", "abs",
				"coalesce":
				if len(f.args) > 0 {
					e = f.args[0]
					continue
				}
			}
		case *property: // the year of a date: a plan compares dates of any precision
			if inner, ok := f.target.(*property); ok && (f.key == "year" || f.key == "month") {
				e = inner
				continue
			}
		}
		return e
	}
}

// operand returns the variable of the plan that an expression stands for: a node, or a property of one.
func (b *planner) operand(e expr) string {
	switch e := unwrap(e).(type) {
	case *variable:
		if alias, ok := b.aliases[e.name]; ok {
			return b.operand(alias)
		}
		if v := b.variables[e.name]; v != "" {
			return v
		}
	case *property:
		if target, ok := e.target.(*variable); ok && b.variables[target.name] != "" {
			return b.attribute(b.variables[target.name], e.key)
		}
	}
	b.fail("%.60q as a value", b.text(e))
	return ""
}

// text is an expression as the statement has it.
func (b *planner) text(e expr) string {
	s := e.location()
	if int(s.end) > len(b.source.tokens) || s.first >= s.end {
		return ""
	}
	var words []string
	for _, t := range b.source.tokens[s.first:s.end] {
		words = append(words, b.source.textOf(t))
	}
	return strings.Join(words, "")
}

// aggregateOf returns the aggregate that an expression is or is called.
func (b *planner) aggregateOf(e expr) *call {
	e = unwrap(e)
	if v, ok := e.(*variable); ok && b.aliases[v.name] != nil {
		return b.aggregateOf(b.aliases[v.name])
	}
	if c, ok := e.(*call); ok && c.function != nil && c.function.aggregate != nil {
		return c
	}
	return nil
}

// literalTexts returns the texts of a list.
func literalTexts(e expr) ([]string, bool) {
	list, ok := e.(*listExpr)
	if !ok || len(list.items) == 0 {
		return nil, false
	}
	texts := make([]string, len(list.items))
	for i, item := range list.items {
		if texts[i], ok = literalText(item); !ok || texts[i] == "" {
			return nil, false
		}
	}
	return slices.Compact(texts), true
}
