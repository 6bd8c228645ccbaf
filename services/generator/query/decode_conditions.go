package query

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

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
		case ranksOwnKind(a.value, v, relation), countsItself(a.value):
			last := a.value.calls[len(a.value.calls)-1]
			b.rank(v, strings.ToLower(last.args[0].value.text), isMost(strings.ToLower(last.name)))
		case isOwnKind(a.value, v, relation) && !a.negated: // Titan(titan=Titan().where("punished by", "A"))
			b.choose(v, a.value.calls[0].args)
			for _, c := range a.value.calls[1:] {
				b.method(v, c)
			}
		case !a.value.isLiteral() && a.negated:
			b.excludeChain(v, relation, a.value)
		case !a.value.isLiteral():
			inner, _ := b.chain(a.value)
			b.pattern(v, relation, variableTerm(inner), false)
		case strings.EqualFold(a.value.text, "average"), strings.EqualFold(a.value.text, "mean"):
			b.attribute(v, relation) // setFunction sees in the question that its mean is asked for
		case isOperatorWord(a.value.text):
			// launch_year="between", 1976, 1977; rating="below", value=4
			var operands []*chain
			for i+1 < len(args) && args[i+1].value.isLiteral() && (args[i+1].name == "" ||
				len(operands) == 0 && (args[i+1].name == "value" || args[i+1].name == kgtext.LastWord(relation))) {
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
			if phrase, word, ok := cutOrder(relation); ok {
				b.rank(v, phrase, isMost(word))
				continue
			}
			if word, place, _ := strings.Cut(relation, " "); isPlaceWord(word) && place != "" && !a.negated {
				b.pattern(v, word, entityTerm(place), false)
				continue
			}
			b.pattern(v, TypeRelation, entityTerm(cutManner(flagForm.ReplaceAllString(relation, ""))), a.negated)
		case strings.EqualFold(a.value.text, "false"):
			b.pattern(v, TypeRelation, entityTerm(strings.TrimPrefix(relation, "is ")), !a.negated)
		case bestWord(strings.ToLower(a.value.text)) != "", isGrade(a.value.text):
			b.rank(v, relation, isMostBy(relation, strings.ToLower(a.value.text)))
		case isSuperlative(a.value.text):
			b.chooseBest(v, relation, strings.ToLower(a.value.text))
		case isNone(a.value.text) && !a.negated:
			b.pattern(v, relation, variableTerm(b.variable(relation)), true)
		case clean(a.value.text) == "" && (a.negated || !kgtext.IsListed(b.plan, v)):
		case clean(a.value.text) == "", strings.EqualFold(a.value.text, "something"):
			b.open[v] = b.attribute(v, relation)
		default:
			name, isNot := strings.CutPrefix(clean(a.value.text), "not ") // genre="not comedy", no title
			b.pattern(v, relation, entityTerm(name), a.negated != isNot)
		}
	}
}

// bestOfKind reads a chain that is the best of a whole kind by a phrase, Town().most("inhabitants"), in lower
// case; ok is false for others.
func bestOfKind(c *chain) (kind, method, by string, ok bool) {
	if len(c.calls) != 2 || len(c.calls[0].args) > 0 || len(c.calls[1].args) != 1 ||
		!c.calls[1].args[0].value.isLiteral() {
		return "", "", "", false
	}
	return strings.ToLower(splitWords(c.calls[0].name)), strings.ToLower(c.calls[1].name),
		strings.ToLower(c.calls[1].args[0].value.text), true
}

// ranksOwnKind reports whether a chain is the best of the kind of a variable by a relation:
// City(population=City().most("population")) is the city with the most, whatever the order of the words.
func ranksOwnKind(c *chain, v, relation string) bool {
	kind, method, by, ok := bestOfKind(c)
	switch method {
	case "most", "least", "max", "min", "highest", "lowest", "largest", "smallest":
		isOwn := strings.EqualFold(kind, kindOf(v)) || kgtext.SameNoun(kind, relation) // or a Stock().most("stock")
		return ok && isOwn && kgtext.SharedWords(by, relation) == 1 && kgtext.SharedWords(relation, by) == 1
	}
	return false
}

// isOwnKind reports whether a chain says more of a variable in the place of its own kind.
func isOwnKind(c *chain, v, relation string) bool {
	return len(c.calls) > 0 && isKind(relation, kindOf(v)) &&
		isKind(strings.ToLower(splitWords(c.calls[0].name)), kindOf(v))
}

// countsItself reports whether a chain counts its own kind, as Town().most("number of towns") does: it is
// what has the most of them that is meant, Province(town=Town().most("number of towns")).
func countsItself(c *chain) bool {
	kind, method, by, ok := bestOfKind(c)
	counted, counts := cutCounted(by)
	switch method {
	case "most", "least", "max", "min":
		return ok && counts && isKind(counted, kind)
	}
	return false
}

// isKind reports whether words are a kind or its plural, or such things that something was done to: "films written".
func isKind(words, kind string) bool {
	if at := strings.LastIndex(words, " "); at > 0 && kgtext.IsParticiple(words[at:]) {
		words = words[:at]
	}
	return words == kind || kgtext.Singular(words) == kind
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
	if kgtext.SameNoun(kind, kindOf(v)) { // who made the best of these
		b.rank(v, bestWord(word), isMost(word))
		b.open[v] = b.attribute(v, relation)
		return
	}
	inner := b.variable(kind)
	b.add(matchClause(newPattern(inner, TypeRelation, entityTerm(kind))))
	b.rank(inner, bestWord(word), isMost(word))
	b.pattern(v, relation, variableTerm(inner), false)
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
	if kgtext.IsListed(b.plan, other) && op != equal && op != graphv1.QueryOperator_QUERY_OPERATOR_NOT_EQUAL {
		other = b.attribute(other, phrase) // of the name itself nothing is more or less
	}
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

func startsWithDigit(s string) bool {
	s = strings.TrimLeft(s, "-$€£ ")
	return s != "" && unicode.IsDigit(rune(s[0]))
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
			switch {
			case relation == "" && name == clean(a.value.text) && kgtext.IsParticiple(name): // not_(used)
				b.pattern(v, TypeRelation, entityTerm(name), true)
				continue
			case relation == "" || relation == "name" || relation == "title":
				b.add(conditionClause(v, graphv1.QueryOperator_QUERY_OPERATOR_NOT_EQUAL, clean(a.value.text)))
				continue
			}
			b.pattern(v, relation, entityTerm(clean(a.value.text)), true)
		case a.value.isLiteral() && clean(a.value.text) == "":
		case a.value.isLiteral() && strings.EqualFold(a.value.text, "true"):
			if strings.Contains(relation, " ") && kgtext.IsParticiple(kgtext.LastWord(relation)) {
				b.pattern(v, relation, variableTerm(b.variable(relation)), true) // not_(trip_made=True)
				continue
			}
			b.pattern(v, TypeRelation, entityTerm(relation), true)
		case a.name == "" && a.value.bareKind() != "":
			b.pattern(v, TypeRelation, entityTerm(a.value.bareKind()), true)
		case a.value.isLiteral() && (relation == "name" || relation == "title"):
			b.add(conditionClause(v, graphv1.QueryOperator_QUERY_OPERATOR_NOT_EQUAL, clean(a.value.text)))
		case a.value.isLiteral():
			b.pattern(v, relation, entityTerm(clean(a.value.text)), true)
		default:
			b.excludeChain(v, relation, a.value)
		}
	}
}

// excludeChain removes what has a relation to any of some things: to the best of them, to one of a kind, or to one that
// fulfils conditions, of which it has none then. An exclusion of these would keep what lacks one of them.
func (b *builder) excludeChain(v, relation string, things *chain) {
	if kind := things.bareKind(); kind != "" {
		b.pattern(v, relation, variableTerm(b.variable(kind)), true)
		return
	}
	at := len(b.plan.GetClauses())
	inner, _ := b.chain(things)
	isBest := slices.ContainsFunc(b.plan.GetClauses()[at:], func(c *graphv1.QueryClause) bool {
		return c.GetRank() != nil || c.GetValues() != nil
	})
	b.pattern(v, relation, variableTerm(inner), isBest)
	if !isBest {
		b.add(rankClause(&graphv1.QueryRank{Variable: inner, Count: true, GroupBy: v, Operator: equal}))
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
	if positional[1].isLiteral() && isNone(strings.TrimPrefix(strings.ToLower(positional[1].text), "is ")) {
		b.pattern(v, phrase, variableTerm(b.variable(phrase)), true)
		return
	}
	if positional[1].isLiteral() && isOperatorWord(positional[1].text) {
		b.addWhere(v, phrase, positional[1].text, positional[2:])
		return
	}
	if relation, op := splitOperator(phrase); op != 0 && relation != "" { // "passed before"
		b.compare(v, relation, op, positional[1])
		return
	}
	b.addWhere(v, phrase, "=", positional[1:])
}

// contain says what a variable has, or is where it is what something has: Play("A").get("cast").contains("B"). It
// returns the variable that has it.
func (b *builder) contain(v string, args []argument) string {
	for _, a := range args {
		fact := factOf(b.plan, v)
		switch text := clean(a.value.text); {
		case !a.value.isLiteral() || text == "":
		case a.name == "" && text == strings.ToLower(text): // whether it has a pool
			b.pattern(v, TypeRelation, entityTerm(text), a.negated)
		case a.name == "" && len(args) == 1 && fact.GetStart().GetVariable() != "":
			fact.End = entityTerm(text)
			return fact.GetStart().GetVariable()
		default:
			b.pattern(v, cmp.Or(strings.ToLower(splitWords(a.name)), kindOf(v)), entityTerm(text), a.negated)
		}
	}
	return v
}
