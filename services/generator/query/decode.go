package query

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"

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
		b := &builder{plan: &graphv1.QueryPlan{Result: &graphv1.QueryResult{}}, used: map[string]int{}}
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
	used map[string]int // how many variables have a name
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

func (b *builder) add(c *graphv1.QueryClause) {
	if len(b.plan.Clauses) < maxClauses {
		b.plan.Clauses = append(b.plan.Clauses, c)
	}
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

// choose adds what keyword arguments select.
func (b *builder) choose(v string, args []argument) {
	for i := 0; i < len(args); i++ {
		a := args[i]
		if a.name == "" {
			if !a.value.isLiteral() { // a chain in the place of a relation
				inner, _ := b.chain(a.value)
				b.pattern(v, "", variableTerm(inner), a.negated)
			}
			continue
		}
		relation, op := splitOperator(strings.ToLower(splitWords(a.name)))
		switch {
		case strings.HasSuffix(relation, " between") && a.value.isLiteral():
			operands := []*chain{a.value}
			for i+1 < len(args) && args[i+1].name == "" && args[i+1].value.isLiteral() {
				i++
				operands = append(operands, args[i].value)
			}
			b.addWhere(v, strings.TrimSuffix(relation, " between"), "between", operands)
		case a.operator != "=" && a.operator != "==":
			b.compare(v, relation, operatorOf(a.operator), a.value)
		case op != 0:
			b.compare(v, relation, op, a.value)
		case !a.value.isLiteral() && ranksOwnKind(a.value, v, relation):
			last := a.value.calls[len(a.value.calls)-1]
			b.rank(v, relation, isMost(strings.ToLower(last.name)))
		case !a.value.isLiteral():
			inner, _ := b.chain(a.value)
			b.pattern(v, relation, variableTerm(inner), a.negated)
		case isOperatorWord(a.value.text):
			// launch_year="between", 1976, 1977
			var operands []*chain
			for i+1 < len(args) && args[i+1].name == "" && args[i+1].value.isLiteral() {
				i++
				operands = append(operands, args[i].value)
			}
			b.addWhere(v, relation, a.value.text, operands)
		case leadingOperator(a.value.text) != "":
			mark := leadingOperator(a.value.text)
			b.compare(v, relation, operatorOf(mark), &chain{text: strings.TrimSpace(a.value.text[len(mark):])})
		case isNumber(a.value.text):
			b.compare(v, relation, graphv1.QueryOperator_QUERY_OPERATOR_EQUAL, a.value)
		case bestWord(relation) != "" && strings.EqualFold(a.value.text, "true"):
			b.rank(v, bestWord(relation), isMost(relation))
		case bestWord(firstWord(relation)) != "" && strings.EqualFold(a.value.text, "true"):
			b.rank(v, relation, isMost(firstWord(relation)))
		case bestWord(firstWord(relation)) != "" && isPlaceWord(secondWord(relation)):
			b.pattern(v, strings.TrimPrefix(relation, firstWord(relation)+" "), entityTerm(clean(a.value.text)),
				a.negated)
			b.rank(v, bestWord(firstWord(relation)), isMost(firstWord(relation)))
		case strings.EqualFold(a.value.text, "true"):
			b.pattern(v, TypeRelation, entityTerm(relation), a.negated)
		case strings.EqualFold(a.value.text, "false"):
			b.pattern(v, TypeRelation, entityTerm(relation), !a.negated)
		case bestWord(strings.ToLower(a.value.text)) != "":
			b.rank(v, relation, isMost(strings.ToLower(a.value.text)))
		case isSuperlative(a.value.text):
			b.chooseBest(v, relation, strings.ToLower(a.value.text))
		case clean(a.value.text) != "":
			b.pattern(v, relation, entityTerm(clean(a.value.text)), a.negated)
		}
	}
}

// ranksOwnKind reports whether a chain is the best of the kind of a variable by a relation:
// City(population=City().most("population")) is the city with the most.
func ranksOwnKind(c *chain, v, relation string) bool {
	if len(c.calls) != 2 || len(c.calls[0].args) > 0 || len(c.calls[1].args) != 1 {
		return false
	}
	kind := kindOf(v)
	switch strings.ToLower(c.calls[1].name) {
	case "most", "least", "max", "min", "highest", "lowest", "largest", "smallest":
		return strings.EqualFold(splitWords(c.calls[0].name), kind) && c.calls[1].args[0].value.isLiteral() &&
			strings.EqualFold(splitWords(c.calls[1].args[0].value.text), relation)
	}
	return false
}

// chooseBest adds what "most states" or "largest state" in the place of a name selects.
func (b *builder) chooseBest(v, relation, value string) {
	word := firstWord(value)
	if word == "most" || word == "fewest" || word == "least" {
		counted := b.attribute(v, relation)
		b.add(rankClause(&graphv1.QueryRank{Variable: counted, Count: true, GroupBy: v, Descending: isMost(word)}))
		return
	}
	kind := strings.TrimPrefix(value, word+" ")
	inner := b.variable(kind)
	b.add(matchClause(newPattern(inner, TypeRelation, entityTerm(kind))))
	b.rank(inner, bestWord(word), isMost(word))
	b.pattern(v, relation, variableTerm(inner), false)
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

// compare adds a condition on an attribute.
func (b *builder) compare(v, phrase string, op graphv1.QueryOperator, value *chain) {
	if op == 0 || value == nil {
		return
	}
	phrase, _ = cutCounted(cmp.Or(phrase, "value"))
	if value.isLiteral() {
		text := clean(value.text)
		if text == "" {
			return
		}
		attribute := b.attribute(v, phrase)
		if startsWithDigit(text) || op == graphv1.QueryOperator_QUERY_OPERATOR_EQUAL || isDate(text) {
			b.add(conditionClause(attribute, op, text))
			return
		}
		// A name is compared by the same attribute.
		other := b.variable("other")
		b.add(valuesClause(other, []string{text}))
		b.add(compareClause(attribute, op, b.attribute(other, phrase)))
		return
	}
	attribute := b.attribute(v, phrase)
	other, _ := b.chain(value)
	b.add(compareClause(attribute, op, other))
}

// addWhere adds attribute, operator and operands.
func (b *builder) addWhere(v, phrase, word string, operands []*chain) {
	word = strings.ToLower(strings.TrimSpace(word))
	if phrase == "name" || phrase == "title" {
		if len(operands) == 1 && operands[0].isLiteral() &&
			operatorOf(word) == graphv1.QueryOperator_QUERY_OPERATOR_EQUAL &&
			clean(operands[0].text) != "" {
			b.addName(v, clean(operands[0].text))
		}
		return
	}
	switch {
	case operatorOf(word) == graphv1.QueryOperator_QUERY_OPERATOR_NOT_EQUAL && len(operands) == 1 &&
		operands[0].isLiteral() && !startsWithDigit(operands[0].text) && clean(operands[0].text) != "":
		b.pattern(v, phrase, entityTerm(clean(operands[0].text)), true)
	case len(operands) >= 2 && (word == "between" || word == "in" || word == "range"):
		attribute := b.attribute(v, phrase)
		for i, op := range []graphv1.QueryOperator{graphv1.QueryOperator_QUERY_OPERATOR_GREATER_OR_EQUAL,
			graphv1.QueryOperator_QUERY_OPERATOR_LESS_OR_EQUAL} {
			if operands[i].isLiteral() && clean(operands[i].text) != "" {
				b.add(conditionClause(attribute, op, clean(operands[i].text)))
			}
		}
	case len(operands) == 0:
	case operatorOf(word) == graphv1.QueryOperator_QUERY_OPERATOR_EQUAL && operands[0].isLiteral() &&
		!startsWithDigit(operands[0].text) && clean(operands[0].text) != "":
		b.pattern(v, phrase, entityTerm(clean(operands[0].text)), false)
	default:
		b.compare(v, phrase, operatorOf(word), operands[0])
	}
}

func isDate(text string) bool {
	_, ok := kgtext.ParseDate(text)
	return ok
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

func startsWithDigit(s string) bool {
	s = strings.TrimLeft(s, "-$€£ ")
	return s != "" && unicode.IsDigit(rune(s[0]))
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
		"most_recent", "newest", "best":
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
		return v, graphv1.QueryFunction_QUERY_FUNCTION_EXISTS
	case "contains", "includes", "has":
		b.contain(v, m.args)
		return v, graphv1.QueryFunction_QUERY_FUNCTION_EXISTS
	case "get", "select_related", "values", "list", "return":
		if kind := kindOf(v); strings.TrimSuffix(text, "s") == kind ||
			strings.TrimSuffix(firstWord(text), "s") == kind && !b.isNamed(v) {
			return v, 0 // the states of a state
		}
		return b.get(v, text), b.functionFor(text)
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

// isNamed reports whether the plan lists what a variable stands for.
func (b *builder) isNamed(v string) bool {
	return slices.ContainsFunc(b.plan.GetClauses(), func(c *graphv1.QueryClause) bool {
		return c.GetValues().GetVariable() == v
	})
}

// measureOf returns what is added up where a draft does not say: the area in Area("A").sum().
func (b *builder) measureOf(v string) string {
	if kind := kindOf(v); b.isNamed(v) && !isGeneric(kind) {
		return kind
	}
	return "number"
}

func (b *builder) get(v, phrase string) string {
	switch phrase {
	case "", "name", "title", "names":
		return v
	}
	phrase, _ = cutCounted(phrase)
	return b.attribute(v, phrase)
}

func (b *builder) exclude(v string, args []argument) {
	for i := 0; i < len(args); i++ {
		a := args[i]
		relation := strings.ToLower(splitWords(a.name))
		switch {
		case a.name == "" && a.value.isLiteral():
			name := strings.ToLower(splitWords(a.value.text))
			if i+1 < len(args) && args[i+1].name == "" && args[i+1].value.isLiteral() {
				i++
				relation = name
				a = args[i]
			}
			if relation == "" || relation == "name" || relation == "title" {
				b.add(conditionClause(v, graphv1.QueryOperator_QUERY_OPERATOR_NOT_EQUAL, clean(a.value.text)))
				continue
			}
			b.pattern(v, relation, entityTerm(clean(a.value.text)), true)
		case a.value.isLiteral() && clean(a.value.text) == "":
		case a.value.isLiteral() && strings.EqualFold(a.value.text, "true"):
			b.pattern(v, TypeRelation, entityTerm(relation), true)
		case !a.value.isLiteral() && a.name == "" && len(a.value.calls) == 1 && len(a.value.calls[0].args) == 0:
			b.pattern(v, TypeRelation, entityTerm(strings.ToLower(splitWords(a.value.calls[0].name))), true)
		case a.value.isLiteral() && (relation == "name" || relation == "title"):
			b.add(conditionClause(v, graphv1.QueryOperator_QUERY_OPERATOR_NOT_EQUAL, clean(a.value.text)))
		case a.value.isLiteral():
			b.pattern(v, relation, entityTerm(clean(a.value.text)), true)
		default:
			inner, _ := b.chain(a.value)
			b.pattern(v, relation, variableTerm(inner), true)
		}
	}
}

func (b *builder) readWhere(v string, args []argument) {
	var positional []*chain
	var named []argument
	for _, a := range args {
		if a.name == "" {
			positional = append(positional, a.value)
		} else {
			named = append(named, a)
		}
	}
	b.choose(v, named)
	if len(positional) < 2 || !positional[0].isLiteral() {
		return
	}
	phrase := strings.ToLower(splitWords(positional[0].text))
	if positional[1].isLiteral() && isOperatorWord(positional[1].text) {
		b.addWhere(v, phrase, positional[1].text, positional[2:])
		return
	}
	b.addWhere(v, phrase, "=", positional[1:])
}

func (b *builder) contain(v string, args []argument) {
	for _, a := range args {
		if a.value.isLiteral() && clean(a.value.text) != "" {
			relation := cmp.Or(strings.ToLower(splitWords(a.name)), kindOf(v))
			b.pattern(v, relation, entityTerm(clean(a.value.text)), a.negated)
		}
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
