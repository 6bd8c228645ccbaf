package query

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

// checkRoles doubts a plan in which what has a role is on the wrong side of the relation that says so: in
// "films of the same director as A" A is not the director, and the films are not what directed it.
func (x *alignment) checkRoles() {
	for i, c := range x.draft.GetClauses() {
		p := c.GetMatch()
		best := x.chosen[i]
		if p == nil || best == nil {
			continue
		}
		first, last := best.GetSteps()[0], best.GetSteps()[len(best.GetSteps())-1]
		for _, side := range []struct {
			variable  string
			step      *graphv1.RelationStep
			isSubject bool
		}{{p.GetStart().GetVariable(), first, !first.GetInverse()}, {p.GetEnd().GetVariable(), last,
			last.GetInverse()}} {
			if side.variable == "" || !side.isSubject || x.isLedTo(side.variable, side.step.GetRelation(), i) {
				continue
			}
			at := slices.IndexFunc(x.wordsOf(side.variable), func(words string) bool {
				relation, isResult := side.step.GetRelation(), side.variable == x.draft.GetResult().GetVariable()
				return kgtext.IsRoleOf(words, relation) || isResult && (kgtext.IsNounOf(words, relation) ||
					x.isOtherRole(words, relation))
			})
			if at >= 0 {
				x.doubt(fmt.Sprintf("%q leads to such a thing as ?%s, and the plan starts from it",
					side.step.GetRelation(), side.variable))
				return
			}
		}
	}
}

// isLedTo reports whether a clause besides one leads to a variable by a relation: of a supervisor's supervisor the
// former has that role too.
func (x *alignment) isLedTo(variable, relation string, besides int) bool {
	for i, best := range x.chosen {
		last := best.GetSteps()[len(best.GetSteps())-1]
		if i != besides && x.draft.GetClauses()[i].GetMatch().GetEnd().GetVariable() == variable &&
			last.GetRelation() == relation && !last.GetInverse() {
			return true
		}
	}
	return false
}

// checkWho doubts a plan that answers who by a relation to a language, a place or the like.
func (x *alignment) checkWho() {
	if !kgtext.AsksWho(x.question) {
		return
	}
	for i, c := range x.draft.GetClauses() {
		best, asked := x.chosen[i], c.GetMatch().GetEnd().GetVariable()
		if best == nil || asked == "" || asked != x.draft.GetResult().GetVariable() {
			continue
		}
		last := best.GetSteps()[len(best.GetSteps())-1]
		if !last.GetInverse() && kgtext.LeadsToNoOne(last.GetRelation()) {
			x.doubt(fmt.Sprintf("%q leads to no one, and the question asks who", last.GetRelation()))
		}
	}
}

// isOtherRole reports whether words ask for who has a role by a relation that says who has another one, so that things
// would be the answer: of "who is the manager of A" not those whose administrator A is.
func (x *alignment) isOtherRole(words, relation string) bool {
	last := kgtext.LastWord(relation)
	return kgtext.AsksWho(x.question) && kgtext.IsRole(words) && kgtext.IsRole(last) &&
		kgtext.KinRole(words, false) == "" && !kgtext.SharesWord(relation, x.question)
}

// checkTopic doubts a plan for who by one fact, if what that says of them is another role than the question asks for:
// who succeeded A is not whose successor A is.
func (x *alignment) checkTopic() {
	if !kgtext.AsksWho(x.question) || len(x.chosen) != 1 {
		return
	}
	for i, best := range x.chosen {
		p := x.draft.GetClauses()[i].GetMatch()
		topic, steps := p.GetEnd().GetEntity(), slices.Clone(best.GetSteps())
		if names := kgtext.ThingNames(x.draft); topic == "" && len(names) == 1 {
			topic = names[0]
		} else if topic != "" {
			slices.Reverse(steps)
			for i, s := range steps {
				steps[i] = &graphv1.RelationStep{Relation: s.GetRelation(), Inverse: !s.GetInverse()}
			}
		}
		if role := kgtext.OtherRole(x.question, topic, steps); role != "" {
			x.doubt(fmt.Sprintf("%q says the %s, and the question asks for another role", relationOf(best), role))
		}
	}
}

// checkAgent is not sure of one of several passive relations where the question says none of them: the films "by A" may
// be those that A directed, and those that A wrote.
func (x *alignment) checkAgent() {
	for _, i := range slices.Sorted(maps.Keys(x.chosen)) {
		best, name := x.chosen[i], x.draft.GetClauses()[i].GetMatch().GetEnd().GetEntity()
		verb, isPassive := kgtext.PassiveVerb(relationOf(best))
		if !isPassive || name == "" || kgtext.SharesWord(verb, x.question) ||
			!kgtext.FoldWords(x.question).Mention("by "+kgtext.Fold(name)) {
			continue
		}
		if slices.ContainsFunc(x.patterns[i].GetCandidates(), func(c *graphv1.RelationCandidate) bool {
			_, isPassive := kgtext.PassiveVerb(relationOf(c))
			return isPassive && relationOf(c) != relationOf(best)
		}) {
			x.certain(unheard)
		}
	}
}

// checkVoice doubts a plan that asks for what somebody or something did, "made by A", by who did that to it: the
// manufacturer of A.
func (x *alignment) checkVoice() {
	for _, i := range slices.Sorted(maps.Keys(x.chosen)) {
		c, p := x.chosen[i], x.draft.GetClauses()[i].GetMatch()
		words, isPassive := kgtext.PassiveVerb(relationOf(c))
		if name := p.GetEnd().GetEntity(); name != "" && strings.HasSuffix(kgtext.DescribeRelation(p), " by") &&
			isInverse(c) && (isPassive || kgtext.IsRole(kgtext.LastWord(words))) {
			x.doubt(fmt.Sprintf("%q says who did it to %s, and the question asks what %[2]s did", relationOf(c), name))
		}
	}
}

// checkAcross doubts what other columns say of the rows of a cell, by a relation that the question has no word of: who
// works in a city is not its rows' managers.
func (x *alignment) checkAcross() {
	for _, i := range slices.Sorted(maps.Keys(x.chosen)) {
		best := x.chosen[i]
		first, relation := best.GetSteps()[0], relationOf(best)
		if len(best.GetSteps()) > 1 && first.GetInverse() && best.GetWords() == 0 &&
			!kgtext.SharesWord(relation, x.question) {
			x.doubt(fmt.Sprintf("%q is said of what has %q, and the question asks for neither", relation,
				first.GetRelation()))
		}
	}
}

// checkTimes doubts a plan that takes for a time what is none: who climbed is no date of a climb.
func (x *alignment) checkTimes() {
	for _, i := range slices.Sorted(maps.Keys(x.chosen)) {
		best, p := x.chosen[i], x.draft.GetClauses()[i].GetMatch()
		if phrase := kgtext.DescribeRelation(p); p.GetEnd().GetVariable() != "" && kgtext.IsTime(phrase) &&
			best.GetComparable() < 0.5 && best.GetWords() < 1 && !kgtext.IsTime(relationOf(best)) {
			x.doubt(fmt.Sprintf("%q is no time, and the plan asks for %q", relationOf(best), phrase))
		}
	}
}

// checkAnchored doubts a plan that joins facts about anything: a question about nothing in particular compares,
// orders or counts.
func (x *alignment) checkAnchored() {
	if slices.ContainsFunc(x.plan.GetClauses(), func(c *graphv1.QueryClause) bool {
		p := c.GetMatch()
		return p == nil || p.GetEnd().GetEntity() != "" || p.GetStart().GetEntity() != ""
	}) {
		return
	}
	if len(x.chosen) > 1 && x.plan.GetResult().GetFunction() == graphv1.QueryFunction_QUERY_FUNCTION_UNSPECIFIED &&
		x.plan.GetResult().GetGroupBy() == "" {
		x.doubt("the plan names nothing that the question asks about")
	}
}

// checkNames doubts a plan without a name that the question has, unless a relation or a kind of the plan says it. Where
// something else is named and nothing is computed of it, the name may only say where: "where in A was B born", but of
// events it says which are meant: when A climbed B.
func (x *alignment) checkNames() {
	isOverEvents := slices.ContainsFunc(x.plan.GetClauses(), func(c *graphv1.QueryClause) bool {
		steps := c.GetMatch().GetSteps()
		return len(steps) > 1 && steps[0].GetInverse() && !steps[len(steps)-1].GetInverse()
	})
	computes := isOverEvents || x.plan.GetResult().GetFunction() != graphv1.QueryFunction_QUERY_FUNCTION_UNSPECIFIED ||
		slices.ContainsFunc(x.draft.GetClauses(), func(c *graphv1.QueryClause) bool {
			return c.GetCondition() != nil || c.GetRank() != nil || c.GetExclude() != nil
		})
	if !computes && len(kgtext.ThingNames(x.draft)) > 0 {
		return
	}
	text, planned := strings.Join(kgtext.DescribePlan(x.plan), " "), kgtext.PlanNames(x.draft)
	for _, name := range slices.Sorted(maps.Keys(x.terms)) {
		if !slices.Contains(planned, name) && kgtext.SharedWords(name, text) < 1 {
			x.doubt(fmt.Sprintf("the question names %s and the plan does not", name))
		}
	}
}

// sortForm is "how many horror films did", of which sort things are asked for.
var sortForm = regexp.MustCompile(`(?i)^(?:how many|which|what)(?: (?-i:\p{Lu})\S*)* (\p{Ll}{3,}) ` +
	`(?:\p{Ll}+s|people) (?:did|does|do|are|were|is|was|have|has|had|by|of|in|from|with|that|star|starring)\b`)

// stateForm is "which orders are open".
var stateForm = regexp.MustCompile(`(?i)^(?:how many|which|what) (?:\p{Ll}+ )?\p{Ll}+s (?:are|were) (\p{Ll}{3,})\W*$`)

// checkSort doubts a plan that says nothing of the sort of things that the question asks for.
func (x *alignment) checkSort() {
	m := sortForm.FindStringSubmatch(x.question)
	if m == nil {
		m = stateForm.FindStringSubmatch(x.question)
	}
	if m == nil || slices.Contains([]string{"other", "different", "there", "more", "fewer"}, m[1]) ||
		len(kgtext.NewOpenWords(m[1])) == 0 {
		return
	}
	text := strings.Join(kgtext.DescribePlan(x.plan), " ")
	isBase := func(name string) bool { return kgtext.Mentions(text, name) } // France, of which things are French
	if kgtext.SharedWords(m[1], text) == 0 && !slices.ContainsFunc(kgtext.AdjectiveBases(kgtext.Fold(m[1])), isBase) {
		x.doubt(fmt.Sprintf("the question asks for %s and the plan does not", m[1]))
	}
}

// countedForm is "how many office chairs were ordered".
var countedForm = regexp.MustCompile(`(?i)^how many (\p{Ll}[\p{Ll} -]*?) (?:are|were|is|was|did|does|do|have|has)\b`)

// countedOf is "how many members of staff does A have".
var countedOf = regexp.MustCompile(`(?i)^how many (?:\pL+ )?\pL+ of (\pL+) (?:are|were|is|was|did|does|do|have|has)\b`)

// saysCount are words of a relation to how many there are.
var saysCount = regexp.MustCompile(`(?i)\b(?:number|count)\b`)

// checkCounted doubts a count of what has the things that the question counts: of orders of office chairs, not of
// chairs.
func (x *alignment) checkCounted() {
	if x.plan.GetResult().GetFunction() != graphv1.QueryFunction_QUERY_FUNCTION_COUNT {
		return
	}
	for _, i := range slices.Sorted(maps.Keys(x.chosen)) {
		best, p, v := x.chosen[i], x.draft.GetClauses()[i].GetMatch(), x.plan.GetResult().GetVariable()
		countsEnd := !isInverse(best) && p.GetEnd().GetVariable() == v
		if isFlag(best) && (countsEnd || isInverse(best) && p.GetStart().GetVariable() == v) {
			x.doubt(fmt.Sprintf("%q says yes or no, and the plan counts that", relationOf(best)))
		}
		if lead := kgtext.FindLead(relationOf(best)); lead != "" && countsEnd && !kgtext.SharesWord(lead, x.question) {
			x.doubt(fmt.Sprintf("%q says one who is before others, and the plan counts all", relationOf(best)))
		}
		if p.GetStart().GetVariable() != v && p.GetEnd().GetVariable() != v {
			continue
		}
		for _, c := range x.patterns[i].GetElsewhere() {
			if r := relationOf(c); saysCount.MatchString(kgtext.SplitIdentifiers(r)) &&
				kgtext.SharesWord(kgtext.DescribeRelation(p), r) && r != relationOf(best) {
				x.doubt(fmt.Sprintf("other things have %q, and the plan counts what this one has", r))
			}
		}
	}
	if m := countedOf.FindStringSubmatch(x.question); m != nil &&
		!kgtext.SharesWord(m[1], strings.Join(kgtext.DescribePlan(x.plan), " ")) {
		x.doubt(fmt.Sprintf("the question counts those of %s, and the plan does not", m[1]))
	}
	m := countedForm.FindStringSubmatch(x.question)
	if m == nil {
		return
	}
	for _, c := range x.plan.GetClauses() {
		p := c.GetMatch()
		if isNamed(p.GetEnd().GetEntity(), m[1]) && p.GetStart().GetVariable() == x.plan.GetResult().GetVariable() &&
			!saysClass(&graphv1.RelationCandidate{Steps: p.GetSteps()}) {
			x.doubt(fmt.Sprintf("the question counts %s, and the plan what has one by %q", m[1],
				p.GetSteps()[0].GetRelation()))
		}
	}
}

// checkSaid doubts what is computed of everything, by a relation in other words that hardly fit: without a name nothing
// else says what is meant. With one it is not sure, unless nothing but the relation has that name.
func (x *alignment) checkSaid() {
	isOpen, least := len(kgtext.ThingNames(x.draft)) == 0, surelySaid
	asksWord := kgtext.AsksWho(x.question) || nounOf.MatchString(x.question) ||
		len(x.chosen) > 1 && asksDone.MatchString(x.question)
	switch {
	case !isOpen && asksWord:
		least = clearlySaid // other verbs and nouns are near
	case !isOpen:
		least = barelySaid
	}
	for _, i := range slices.Sorted(maps.Keys(x.chosen)) {
		best, p := x.chosen[i], x.draft.GetClauses()[i].GetMatch()
		phrase := kgtext.DescribeRelation(p)
		switch isUnsaid := x.isUnsaid(i, isOpen) && x.fitWords(best, phrase) < least; {
		case isUnsaid && isOpen:
			x.doubt(fmt.Sprintf("the knowledge graph says %q where the plan asks for %q", relationOf(best), phrase))
		case isUnsaid && !x.isOnly(i), isOtherNoun(x.question, phrase, best),
			asksMuch.MatchString(x.question) && isNoPrice(phrase, relationOf(best)):
			x.certain(notSure)
		}
	}
}

// checkAlike doubts a plan that compares two things by one phrase which stands for another relation of each: by the
// size of both the capacity of a room is not the amount of a sponsor.
func (x *alignment) checkAlike() {
	bound := map[string]int{}
	for i, c := range x.draft.GetClauses() {
		if v := c.GetMatch().GetEnd().GetVariable(); v != "" {
			bound[v] = i
		}
	}
	check := func(variable, other string) {
		i, isBound := bound[variable]
		j, isOther := bound[other]
		one, two := relationOf(x.chosen[i]), relationOf(x.chosen[j])
		if isBound && isOther && one != two && one != "" && two != "" &&
			kgtext.DescribeRelation(x.draft.GetClauses()[i].GetMatch()) ==
				kgtext.DescribeRelation(x.draft.GetClauses()[j].GetMatch()) {
			x.doubt(fmt.Sprintf("it compares %q with %q", kgtext.VerbaliseRelation(one), kgtext.VerbaliseRelation(two)))
		}
	}
	for _, c := range x.plan.GetClauses() {
		check(c.GetCondition().GetVariable(), c.GetCondition().GetOtherVariable())
	}
	check(x.plan.GetResult().GetVariable(), x.plan.GetResult().GetOtherVariable())
}

// checkKin doubts a plan for a relative of which no relation says one, or not that it is a daughter: of how many there
// are, all children would count.
func (x *alignment) checkKin() {
	mayBeKin := func(c *graphv1.RelationCandidate) bool { return !kgtext.LacksKin(x.question, relationOf(c)) }
	if len(x.chosen) > 0 && !slices.ContainsFunc(slices.Collect(maps.Values(x.chosen)), mayBeKin) {
		x.doubt("the question asks for a relative, and no relation of the plan says one")
	}
	if kgtext.AskedSex(x.question) != "" {
		return // of a list the answers are told apart
	}
	for _, i := range slices.Sorted(maps.Keys(x.chosen)) {
		steps, phrase := x.chosen[i].GetSteps(), kgtext.DescribeRelation(x.draft.GetClauses()[i].GetMatch())
		if kgtext.KinRole(phrase, false) == "" {
			continue
		}
		first, last, sex := steps[0], steps[len(steps)-1], kgtext.SexSaid(phrase)
		isSaid := !last.GetInverse() && kgtext.SexSaid(last.GetRelation()) == sex ||
			first.GetInverse() && kgtext.SexSaid(first.GetRelation()) == sex
		if sex != "" && !isSaid {
			x.doubt(fmt.Sprintf("the question asks for those who are %s, and the plan does not say who is", sex))
		}
	}
}

// asksDone is "what does the tutor of A teach".
var asksDone = regexp.MustCompile(`(?i)^(?:what|whom?) (?:does|do|did) .*\pL\W*$`)

// asksMuch is a question for a price.
var asksMuch = regexp.MustCompile(`(?i)^how much (?:is|are|was|were) `)

// isNoPrice reports whether a plan asks for a price, and a relation says none: how much a room is is not how many rooms
// there are.
func isNoPrice(phrase, relation string) bool {
	return kgtext.SharesRole("price", phrase) && !kgtext.SharesRole("price", relation) && !unitEnd.MatchString(relation)
}

// isUnsaid reports whether the relation that was taken for a pattern has no word of it, and nothing else says that it
// is meant.
func (x *alignment) isUnsaid(at int, isOpen bool) bool {
	best, p := x.chosen[at], x.draft.GetClauses()[at].GetMatch()
	phrase := kgtext.DescribeRelation(p)
	open := slices.Clone(kgtext.NewOpenWords(phrase))
	if isOpen {
		open = slices.DeleteFunc(open, kgtext.IsParticiple)
	}
	// Of "drama films" the relation to directors says no drama.
	saysKind := isOpen && best.GetTypeMatch() && len(open) < 2
	isMeant := genericSize(phrase) && x.isOnlyNumber(best, x.patterns[at].GetCandidates()) ||
		x.hasUnit(best, p.GetEnd().GetVariable()) || asksSpan.MatchString(x.question) && isMoment(best)
	return best.GetWords() == 0 && len(open) > 0 && !saysKind && !isMeant && !x.saysSame(phrase, relationOf(best))
}

// isOnly reports whether nothing but the relation that was taken for a pattern has what that names.
func (x *alignment) isOnly(at int) bool {
	best, p := x.chosen[at], x.draft.GetClauses()[at].GetMatch()
	return best.GetTypeMatch() && best.GetImplied() == 1 || best.GetJoins() ||
		x.isOnlyColumn(p, x.patterns[at].GetCandidates())
}

// nounOf is the noun of "who is the vet of A".
var nounOf = regexp.MustCompile(`(?i)^(?:what|who) (?:is|are|was|were) the (\pL+(?: \pL+)?) (?:of|for) `)

// hardlyAsked is the cosine to a question below which a relation is not what a noun of it means.
const hardlyAsked = 0.3

// isOtherNoun reports whether a draft has another word for the noun of a question, and a relation has that word and
// hardly fits the question: the owner of a dog is not its vet.
func isOtherNoun(question, phrase string, best *graphv1.RelationCandidate) bool {
	m := nounOf.FindStringSubmatch(question)
	return m != nil && best.GetQuestionScore() < hardlyAsked && !kgtext.SharesWord(phrase, m[1]) &&
		!kgtext.IsSaid(relationOf(best), question)
}

// isOnlyNumber reports whether the relation that was taken for a pattern is the only one to numbers that are no times:
// a venue has no size but its capacity.
func (x *alignment) isOnlyNumber(best *graphv1.RelationCandidate, candidates []*graphv1.RelationCandidate) bool {
	isTime := func(c *graphv1.RelationCandidate) bool {
		return kgtext.IsTime(relationOf(c)) || saysBeginning(relationOf(c))
	}
	return best.GetComparable() > 0.8 && !isTime(best) && !slices.ContainsFunc(candidates,
		func(c *graphv1.RelationCandidate) bool {
			return c.GetComparable() > 0.5 && !isTime(c) && relationOf(c) != relationOf(best)
		})
}

// saysSame reports whether a relation says what a phrase says, in other words: a year alone is when things came out,
// who was born has a birth, and what was founded is as old as that, or the newest by that date.
func (x *alignment) saysSame(phrase, relation string) bool {
	switch kgtext.Fold(relation) {
	case "year", "date", "time", "day":
		return kgtext.IsTime(phrase) && kgtext.AsksTime(x.question)
	}
	asksBeginning := isAge(phrase) || phrase == "date" || saysBeginning(phrase) && asksAge.MatchString(x.question)
	isBegin := asksBeginning && saysBeginning(relation) ||
		phrase == "date" && kgtext.IsTime(relation)
	return isBegin || kgtext.SaysWay(phrase, relation) || kgtext.SharesRole(phrase, relation) ||
		kgtext.IsSaid(relation, x.withoutNames())
}

// withoutNames returns the question without the names of draft and plan, the longest first: who placed order 7 is not
// its order.
func (x *alignment) withoutNames() string {
	question := string(kgtext.FoldWords(x.question))
	names := slices.Concat(kgtext.ThingNames(x.draft), kgtext.ThingNames(x.plan))
	slices.SortStableFunc(names, func(a, b string) int { return len(b) - len(a) })
	for _, name := range names {
		question = strings.ReplaceAll(question, " "+kgtext.Fold(name)+" ", " ")
	}
	return question
}

// saysBeginning reports whether a relation says when something began, by which it is old, and not by whom.
func saysBeginning(relation string) bool {
	words := kgtext.SplitIdentifiers(relation)
	return beginsForm.MatchString(words) && !strings.HasSuffix(strings.ToLower(words), " by")
}

// beginnings are words of relations to when something began, of which it is old, or went on.
const beginnings = `founded|established|opened|birth|birthday|birthdate|born|inception|launched|installed|` +
	`commissioned|introduced|created|enacted|manufactured|appeared|debut|premiered|published|released|first release`

var beginsForm = regexp.MustCompile(`(?i)\b(?:built|` + beginnings + `)\b`)

// asksPeriod is a question for a year, or for another time that no date is.
var asksPeriod = regexp.MustCompile(`(?i)^(?:in )?(?:which|what) (year|month|decade|century)\b`)

// checkPeriods doubts a count for each day where the question asks for a year, or for each date where it asks for a
// month.
func (x *alignment) checkPeriods() {
	m := asksPeriod.FindStringSubmatch(x.question)
	for _, c := range x.plan.GetClauses() {
		group := x.ends[c.GetRank().GetGroupBy()]
		if group != nil && m != nil && slices.ContainsFunc(group.GetExamples(),
			func(t *graphv1.Triple) bool {
				_, isDate := kgtext.ParseDate(t.GetObject())
				return isDate && (len(t.GetObject()) > len("1990s") || !strings.EqualFold(m[1], "year"))
			}) {
			x.doubt("the knowledge graph has other dates, and the question asks for a " + strings.ToLower(m[1]))
		}
	}
}

// surelySaid is the fit from which on a relation in other words says what a question of yes or no asks.
const surelySaid = 0.6

// barelySaid is the fit from which on a relation in other words may say what a question asks about a name.
const barelySaid = 0.55

// clearlySaid is the same where the question has a noun or a verb for the relation.
const clearlySaid = 0.75

// notSure is the confidence in a plan that may ask for something else, just below that from which answers are GROUNDED.
const notSure = 0.79

// checkClaim doubts yes or no by a relation in other words, which hardly fit: that a town is in a state does not say
// that it is its governor.
func (x *alignment) checkClaim() {
	for _, c := range x.plan.GetClauses() {
		if v := c.GetCondition().GetVariable(); c.GetCondition().GetOtherVariable() != "" && x.ends[v] == nil &&
			kgtext.IsListed(x.plan, v) {
			x.doubt("the plan compares names, and nothing that they have")
		}
	}
	if x.plan.GetResult().GetFunction() != graphv1.QueryFunction_QUERY_FUNCTION_EXISTS {
		return
	}
	for i, c := range x.draft.GetClauses() {
		p, best := c.GetMatch(), x.chosen[i]
		phrase := kgtext.DescribeRelation(p)
		if best != nil && p.GetEnd().GetEntity() != "" && best.GetWords() < 1 && x.fitWords(best, phrase) < surelySaid {
			x.doubt(fmt.Sprintf("the knowledge graph says %q where the question asks for %q", relationOf(best), phrase))
		}
	}
}

// wordsOf returns what the draft calls a variable: its kind, the relations to it, and its own name.
func (x *alignment) wordsOf(variable string) []string {
	var all []string
	for _, c := range x.draft.GetClauses() {
		p := c.GetMatch()
		switch {
		case c.GetValues().GetVariable() == variable:
			all = append(all, variable)
		case p == nil:
		case kgtext.DescribeRelation(p) == typeRelation && p.GetStart().GetVariable() == variable:
			all = append(all, p.GetEnd().GetEntity())
		case p.GetEnd().GetVariable() == variable:
			all = append(all, kgtext.DescribeRelation(p))
		}
	}
	return all
}
