package query

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/triplemesh/triplemesh/internal/cypher"
	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

// maxClauses bounds a plan.
const maxClauses = 48

// TypeRelation is the relation of the clauses that say what a variable is: ?film type film.
const TypeRelation = cypher.TypeRelation

// Decode reads a plan off what a model wrote, which may be Cypher. It forgives what models get wrong; the
// plan has no clauses if nothing can be read.
func Decode(text string) *graphv1.QueryPlan {
	if statement := findStatement(text); statement != "" {
		if plan, err := cypher.ReadPlan(statement); err == nil {
			return newPlan(plan)
		}
	}
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.Trim(strings.TrimSpace(line), "`")
		if !strings.Contains(line, "(") {
			continue // prose
		}
		p := &parser{tokens: tokenise(line)}
		c := p.chain()
		if c == nil || c.isLiteral() {
			continue
		}
		b := newBuilder()
		b.build(c)
		if len(b.plan.GetClauses()) > 0 && b.plan.GetResult().GetVariable() != "" {
			return b.plan
		}
	}
	return &graphv1.QueryPlan{}
}

// builder makes clauses of a chain.
type builder struct {
	plan *graphv1.QueryPlan
	used map[string]int    // how many variables have a name
	open map[string]string // the attribute of a name that was left empty: of Film("A", director="")
}

func newBuilder() *builder {
	return &builder{plan: &graphv1.QueryPlan{Result: &graphv1.QueryResult{}}, used: map[string]int{},
		open: map[string]string{}}
}

// variable returns a new variable that is named by words.
func (b *builder) variable(words string) string {
	base := cypher.PlanVariable(strings.ToLower(words), 24)
	b.used[base]++
	if n := b.used[base]; n > 1 {
		base += strconv.Itoa(n)
	}
	return base
}

// chain adds the clauses of a chain and returns its variable and what is computed of it.
func (b *builder) chain(c *chain) (string, graphv1.QueryFunction) {
	if c.isLiteral() {
		v := b.variable("thing")
		b.add(valuesClause(v, []string{clean(c.text)}))
		return v, 0
	}
	current := b.root(c.calls[0])
	for _, m := range c.calls[1:] {
		var f graphv1.QueryFunction
		current, f = b.method(current, m)
		if f != 0 {
			return current, f
		}
	}
	return current, 0
}

// kindOf returns the kind that a variable was named by.
func kindOf(variable string) string {
	return strings.ReplaceAll(strings.TrimRight(variable, "0123456789"), "_", " ")
}

// isGeneric reports whether a kind says nothing.
func isGeneric(kind string) bool {
	switch kind {
	case "", "thing", "things", "entity", "item", "object", "who", "what", "name", "something":
		return true
	}
	return false
}

// root adds what a root call selects.
func (b *builder) root(c call) string {
	kind := strings.ToLower(splitWords(c.name))
	v := b.variable(kind)
	var names, best []string
	var rest []argument
	for _, a := range c.args {
		name := strings.ToLower(splitWords(a.name))
		if !a.negated && a.value.isLiteral() && (name == "" || name == "name" || name == "title" || name == "names") &&
			!(name == "" && (startsWithDigit(a.value.text) && len(rest) > 0 || isOperatorWord(a.value.text))) {
			if text := clean(a.value.text); bestWord(strings.ToLower(text)) != "" {
				best = append(best, strings.ToLower(text))
			} else if text != "" && !strings.EqualFold(text, kind) {
				names = append(names, text)
			}
			continue
		}
		rest = append(rest, a)
	}
	if len(names) > 0 {
		b.add(valuesClause(v, names))
	} else if !isGeneric(kind) {
		b.add(matchClause(newPattern(v, TypeRelation, entityTerm(kind))))
	}
	b.choose(v, rest)
	for _, word := range best {
		b.rank(v, bestWord(word), isMost(word))
	}
	return v
}

// method applies a method to a variable. It returns the variable behind it and what is computed, if
// the method ends the chain.
func (b *builder) method(v string, m call) (string, graphv1.QueryFunction) {
	name := strings.ToLower(strings.Trim(m.name, "_"))
	text := "" // of the first argument
	if len(m.args) > 0 && m.args[0].value.isLiteral() {
		text = strings.ToLower(splitWords(m.args[0].value.text))
	}
	switch name {
	case "not", "exclude", "without", "except", "excluding", "remove":
		b.exclude(v, m.args)
	case "filter", "having", "with", "select", "in", "from":
		b.choose(v, m.args)
	case "where", "is", "compare", "and":
		b.readWhere(v, m.args)
	case "most", "max", "maximum", "largest", "highest", "latest", "last", "top", "longest", "biggest", "greatest",
		"most_recent", "newest", "youngest", "best":
		b.rank(v, rankPhrase(name, text), true)
	case "least", "min", "minimum", "smallest", "lowest", "earliest", "first", "shortest", "fewest", "oldest":
		b.rank(v, rankPhrase(name, text), false)
	case "most_common", "most_frequent", "mode":
		if text == "name" || text == "title" {
			return v, 0
		}
		attribute := b.attribute(v, cmp.Or(text, "kind"))
		b.add(rankClause(&graphv1.QueryRank{Variable: v, Count: true, GroupBy: attribute, Descending: true}))
		return attribute, 0
	case "count", "number", "len", "size":
		if text != "" && text != "name" {
			v = b.get(v, text)
		}
		return v, graphv1.QueryFunction_QUERY_FUNCTION_COUNT
	case "sum", "total":
		return b.attribute(v, cmp.Or(text, b.measureOf(v))), graphv1.QueryFunction_QUERY_FUNCTION_SUM
	case "average", "avg", "mean":
		return b.attribute(v, cmp.Or(text, b.measureOf(v))), graphv1.QueryFunction_QUERY_FUNCTION_AVERAGE
	case "exists", "any", "exist":
		b.choose(v, m.args)
		if text != "" && kgtext.IsListed(b.plan, v) {
			b.attribute(v, text) // whether it has a garden
		}
		return v, graphv1.QueryFunction_QUERY_FUNCTION_EXISTS
	case "contains", "includes", "has":
		return b.contain(v, m.args), graphv1.QueryFunction_QUERY_FUNCTION_EXISTS
	case "get", "select_related", "values", "list", "return":
		if kind := kindOf(v); !kgtext.IsListed(b.plan, v) && (isKind(text, kind) || isKind(firstWord(text), kind) ||
			isKind(kgtext.LastWord(text), kind)) {
			return v, 0 // the states of a state; of a name it is a relation: the genre of Genre("A")
		}
		return b.get(v, text), b.functionFor(text)
	case "equals", "equal", "same", "same_as", "is_same_as":
		if len(m.args) == 1 && !m.args[0].value.isLiteral() {
			other, _ := b.chain(m.args[0].value)
			b.add(compareClause(v, equal, other))
			return v, graphv1.QueryFunction_QUERY_FUNCTION_EXISTS
		}
	case "all", "distinct", "order_by", "sort", "limit":
	default: // a relation as a method: .borders("Texas"), .capital()
		if phrase := strings.ToLower(splitWords(m.name)); phrase != "" {
			if len(m.args) > 0 {
				b.choose(v, []argument{{name: m.name, operator: "=", value: m.args[0].value}})
			} else {
				return b.get(v, phrase), 0
			}
		}
	}
	return v, 0
}

// measureOf returns what is added up where a draft does not say: the area in Area("A").sum().
func (b *builder) measureOf(v string) string {
	if kind := kindOf(v); kgtext.IsListed(b.plan, v) && !isGeneric(kind) {
		return kind
	}
	return "number"
}

func (b *builder) get(v, phrase string) string {
	switch phrase {
	case "", "name", "title", "names", "titles":
		return v
	}
	phrase, _ = cutCounted(phrase)
	return b.attribute(v, phrase)
}

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
	if kgtext.IsListed(b.plan, v) {
		b.pattern(v, kindOf(v), entityTerm(name), false)
	} else {
		b.add(valuesClause(v, []string{name}))
	}
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
