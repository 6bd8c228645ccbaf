package query

import (
	"cmp"
	"regexp"
	"slices"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

// unheard is the confidence in a plan that lacks something that the question asks for.
const unheard = 0.7

var (
	boundForm  = regexp.MustCompile(`(?i)\b(?:more|fewer|less|\p{L}+er)\s+than\b|\bat (?:least|most) \d`)
	asksEither = regexp.MustCompile(`(?i)\b(?:more|fewer|less|earlier|later|older|younger|newer|larger|bigger|` +
		`smaller|longer|shorter|higher|lower|taller)\b.*\bor\b`)
	asksLimit = regexp.MustCompile(`(?i)\b(?:below|above|under|over|(?:more|fewer|less|\p{L}+er) than|` +
		`at (?:least|most)) \d`)
	asksBound = regexp.MustCompile(`(?i)\b(?:more|fewer|less|\p{L}+er)\s+than\b|\bat (?:least|most)\b|\bthe same\b`)
	asksSame  = regexp.MustCompile(`(?i)\bthe same\b`)
	asksBest  = regexp.MustCompile(`(?i)\b(?:\p{L}{3,}est|best|most|least|first|last|top)\b`)
	asksNot   = regexp.MustCompile(`(?i)\b(?:not|n't|never|except|excluding|without|other than|besides)\b|` +
		`\b(?:have|has|had|won|made) no (?-i:\p{Ll}{3,})`)
	asksAll    = regexp.MustCompile(`(?i)\b(?:total|combined|in all|altogether|average|mean)\b`)
	asksEach   = regexp.MustCompile(`(?i)\b(?:each|every)\b`)
	asksAmount = regexp.MustCompile(`(?i)\b(?:how many|number of|how often)\b`)
)

// hears reports whether the plan has a clause for each operation that the question has a word for. A
// plan without one is valid and means something else.
func (x *alignment) hears() bool {
	var ranks, ranksValues, adds, excludes, compares, limits bool
	for _, c := range x.plan.GetClauses() {
		ranks = ranks || c.GetRank() != nil
		compares = compares || c.GetCondition() != nil || c.GetRank().GetOperator() != 0
		limits = limits || c.GetRank().GetOperator() != 0 ||
			c.GetCondition().GetOperator() > graphv1.QueryOperator_QUERY_OPERATOR_EQUAL
		ranksValues = ranksValues || c.GetRank() != nil && !c.GetRank().GetCount()
		excludes = excludes || c.GetExclude() != nil ||
			c.GetCondition().GetOperator() == graphv1.QueryOperator_QUERY_OPERATOR_NOT_EQUAL ||
			c.GetCondition().GetValue() == "0"
		for _, s := range c.GetMatch().GetSteps() { // "highest point" and "average mark" may be relations
			ranks = ranks || asksBest.MatchString(s.GetRelation())
			adds = adds || asksAll.MatchString(kgtext.SplitIdentifiers(s.GetRelation()))
		}
	}
	function := x.plan.GetResult().GetFunction()
	compares = compares || kgtext.ComparesCounts(x.plan.GetResult())
	switch {
	case !ranks && (function == graphv1.QueryFunction_QUERY_FUNCTION_UNSPECIFIED ||
		function == graphv1.QueryFunction_QUERY_FUNCTION_SUM ||
		function == graphv1.QueryFunction_QUERY_FUNCTION_AVERAGE) &&
		asksBest.MatchString(boundForm.ReplaceAllString(x.question, "")):
		return false
	case !ranks && function != graphv1.QueryFunction_QUERY_FUNCTION_EXISTS && asksEither.MatchString(x.question):
		return false
	case (ranksValues || !ranks && function != graphv1.QueryFunction_QUERY_FUNCTION_UNSPECIFIED) &&
		asksEach.MatchString(x.question) && x.plan.GetResult().GetGroupBy() == "":
		return false // one number or the best of all is not one for each
	case function == graphv1.QueryFunction_QUERY_FUNCTION_EXISTS && !compares && asksBound.MatchString(x.question) &&
		!(asksSame.MatchString(x.question) && x.joinsNames()):
		return false
	case !limits && !ranks && !kgtext.ComparesCounts(x.plan.GetResult()) && asksLimit.MatchString(x.question):
		return false
	case !excludes && asksNot.MatchString(x.question):
		return false
	case function == graphv1.QueryFunction_QUERY_FUNCTION_UNSPECIFIED && !adds && asksAll.MatchString(x.question):
		return false
	case function == graphv1.QueryFunction_QUERY_FUNCTION_UNSPECIFIED && asksAmount.MatchString(x.question):
		bound := x.ends[x.plan.GetResult().GetVariable()]
		return bound.GetComparable() > 0.5 && !x.countsOther(bound)
	case kgtext.AsksTime(x.question) && function == graphv1.QueryFunction_QUERY_FUNCTION_COUNT && !x.usesTime():
		return !yearForm.MatchString(x.question)
	}
	return function != graphv1.QueryFunction_QUERY_FUNCTION_UNSPECIFIED || !x.answersOther()
}

// countsOther reports whether a plan returns another number than the question asks for: how long runways are in place
// of how many there are, or of bathrooms the number of bedrooms, though the words are near to each other.
func (x *alignment) countsOther(bound *graphv1.RelationCandidate) bool {
	m := countedForm.FindStringSubmatch(x.question)
	if m == nil {
		return false
	}
	relation := relationOf(bound)
	if kgtext.SharesWord(m[1], relation) {
		return kgtext.MeasuresOther(m[1], relation)
	}
	return !kgtext.SharesRole(m[1], relation) && !amountForm.MatchString(kgtext.SplitIdentifiers(relation))
}

// amountForm is a relation to a number of what it does not say.
var amountForm = regexp.MustCompile(`(?i)\b(?:capacity|size|number|count|total|population|amount|quantity)\b`)

// joinsNames reports whether the plan is of a variable that facts join with two names: what is the same of both.
func (x *alignment) joinsNames() bool {
	isJoined := map[string]bool{}
	return slices.ContainsFunc(x.plan.GetClauses(), func(c *graphv1.QueryClause) bool {
		p := c.GetMatch()
		v := p.GetStart().GetVariable()
		if kgtext.IsListed(x.plan, v) {
			v = p.GetEnd().GetVariable()
		} else if p.GetEnd().GetEntity() == "" {
			return false
		}
		if v == "" {
			return false
		}
		again := isJoined[v]
		isJoined[v] = true
		return again
	})
}

var asksKindForm = regexp.MustCompile(
	`(?i)^(?:(?:in|with|by|for|from|to|at|on|of) )?(?:which|what) (\p{L}+)(?: (\p{L}+))?`)

// answersOther reports whether the question asks for one kind of things, of the plan if that names something, and the
// result is of another, by its kind or the relation to it: which state a city is in, and the city.
func (x *alignment) answersOther() bool {
	m := asksKindForm.FindStringSubmatch(x.question)
	if m == nil {
		return false
	}
	asked := m[1]
	if slices.ContainsFunc(x.draft.GetClauses(), func(c *graphv1.QueryClause) bool {
		return c.GetMatch() != nil && kgtext.DescribeRelation(c.GetMatch()) == typeRelation &&
			holdsWords(c.GetMatch().GetEnd().GetEntity(), m[2])
	}) {
		asked = m[2] // of "which state capital"
	}
	// Where the plan names nothing, nothing else says what is asked for. Who does something is said by the relation.
	other, result := len(kgtext.ThingNames(x.draft)) == 0 && len(kgtext.NewOpenWords(asked)) > 0 &&
		!isAnything(asked) && !kgtext.IsRole(asked) && !kgtext.IsTime(asked), false
	if bound := x.ends[x.draft.GetResult().GetVariable()]; bound != nil && holdsWords(relationOf(bound), asked) {
		return false
	}
	for _, c := range x.draft.GetClauses() {
		variable, kind := c.GetValues().GetVariable(), c.GetValues().GetVariable()
		p := c.GetMatch()
		isKind := p == nil || kgtext.DescribeRelation(p) == typeRelation
		if p != nil && isKind {
			variable, kind = p.GetStart().GetVariable(), p.GetEnd().GetEntity()
		} else if p != nil {
			variable, kind = p.GetEnd().GetVariable(), kgtext.DescribeRelation(p)
		}
		fits := holdsWords(kind, asked)
		if variable == x.draft.GetResult().GetVariable() && kind != "" {
			if fits {
				return false
			}
			result = true
		}
		other = other || fits && isKind && kind != ""
	}
	return other && result
}

var yearForm = regexp.MustCompile(`\b(?:1[0-9]|20)\d{2}s?\b`)

// usesTime reports whether a clause of the plan compares.
func (x *alignment) usesTime() bool {
	return slices.ContainsFunc(x.plan.GetClauses(), func(c *graphv1.QueryClause) bool {
		return c.GetCondition() != nil
	})
}

// claimsNothing reports whether a plan for yes, no or a count has no fact and no comparison: that a thing exists is not
// what was asked, nor that it is one.
func (x *alignment) claimsNothing() bool {
	hasNoValues := func(c *graphv1.QueryClause) bool { return c.GetValues() == nil }
	if x.plan.GetResult().GetFunction() == graphv1.QueryFunction_QUERY_FUNCTION_COUNT &&
		!slices.ContainsFunc(x.plan.GetClauses(), hasNoValues) {
		return true
	}
	if r := x.plan.GetResult(); r.GetFunction() != graphv1.QueryFunction_QUERY_FUNCTION_EXISTS ||
		kgtext.ComparesCounts(r) {
		return false
	}
	for _, c := range x.plan.GetClauses() {
		p := c.GetMatch()
		if c.GetCondition() != nil || c.GetExclude() != nil || c.GetRank().GetOperator() != 0 ||
			p != nil && !x.leadsNowhere(p) {
			return false
		}
	}
	return true
}

// leadsNowhere reports whether nothing else of the plan speaks of the end of a pattern, so that any
// triple of the relation fulfils it.
func (x *alignment) leadsNowhere(p *graphv1.QueryPattern) bool {
	v := p.GetEnd().GetVariable()
	if v == "" || p.GetStart().GetVariable() == "" {
		return false
	}
	for _, c := range x.plan.GetClauses() {
		other := c.GetMatch()
		if other != nil && other.GetEnd() != p.GetEnd() && (other.GetStart().GetVariable() == v ||
			other.GetEnd().GetVariable() == v) || c.GetValues().GetVariable() == v {
			return false
		}
	}
	return true
}

// askFlag asks for the value of a relation that has yes or no, where the plan asks whether there is any: whether
// something is hardy.
func (x *alignment) askFlag() bool {
	result, value := x.plan.GetResult(), ""
	for _, c := range x.plan.GetClauses() {
		value = cmp.Or(c.GetMatch().GetEnd().GetVariable(), value)
	}
	bound := x.ends[value]
	if len(x.plan.GetClauses()) != 2 || !isFlag(bound) || !kgtext.SharesWord(relationOf(bound), x.question) {
		return false
	}
	before := kgtext.DescribeResult(result)
	result.Function, result.Variable = graphv1.QueryFunction_QUERY_FUNCTION_UNSPECIFIED, value
	x.edit(graphv1.EditKind_EDIT_KIND_REPLACE, before, kgtext.DescribeResult(result), "its values are yes and no", nil)
	return true
}
