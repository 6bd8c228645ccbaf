package query

import (
	"regexp"
	"slices"
	"strings"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

var (
	// claimForm is "did A direct B", claimOfBoth "are A and B siblings".
	claimForm   = regexp.MustCompile(asksOfName + `(\p{Ll}[\p{Ll}\s-]*?)\s+(?:the\s+)?(` + properName + `)\s*\?*$`)
	claimOfBoth = regexp.MustCompile(asksOfName + `(\p{Ll}[\p{Ll}\s-]*?)\s*\?*$`)
	// sameOfBoth is "do A and B work for the same company".
	sameOfBoth = regexp.MustCompile(asksOfName + `((?:\p{Ll}[\p{Ll}\s-]*\s)?)the same (\p{Ll}[\p{Ll}\s-]*?)\s*\?*$`)
	// stateForm is "is A available", "is A in stock".
	stateForm = regexp.MustCompile(`^(?:[Ii]s|[Aa]re|[Ww]as|[Ww]ere)\s+(?:the\s+)?(` + properName +
		`)\s+((?:(?:in|on|for) )?\p{Ll}{3,})\s*\?*$`)
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
	const v = "thing"
	r.plan.Clauses = []*graphv1.QueryClause{valuesClause(v, []string{first}),
		matchClause(newPattern(v, words, entityTerm(second)))}
	r.plan.Result = &graphv1.QueryResult{Variable: v, Function: graphv1.QueryFunction_QUERY_FUNCTION_EXISTS}
	r.because("the question asks whether this joins both names")
}

// readState reads what a question of yes or no says of one name off the question, where the draft claims nothing: "is A
// available" of A().exists().
func (r *repairer) readState() {
	m := stateForm.FindStringSubmatch(r.question)
	if m == nil || strings.Contains(m[1], " and ") {
		return
	}
	isAsked := func(c *graphv1.QueryClause) bool { return kgtext.DescribeRelation(c.GetMatch()) == m[2] } // A's "vegan"
	if r.plan.GetResult().GetFunction() != graphv1.QueryFunction_QUERY_FUNCTION_EXISTS &&
		!slices.ContainsFunc(r.plan.GetClauses(), isAsked) {
		return
	}
	for _, c := range r.plan.GetClauses() {
		if c.GetValues() == nil && !kgtext.SharesWord(m[1], typeOf(c)) && !isAsked(c) {
			return // A().exists() may be written as if A were a kind
		}
	}
	v := r.root()
	r.plan.Clauses = []*graphv1.QueryClause{valuesClause(v, []string{clean(m[1])}),
		matchClause(newPattern(v, TypeRelation, entityTerm(m[2])))}
	r.plan.Result = &graphv1.QueryResult{Variable: v, Function: graphv1.QueryFunction_QUERY_FUNCTION_EXISTS}
	r.because("the question asks whether it is so")
}

// doneBy is "who is tutored by a Chemistry teacher".
var doneBy = regexp.MustCompile(`^[Ww]ho (?:is|was|are|were) (\p{Ll}+(?:ed|en|ght)) by (?:an?|the) (` + properName +
	`) (\p{Ll}+)\W*$`)

// readDone reads to whom some of a kind did something, where the draft asks for those who did.
func (r *repairer) readDone() {
	m := doneBy.FindStringSubmatch(r.question)
	if m == nil || kindOf(r.plan.GetResult().GetVariable()) != m[3] {
		return
	}
	b := newBuilder()
	by, person := b.variable(m[3]), b.variable("person")
	b.pattern(by, TypeRelation, entityTerm(m[3]), false)
	b.pattern(by, "in", entityTerm(m[2]), false)
	b.pattern(person, m[1]+" by", variableTerm(by), false)
	b.plan.Result = &graphv1.QueryResult{Variable: person}
	r.replan(b, "the question asks who was "+m[1])
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

// readSame reads what two names have in common off a question of yes or no, where the draft does not compare it: "do A
// and B work for the same company" of Company("A", "B").exists().
func (r *repairer) readSame() {
	m := sameOfBoth.FindStringSubmatch(r.question)
	if m == nil {
		return
	}
	first, second, both := strings.Cut(m[1], " and ")
	joined := map[string]int{} // how many names facts join with a variable
	for _, c := range r.plan.GetClauses() {
		if p := c.GetMatch(); p.GetEnd().GetEntity() != "" && typeOf(c) == "" {
			joined[p.GetStart().GetVariable()]++
		}
		compared := ""
		if c.GetCondition().GetOtherVariable() != "" {
			compared = r.phraseOf(c.GetCondition().GetVariable())
		}
		both = both && !kgtext.SharesWord(m[2]+m[3], compared) && joined[c.GetMatch().GetStart().GetVariable()] < 2
	}
	if !both || strings.Contains(second, " and ") {
		return
	}
	phrase := strings.TrimSpace(haveForm.ReplaceAllString(m[2], "") + m[3])
	b := newBuilder()
	v, other := b.variable("thing"), b.variable("thing")
	b.add(valuesClause(v, []string{clean(first)}))
	same := b.attribute(v, phrase)
	b.add(valuesClause(other, []string{clean(strings.TrimPrefix(second, "the "))}))
	b.pattern(other, phrase, variableTerm(same), false)
	b.plan.Result = &graphv1.QueryResult{Variable: v, Function: graphv1.QueryFunction_QUERY_FUNCTION_EXISTS}
	r.replan(b, "the question asks for the same "+m[3]+" of both")
}

// listForm is "which rivers flow into A".
var listForm = regexp.MustCompile(
	`^(?:[Ww]hich|[Ww]hat) (\p{Ll}+s) (\p{Ll}+(?: \p{Ll}+)?) (?:the )?(` + properName + `)\W*$`)

// readList reads what things do to a name off a question for these, where the draft does not have the name: "which
// rivers flow into A" of River(in_province=Province()).
func (r *repairer) readList() {
	m := listForm.FindStringSubmatch(r.question)
	if m == nil || computedClaim.MatchString(m[2]) || len(kgtext.NewOpenWords(firstWord(m[2]))) == 0 ||
		slices.ContainsFunc(kgtext.PlanNames(r.plan), func(name string) bool {
			return kgtext.SharesWord(m[3], name)
		}) {
		return
	}
	const v = "thing"
	r.plan.Clauses = []*graphv1.QueryClause{matchClause(newPattern(v, TypeRelation, entityTerm(kgtext.Singular(m[1])))),
		matchClause(newPattern(v, m[2], entityTerm(m[3])))}
	r.plan.Result = &graphv1.QueryResult{Variable: v}
	r.because("the question asks what does so to " + m[3])
}

// haveForm is a verb that says nothing of what two have.
var haveForm = regexp.MustCompile(`^(?:have|has|had|share|by)\s+`)

// joinBoth asks for what two named things have in common, where the draft takes what either has: "who wrote both A and
// B".
func (r *repairer) joinBoth() {
	if f := r.plan.GetResult().GetFunction(); !strings.Contains(r.lower, " both ") ||
		f != graphv1.QueryFunction_QUERY_FUNCTION_UNSPECIFIED && f != graphv1.QueryFunction_QUERY_FUNCTION_COUNT {
		return // of a sum of both nothing is shared
	}
	asked := r.plan.GetResult().GetVariable()
	for i, c := range r.plan.GetClauses() {
		v, names := c.GetValues().GetVariable(), c.GetValues().GetEntities()
		if to := factOf(r.plan, v); len(names) == 2 && to.GetStart().GetVariable() != "" && v != asked {
			to.End = entityTerm(names[0])
			r.plan.Clauses = append(slices.Delete(r.plan.Clauses, i, i+1), matchClause(newPattern(
				to.GetStart().GetVariable(), kgtext.DescribeRelation(to), entityTerm(names[1]))))
			r.because("the question asks for what both have")
			return
		}
		fact := factOf(r.plan, asked)
		if len(names) != 2 || fact.GetStart().GetVariable() != v || len(r.plan.GetClauses()) > 2 {
			continue
		}
		other := r.newVariable("other")
		c.GetValues().Entities = names[:1]
		r.insert(len(r.plan.GetClauses()), "the question asks for what both have", valuesClause(other, names[1:]),
			matchClause(newPattern(other, fact.GetSteps()[0].GetRelation(), fact.GetEnd())))
		return
	}
}
