package query

import (
	"regexp"
	"slices"
	"strings"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

// Repair corrects a drafted plan by the words of the question that leave no doubt: "how many",
// "earliest", "but not", "after 1990", "A or B?". Small models draft the shape of most plans well and
// miss such words in one of four. It returns what it changed.
func Repair(question string, plan *graphv1.QueryPlan) []*graphv1.PlanEdit {
	if len(plan.GetClauses()) == 0 {
		return nil
	}
	r := &repairer{question: strings.Join(strings.Fields(question), " "), plan: plan}
	r.lower = strings.ToLower(r.question)
	lines := kgtext.DescribePlan(plan)
	for _, mend := range []func(){
		r.readCounts, r.readClaim, r.readState, r.readSame, r.readMean, r.compareTwo, r.countOfNamed, r.countKind,
		r.nameKinds, r.readProperKind, r.spellNames, r.nameNumbers, r.splitKeyword, r.splitFlags, r.describeNamed,
		r.attributeOf, r.splitNames, r.placeNamed, r.placeKinds, r.readNumber, r.placeResult, r.mergeKinds, r.askKind,
		r.askPlaceKind, r.addState, r.readList, r.readMost, r.readMostOfKind, r.countRanked, r.rankByValue,
		r.joinQualified, r.skipInvented, r.takeVerb, r.nameEvent, r.turnVerb, r.dropInvented, r.dropComparatives,
		r.addModifiers, r.placeAll, r.nameWholes, r.compareNamed, r.readNumbersAsConditions, r.compareWithNamed,
		r.addPeriods, r.excludeNegated, r.dropContradicted, r.excludeCompared, r.rankAndGet, r.dropUnasked,
		r.turnRank, r.turnTime, r.countPartners, r.countMost, r.kindOfCounted, r.countOwn, r.uniteAll, r.reuseCounted,
		r.addRank, r.askOfSeveral, r.setFunction, r.askThings, r.countTimes, r.askOfNamed, r.askOfBest, r.askWhen,
		r.groupEach, r.joinBoth, r.nameManager, r.askAgain, r.followOwner, r.readDescribed, r.readTenure,
		r.readDone, r.readDeed, r.readRole,
	} {
		mend()
		lines = r.record(lines)
		comparesTwo := kgtext.ComparesCounts(plan.GetResult()) && !strings.Contains(r.lower, " or ")
		if comparesTwo || len(plan.GetClauses()) == 0 {
			break // what follows mends plans of one result, and "A or B"
		}
	}
	return r.edits
}

type repairer struct {
	question, lower string
	plan            *graphv1.QueryPlan
	edits           []*graphv1.PlanEdit
	reasons         []string // of the mend at hand
	compared        string   // the relation whose object was a word of comparison: "created" in "created first"
}

// because gives a reason for what the mend at hand changes.
func (r *repairer) because(reason string) {
	if !slices.Contains(r.reasons, reason) {
		r.reasons = append(r.reasons, reason)
	}
}

// record notes what a mend has made of the lines of the plan, if it gave a reason, and returns them.
func (r *repairer) record(before []string) (after []string) {
	if len(r.reasons) == 0 {
		return before
	}
	after = kgtext.DescribePlan(r.plan)
	reason := strings.Join(r.reasons, "; ")
	r.reasons = nil
	edit := func(kind graphv1.EditKind, gone, added string) {
		r.edits = append(r.edits, &graphv1.PlanEdit{Kind: kind, Before: gone, After: added, Reason: reason})
	}
	gone, added := subtract(before, after), subtract(after, before)
	if len(gone)+len(added) == 0 && !slices.Equal(before, after) {
		gone, added = before, after // in another order
	}
	if len(gone) > 0 && len(added) > 0 {
		edit(graphv1.EditKind_EDIT_KIND_REPLACE, strings.Join(gone, "; "), strings.Join(added, "; "))
		return after
	}
	for _, line := range gone {
		edit(graphv1.EditKind_EDIT_KIND_DELETE, line, "")
	}
	for _, line := range added {
		edit(graphv1.EditKind_EDIT_KIND_ADD, "", line)
	}
	return after
}

// subtract returns the lines that others lack.
func subtract(lines, others []string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return slices.Contains(others, line) })
}

// replan puts the plan of a builder in the place of the draft's.
func (r *repairer) replan(b *builder, reason string) {
	r.plan.Clauses, r.plan.Result = b.plan.GetClauses(), b.plan.GetResult()
	r.because(reason)
}

// insert adds clauses at a place.
func (r *repairer) insert(at int, reason string, clauses ...*graphv1.QueryClause) {
	r.because(reason)
	r.plan.Clauses = slices.Insert(r.plan.Clauses, at, clauses...)
}

// newVariable returns a variable that the plan does not use.
func (r *repairer) newVariable(words string) string {
	b := newBuilder()
	for _, c := range r.plan.GetClauses() {
		for _, v := range kgtext.ClauseVariables(c) {
			b.used[v]++
		}
	}
	v := b.variable(words)
	for b.used[v] > 1 {
		v = b.variable(words)
	}
	return v
}

// root is the variable that the plan selects first for its result.
func (r *repairer) root() string {
	for _, c := range r.plan.GetClauses() {
		if p := c.GetMatch(); p.GetStart().GetVariable() != "" &&
			p.GetEnd().GetVariable() == r.plan.GetResult().GetVariable() {
			return p.GetStart().GetVariable()
		}
	}
	return r.plan.GetResult().GetVariable()
}

// attributeOf turns a draft round that selects an attribute as if it were a thing: Population(of="A") is
// the population of A.
func (r *repairer) attributeOf() {
	result := r.plan.GetResult()
	r.dropUnaskedAttribute()
	kind, at := "", -1
	var fact *graphv1.QueryPattern
	var others []*graphv1.QueryPattern // attributes of it, which are then its owner's
	for i, c := range r.plan.GetClauses() {
		p := c.GetMatch()
		switch {
		case p.GetStart().GetVariable() == "" || p.GetStart().GetVariable() != result.GetVariable():
		case p.GetSteps()[0].GetRelation() == TypeRelation:
			kind = p.GetEnd().GetEntity()
			at = i
		case p.GetEnd().GetVariable() != "" && !r.binds(p.GetEnd().GetVariable(), p):
			others = append(others, p)
		case fact == nil:
			fact = p
		default:
			return
		}
	}
	if kind == "" || fact == nil || result.GetFunction() != graphv1.QueryFunction_QUERY_FUNCTION_UNSPECIFIED &&
		result.GetFunction() != graphv1.QueryFunction_QUERY_FUNCTION_COUNT {
		return
	}
	of := strings.Contains(r.lower, "what is the "+kind+" of ") || strings.Contains(r.lower,
		"what was the "+kind+" of ")
	best := leastWord.MatchString(kind) || mostWord.MatchString(kind)
	if !of && !(best && strings.Contains(r.lower, kind)) {
		return
	}
	owner := fact.GetEnd()
	if name := owner.GetEntity(); name != "" {
		v := r.newVariable("owner")
		r.plan.Clauses[at] = valuesClause(v, []string{name})
		owner = variableTerm(v)
	} else {
		r.plan.Clauses = slices.Delete(r.plan.Clauses, at, at+1)
	}
	for _, p := range others {
		p.Start = owner
	}
	fact.Start, fact.End = owner, fact.GetStart()
	fact.Steps = []*graphv1.RelationStep{{Relation: kind}}
	// It is asked of what the other clauses leave, so it comes last, unless they speak of it.
	r.plan.Clauses = slices.DeleteFunc(slices.Clone(r.plan.Clauses), func(c *graphv1.QueryClause) bool {
		return c.GetMatch() == fact
	})
	i := len(r.plan.GetClauses())
	for j, c := range slices.Backward(r.plan.GetClauses()) {
		if v := result.GetVariable(); slices.Contains(kgtext.ClauseVariables(c), v) {
			i = j
		}
	}
	r.plan.Clauses = slices.Insert(r.plan.Clauses, i, matchClause(fact))
	result.Function = graphv1.QueryFunction_QUERY_FUNCTION_UNSPECIFIED
	r.because("the question asks for the " + kind + " of something")
}

// binds reports whether a clause besides a pattern binds a variable.
func (r *repairer) binds(variable string, besides *graphv1.QueryPattern) bool {
	return slices.ContainsFunc(r.plan.GetClauses(), func(c *graphv1.QueryClause) bool {
		p := c.GetMatch()
		return c.GetValues().GetVariable() == variable || p != nil && p != besides &&
			(p.GetStart().GetVariable() == variable || p.GetEnd().GetVariable() == variable)
	})
}

// bestKind is "what is the largest river", and whichBest "which electric car is the cheapest".
var (
	bestKind  = regexp.MustCompile(`^what is the (?:\p{L}+est|most \p{L}+) (\p{L}+)\b`)
	whichBest = regexp.MustCompile(`^(?:which|what) (?:\p{L}+ )?(\p{L}+) (?:is|was) the (?:\p{L}+est|most \p{L}+)\W*$`)
)

// dropUnaskedAttribute removes the last step to an attribute that the question does not name, if it names
// what the step starts from: "what is the highest point of A" asks for no height.
func (r *repairer) dropUnaskedAttribute() {
	result := r.plan.GetResult()
	for i, c := range r.plan.GetClauses() {
		p := c.GetMatch()
		if p.GetEnd().GetVariable() != result.GetVariable() || p.GetStart().GetVariable() == "" {
			continue
		}
		kind := kindOf(p.GetStart().GetVariable())
		asked := leastWord.MatchString(kind) || mostWord.MatchString(kind)
		if m := bestKind.FindStringSubmatch(r.lower); m != nil && !asked {
			asked = m[1] == kind
			kind = strings.TrimPrefix(m[0], "what is the ")
		}
		m := whichBest.FindStringSubmatch(r.lower)
		isBest := m != nil && kgtext.SameNoun(m[1], kgtext.LastWord(kind))
		if !isBest && (!asked || !strings.Contains(r.lower, "what is the "+kind)) ||
			r.sharesWord(p.GetSteps()[0].GetRelation()) || r.binds(result.GetVariable(), p) {
			continue
		}
		r.because("the question asks for the " + kind)
		result.Variable = p.GetStart().GetVariable()
		r.plan.Clauses = slices.Delete(r.plan.Clauses, i, i+1)
		return
	}
}

// phraseOf returns the words by which a variable is bound.
func (r *repairer) phraseOf(variable string) string {
	if p := factOf(r.plan, variable); p != nil {
		return p.GetSteps()[0].GetRelation()
	}
	return ""
}

// ownerOf returns the variable that another is an attribute of.
func (r *repairer) ownerOf(variable string) string {
	return factOf(r.plan, variable).GetStart().GetVariable()
}

// factOf returns the pattern of a plan that leads to a variable.
func factOf(plan *graphv1.QueryPlan, variable string) *graphv1.QueryPattern {
	for _, c := range plan.GetClauses() {
		if p := c.GetMatch(); variable != "" && p.GetEnd().GetVariable() == variable {
			return p
		}
	}
	return nil
}

// sharesWord reports whether the question has a word of a phrase.
func (r *repairer) sharesWord(phrase string) bool { return kgtext.SharesWord(phrase, r.question) }
