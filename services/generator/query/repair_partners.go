package query

import (
	"regexp"
	"slices"
	"strings"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

var (
	// partnerOf stands before the name in "with which actor did A work most often", ofPartner behind it.
	partnerOf = regexp.MustCompile(
		`(?i)^(?:\p{L}+ )?(?:which|what) (\p{L}+) (?:did|does|do|has|have|had|is|was|were) $`)
	ofPartner = regexp.MustCompile(
		`(?i)^.*?(\p{L}+)(?: \p{L}+)? (?:most (?:often|frequently)|(?:in )?the most \p{L}+)\b`)
	// roleForm is what the name is among them: "as a director".
	roleForm = regexp.MustCompile(`(?i)\bas an? (\p{L}+)`)
	// lightVerb says nothing of what is shared, withForm that the partner is another.
	lightVerb = regexp.MustCompile(
		`(?i)^(?:(?:work|make|do|have|collaborate|cooperate|team)(?:s|ed|d)?|made|did|had)$`)
	withForm = regexp.MustCompile(`(?i)^with\b|\b(?:with|for) (?:most|the most)\b`)
)

// countPartners counts, for each thing that is asked for, the things that it shares with a name: of "which
// director did A act for most often" the films with A. Drafts give the name what is asked for.
func (r *repairer) countPartners() {
	named := r.onlyNamed()
	name := named.GetEnd().GetEntity()
	at := strings.Index(r.lower, strings.ToLower(name))
	if name == "" || at < 0 || len(r.lower) != len(r.question) {
		return
	}
	before, behind := r.question[:at], r.question[at+len(name):]
	var partner, role string
	if m, of := partnerOf.FindStringSubmatch(before), ofPartner.FindStringSubmatch(behind); m != nil && of != nil {
		if partner, role = m[1], of[1]; lightVerb.MatchString(role) {
			role = "with"
		}
		if as := roleForm.FindStringSubmatch(behind); as != nil {
			role = as[1]
		}
	}
	// Whatever else the draft says of the name is as good as these words.
	if partner == "" || !kgtext.SharesWord(named.GetSteps()[0].GetRelation(), partner) &&
		!r.isOfKind(named.GetStart().GetVariable(), partner) {
		return
	}
	thing := r.newVariable("thing")
	partners := r.newVariable(strings.ToLower(partner))
	clauses := []*graphv1.QueryClause{matchClause(newPattern(thing, role, entityTerm(name))),
		matchClause(newPattern(thing, strings.ToLower(partner), variableTerm(partners)))}
	if withForm.MatchString(r.question) {
		clauses = append(clauses, conditionClause(partners, graphv1.QueryOperator_QUERY_OPERATOR_NOT_EQUAL, name))
	}
	r.plan.Clauses = append(clauses, rankClause(&graphv1.QueryRank{Variable: thing, Count: true, GroupBy: partners,
		Descending: true}))
	r.plan.Result = &graphv1.QueryResult{Variable: partners}
	r.because("the question asks with whom " + name + " has the most")
}

// onlyNamed returns the pattern that leads to a name, if there is one alone.
func (r *repairer) onlyNamed() *graphv1.QueryPattern {
	var only *graphv1.QueryPattern
	for _, c := range r.plan.GetClauses() {
		switch p := c.GetMatch(); {
		case c.GetValues() != nil || c.GetExclude() != nil || c.GetCondition() != nil:
			return nil
		case p.GetEnd().GetEntity() == "" || typeOf(c) != "":
		case only != nil:
			return nil
		default:
			only = p
		}
	}
	return only
}

// isOfKind reports whether a clause says that a variable is of a kind.
func (r *repairer) isOfKind(variable, kind string) bool {
	return slices.ContainsFunc(r.plan.GetClauses(), func(c *graphv1.QueryClause) bool {
		return c.GetMatch().GetStart().GetVariable() == variable && kgtext.SameNoun(typeOf(c), kind)
	})
}
