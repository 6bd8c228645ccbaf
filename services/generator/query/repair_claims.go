package query

import (
	"regexp"
	"strings"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

var (
	// claimForm is "did A direct B", claimOfBoth "are A and B siblings".
	claimForm   = regexp.MustCompile(asksOfName + `(\p{Ll}[\p{Ll}\s-]*?)\s+(?:the\s+)?(` + properName + `)\s*\?*$`)
	claimOfBoth = regexp.MustCompile(asksOfName + `(\p{Ll}[\p{Ll}\s-]*?)\s*\?*$`)
	// computedClaim are words of a claim that compares, or that joins more than two names.
	computedClaim = regexp.MustCompile(
		`\b(?:before|after|than|as|same|more|most|both|between|or|not|never|\p{L}{3,}est)\b`)
	// emptyWords say nothing of what joins two names: "ever", "together in a film".
	emptyWords = regexp.MustCompile(
		`\b(?:ever|also|once|the|together|with each other|each other)\b|\bin (?:a|an|any|some) \p{L}+$`)
)

// readClaim reads what a question of yes or no says of two names off the question, where the draft does not join
// these: "did A direct B" of Film("A").exists().
func (r *repairer) readClaim() {
	first, words, second := r.findClaim()
	if first == "" || r.joinsNames(first, second) {
		return
	}
	before := r.describePlan()
	const v = "thing"
	r.plan.Clauses = []*graphv1.QueryClause{valuesClause(v, []string{first}),
		matchClause(newPattern(v, words, entityTerm(second)))}
	r.plan.Result = &graphv1.QueryResult{Variable: v, Function: graphv1.QueryFunction_QUERY_FUNCTION_EXISTS}
	r.editPlan(before, "the question asks whether this joins both names")
}

// findClaim returns the two names of a question of yes or no and what it says of them.
func (r *repairer) findClaim() (first, words, second string) {
	if !kgtext.IsYesNo(r.question) {
		return "", "", ""
	}
	if m := claimForm.FindStringSubmatch(r.question); m != nil {
		first, words, second = m[1], m[2], m[3]
	} else if m := claimOfBoth.FindStringSubmatch(r.question); m != nil {
		first, second, _ = strings.Cut(m[1], " and ")
		words = m[2]
	}
	words = strings.Join(strings.Fields(emptyWords.ReplaceAllString(words, " ")), " ")
	if second == "" || words == "" || computedClaim.MatchString(words) || strings.Contains(first+second, " and ") {
		return "", "", ""
	}
	return clean(first), words, clean(strings.TrimPrefix(second, "the "))
}

// joinsNames reports whether the plan says how two names are joined, or computes something.
func (r *repairer) joinsNames(first, second string) bool {
	isNamed := map[string]bool{}
	relations := map[string]string{} // to the names
	for _, c := range r.plan.GetClauses() {
		p := c.GetMatch()
		if p == nil && c.GetValues() == nil {
			return true
		}
		for _, name := range c.GetValues().GetEntities() {
			isNamed[kgtext.Fold(name)] = len(c.GetValues().GetEntities()) == 1
		}
		if name := p.GetEnd().GetEntity(); name != "" && typeOf(c) == "" {
			isNamed[kgtext.Fold(name)], relations[kgtext.Fold(name)] = true, p.GetSteps()[0].GetRelation()
		}
	}
	a, b := kgtext.Fold(first), kgtext.Fold(second)
	return isNamed[a] && isNamed[b] && (relations[a] == "" || relations[b] == "" || relations[a] != relations[b])
}
