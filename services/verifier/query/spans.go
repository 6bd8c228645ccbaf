package query

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

var (
	// asksSpan is a question for how long something went on.
	asksSpan = regexp.MustCompile(
		`(?i)^(?:for )?how (?:long|many (years|months|days)) (?:did|was|were|has|had|is|are) |` +
			`^how old (?:was|were) .* when (?:he|she|it|they) (?:died|closed|ended)\b`)
	// asksAgeNow is a question for an age that no date is.
	asksAgeNow = regexp.MustCompile(`(?i)^how old (?:is|are) `)
	// startForm and endForm are words of relations to when something began and ended.
	startForm = regexp.MustCompile(`(?i)\b(?:start(?:s|ed)?|begin(?:s|ning)?|began|from|since|formed|launch|` +
		beginnings + `)\b`)
	endForm = regexp.MustCompile(`(?i)\b(?:end(?:s|ed)?|until|to|dissolved|disbanded|closed|death|died)\b`)
)

// surelyMoment is the fit of the only two relations that say when something began and ended.
const surelyMoment = 0.5

// isMoment reports whether a relation says when something began or ended, which is not how long it went on.
func isMoment(c *graphv1.RelationCandidate) bool {
	words := kgtext.SplitIdentifiers(relationOf(c))
	return c.GetComparable() > 0.5 && !kgtext.IsLength(words) &&
		(startForm.MatchString(words) || endForm.MatchString(words))
}

// isPair reports whether one relation says when something began and the other when it ended: what else their names say
// is the same, or nothing.
func isPair(start, end string) bool {
	start, end = kgtext.SplitIdentifiers(start), kgtext.SplitIdentifiers(end)
	rest := func(form *regexp.Regexp, name string) []string {
		return slices.DeleteFunc(kgtext.NewOpenWords(form.ReplaceAllString(name, "")), kgtext.IsTime)
	}
	return startForm.MatchString(start) && endForm.MatchString(end) &&
		slices.Equal(rest(startForm, start), rest(endForm, end))
}

// measureSpan computes how long something went on from when it began and ended, where the plan has one of the two. What
// has only one of them, or is ranked by it, is doubted.
func (x *alignment) measureSpan() {
	result := x.plan.GetResult()
	for _, c := range x.plan.GetClauses() {
		if bound := x.ends[c.GetRank().GetVariable()]; bound != nil && !c.GetRank().GetCount() && isMoment(bound) &&
			asksLength.MatchString(x.question) {
			x.doubt(fmt.Sprintf("%q is a time, and the question asks how long", relationOf(bound)))
		}
	}
	m, bound := asksSpan.FindStringSubmatch(x.question), x.ends[result.GetVariable()]
	if asksAgeNow.MatchString(x.question) && bound != nil && isMoment(bound) {
		x.doubt(fmt.Sprintf("%q is a time, and the question asks how old", relationOf(bound)))
	}
	if m == nil || bound == nil || result.GetFunction() != graphv1.QueryFunction_QUERY_FUNCTION_UNSPECIFIED ||
		!isMoment(bound) {
		return
	}
	for at, c := range x.draft.GetClauses() {
		if c.GetMatch().GetEnd().GetVariable() != result.GetVariable() {
			continue
		}
		for _, other := range x.patterns[at].GetCandidates() {
			if len(other.GetSteps()) == 1 && other.GetSteps()[0].GetInverse() == isInverse(bound) &&
				(isPair(relationOf(bound), relationOf(other)) || isPair(relationOf(other), relationOf(bound))) {
				unit := m[1]
				if strings.HasPrefix(strings.ToLower(m[0]), "how old") {
					unit = "years"
				}
				x.addSpan(c.GetMatch(), other, unit)
				return
			}
		}
	}
	x.doubt(fmt.Sprintf("%q is a time, and the question asks how long", relationOf(bound)))
}

// findMoment returns when something ended, of a plan for how long it went on, if one pair of relations says both.
func (x *alignment) findMoment(p *graphv1.QueryPattern,
	candidates []*graphv1.RelationCandidate) (moment *graphv1.RelationCandidate) {
	result := x.draft.GetResult()
	if !asksSpan.MatchString(x.question) || p.GetEnd().GetVariable() != result.GetVariable() ||
		result.GetFunction() != graphv1.QueryFunction_QUERY_FUNCTION_UNSPECIFIED {
		return nil
	}
	isNone := func(c *graphv1.RelationCandidate) bool { return !isMoment(c) || isInverse(c) }
	moments := slices.DeleteFunc(slices.Clone(candidates), isNone)
	for _, end := range moments {
		for _, start := range moments {
			if !isPair(relationOf(start), relationOf(end)) {
				continue
			}
			if moment != nil {
				return nil
			}
			moment = end
		}
	}
	return moment
}

// addSpan makes the result the time between that of a pattern and another one of the same thing.
func (x *alignment) addSpan(p *graphv1.QueryPattern, other *graphv1.RelationCandidate, unit string) {
	result, between := x.plan.GetResult(), x.newVariable()
	before := kgtext.DescribeResult(result)
	p = proto.CloneOf(p)
	p.Steps, p.End = other.GetSteps(), &graphv1.QueryTerm{Term: &graphv1.QueryTerm_Variable{Variable: between}}
	clause := &graphv1.QueryClause{Clause: &graphv1.QueryClause_Match{Match: p}}
	x.plan.Clauses, x.ends[between] = append(x.plan.Clauses, clause), other
	result.Function, result.OtherVariable = graphv1.QueryFunction_QUERY_FUNCTION_DIFFERENCE, between
	isDay := func(t *graphv1.Triple) bool { return len(t.GetObject()) > len("2006-01") }
	if result.Unit = unit; unit == "" && !slices.ContainsFunc(other.GetExamples(), isDay) {
		result.Unit = "years"
	}
	x.edit(graphv1.EditKind_EDIT_KIND_REPLACE, before, kgtext.DescribeClause(clause)+"; "+kgtext.DescribeResult(result),
		"how long is from one to the other", other.GetExamples())
}
