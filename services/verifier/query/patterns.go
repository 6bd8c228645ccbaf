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

// fitWords returns how well a relation fits a pattern, 0 to 1: by the words of the plan and by those of the
// question. Words of a wrong draft fit the wrong relation; the question corrects them.
func (x *alignment) fitWords(c *graphv1.RelationCandidate, phrase string) float64 {
	trust := float64(kgtext.Trust(phrase, x.question)) // how far the words of the plan count
	byPhrase, byQuestion, w := float64(c.GetPhraseScore()), float64(c.GetQuestionScore()), 0.55*trust
	least := 0.0
	isAmount := func(clause *graphv1.QueryClause) bool {
		amount := clause.GetCondition().GetValue()
		return amount != "" && kgtext.FoldWords(x.question).Mention(kgtext.Fold(amount+" "+relationOf(c)))
	}
	if kgtext.IsLength(phrase) && kgtext.IsLength(relationOf(c)) && asksLength.MatchString(x.question) ||
		slices.ContainsFunc(x.draft.GetClauses(), isAmount) {
		least = surelySaid // of films the length is a running time, and what is worth "8 credits" has so many
	}
	return max(least, min(1, w*byPhrase+(0.95-w)*byQuestion+0.15*max(trust*byPhrase, byQuestion)+
		0.2*trust*float64(c.GetWords())))
}

// asksLength is a question for how long things are.
var asksLength = regexp.MustCompile(`(?i)\b(?:long|short)(?:er|est)?\b`)

// pattern aligns a pattern.
func (x *alignment) pattern(at int, p *graphv1.QueryPattern, exclude bool) string {
	phrase := kgtext.DescribeRelation(p)
	found := x.patterns[at]
	if phrase == typeRelation && !exclude {
		return x.typePattern(at, p, found)
	}
	if flags := found.GetElsewhere(); phrase == typeRelation && len(flags) > 0 && isFlag(flags[0]) {
		x.addFlag(p, flags[0], true)
		return ""
	}
	if done := found.GetCandidates(); phrase == typeRelation && len(done) > 0 &&
		len(x.entities(p.GetEnd().GetEntity())) == 0 {
		x.addDone(p, done[0], true)
		return ""
	}
	end := p.GetEnd().GetVariable()
	var links []*graphv1.EntityLink
	if name := p.GetEnd().GetEntity(); name != "" {
		if links = x.entities(name); len(links) == 0 {
			return fmt.Sprintf("the knowledge graph has no entity %q", name)
		}
		x.certainLink(links[0])
	}
	if !exclude && (x.isOwnValue(at, p) || x.countRows(p)) {
		return ""
	}
	best := x.choose(phrase, found.GetCandidates(), end)
	if best == nil && x.countsRanked(p, phrase) {
		best = x.choose(phrase, found.GetCandidates(), end)
	}
	form := x.findByForm(p, best, found.GetCandidates())
	if form != nil {
		best = form
	}
	if best == nil {
		if !exclude && x.saysBest(at, p) {
			return ""
		}
		return x.lacks(phrase, p)
	}
	if !exclude && x.countsNamed(p, best) {
		return ""
	}
	if gap := x.gap(best, phrase, found); gap > x.MaxGap && form == nil && !best.GetJoins() && !x.valued[end] &&
		!best.GetTypeMatch() && best.GetWords() < 1 && len(kgtext.NewOpenWords(phrase)) > 0 &&
		!holdsWords(x.withoutNames(), relationOf(best)) {
		return fmt.Sprintf("the knowledge graph has no %q of what the question names", phrase)
	}
	fit := x.fit(p, best, found.GetCandidates())
	if form != nil {
		fit = max(fit, surelyMoment)
	}
	if fit < x.MinRelation && x.countsRanked(p, phrase) { // by no number that fits
		if best = x.choose(phrase, found.GetCandidates(), end); best != nil {
			fit = x.fit(p, best, found.GetCandidates())
		}
	}
	if fit < x.MinRelation || best == nil {
		return x.lacks(phrase, p)
	}
	if x.isOfRow(p, best) {
		fit = min(fit, 0.45)
	}
	x.certain(0.45 + 0.75*fit)
	if !exclude && x.isUnaskedTime(best, phrase, end) {
		x.doubt(fmt.Sprintf("%q leads to dates, and the question asks for %q", relationOf(best), phrase))
	}
	if v := p.GetStart().GetVariable(); !exclude && (end == "" || kgtext.IsListed(x.draft, end)) && isInverse(best) &&
		best.GetComparable() > 0.5 && x.ends[v] == nil {
		x.ends[v], x.literals[v] = best, true
	} else if end != "" && !exclude {
		x.ends[end] = best
		x.turned[end] = isAge(phrase) && kgtext.IsTime(relationOf(best)) ||
			isAge(relationOf(best)) && kgtext.IsTime(phrase) && !isAge(phrase)
	}
	if exclude || !x.countsShared(p, best, links) && !x.askFlagged(p, best) {
		x.add(p, best, links, exclude)
	}
	x.chosen[at] = best
	if end != "" && !exclude {
		x.addEndType(p, best, phrase)
	}
	return ""
}

// findByForm returns the relation that a pattern means by the form of the question, whatever its words: when what went
// on for so long ended, or where those work who are counted. It is nil if the form says none, or best fits it itself.
func (x *alignment) findByForm(p *graphv1.QueryPattern, best *graphv1.RelationCandidate,
	candidates []*graphv1.RelationCandidate) *graphv1.RelationCandidate {
	if moment := x.findMoment(p, candidates); moment != nil && (best == nil || !kgtext.IsLength(relationOf(best))) {
		return moment
	}
	if best.GetComparable() >= 0.5 && kgtext.SharesWord(relationOf(best), x.question) {
		return nil // a number of employees
	}
	return x.findWorkers(p, candidates)
}

// isUnaskedTime reports whether a relation says when something was, and neither question nor plan asks for that:
// a nationality is no birth.
func (x *alignment) isUnaskedTime(best *graphv1.RelationCandidate, phrase, end string) bool {
	r := relationOf(best)
	return end != "" && end == x.draft.GetResult().GetVariable() && !x.valued[end] && best.GetComparable() > 0.5 &&
		kgtext.IsTime(r) && !kgtext.IsTime(phrase) && !isAge(phrase) && !kgtext.AsksTime(x.question) &&
		!kgtext.IsSaid(r, x.question) && !kgtext.IsSaid(r, phrase)
}

// countsRanked ranks things by how many of something they have, where the knowledge graph has no number of these: "the
// most official languages".
func (x *alignment) countsRanked(p *graphv1.QueryPattern, phrase string) bool {
	question, end := strings.ToLower(x.question), p.GetEnd().GetVariable()
	if !strings.HasSuffix(phrase, "s") || p.GetStart().GetVariable() == "" ||
		!strings.Contains(question, "most "+phrase) && !strings.Contains(question, "fewest "+phrase) {
		return false
	}
	for _, c := range x.draft.GetClauses() {
		if rank := c.GetRank(); rank != nil && !rank.GetCount() && rank.GetVariable() == end {
			before := kgtext.DescribeClause(c)
			rank.Count, rank.GroupBy, x.valued[end] = true, p.GetStart().GetVariable(), false
			x.edit(graphv1.EditKind_EDIT_KIND_REPLACE, before, kgtext.DescribeClause(c),
				"the knowledge graph has no number of them", nil)
			return true
		}
	}
	return false
}

// fit returns how well the relation that was taken fits a pattern, by what else the knowledge graph says.
func (x *alignment) fit(p *graphv1.QueryPattern, best *graphv1.RelationCandidate,
	candidates []*graphv1.RelationCandidate) float64 {
	phrase, end := kgtext.DescribeRelation(p), p.GetEnd().GetVariable()
	fit := x.fitWords(best, phrase)
	isBeginning := asksAge.MatchString(x.question) && x.isOnlyBeginning(best, phrase, candidates)
	switch {
	case isBeginning && saysBeginning(relationOf(best)), isAge(phrase) && kgtext.SharesRole("birth", relationOf(best)),
		phrase == "joined" && asksLength.MatchString(x.question) && joinForm.MatchString(relationOf(best)),
		x.isOnlyOfKind(phrase, best, candidates) && holdsWords(x.question, phrase),
		best.GetTypeMatch() && best.GetImplied() == 1: // the cell is of no other column
		fit = max(fit, 0.5)
	case isBeginning, best.GetTypeMatch():
		fit = max(fit, 0.45)
	}
	isBefore := kgtext.IsTime(relationOf(best)) && yearForm.MatchString(x.question) &&
		x.draft.GetResult().GetFunction() == graphv1.QueryFunction_QUERY_FUNCTION_UNSPECIFIED
	if x.valued[end] && (genericSize(phrase) || isBefore) {
		// "Largest" does not say what is measured, nor what someone did "before 2017" when.
		fit = max(fit, x.MinRelation)
	}
	isSize := genericSize(phrase) && !asksLength.MatchString(x.question) && x.isOnlyNumber(best, candidates) &&
		!x.lacksPlace()
	if x.valued[end] && (isSize || kgtext.SharesRole(relationOf(best), x.question)) {
		fit = max(fit, 0.5) // the largest has the largest of the only number there is, the cheapest the least price
	}
	if best.GetJoins() {
		fit = min(1, fit+0.25)
	}
	if kgtext.SaysWay(phrase, relationOf(best)) {
		fit = max(fit, surelySaid)
	}
	if whereForm.MatchString(phrase) && (len(candidates) == 1 || isOnlySubject(best, candidates) &&
		kgtext.HasValue(x.draft, p.GetStart().GetVariable(), x.valued)) {
		fit = max(fit, 0.55) // the place has no other relation
	}
	isOther := len(kgtext.NewOpenWords(phrase)) > 0 && !kgtext.SharesWord(phrase, x.question)
	if (kgtext.SharesWord(phrase, x.question) || isOther && p.GetEnd().GetEntity() != "") && x.saysAll(best) {
		fit = max(fit, 0.5)
	}
	if x.isOnlyColumn(p, candidates) {
		fit = max(fit, x.MinRelation)
	}
	if x.hasUnit(best, end) {
		fit = max(fit, 0.5)
	}
	if kgtext.IsTime(phrase) && x.valued[end] && kgtext.IsTime(best.GetSteps()[len(best.GetSteps())-1].GetRelation()) {
		fit = min(1, fit+0.2)
	}
	return fit
}

// whereForm says of things only that they are somewhere.
var whereForm = regexp.MustCompile(`^(?:in|from|at|location|located(?: in)?|based(?: in)?)$`)

// joinForm is a relation to when somebody came somewhere.
var joinForm = regexp.MustCompile(`(?i)\b(?:joined|hired|employed|engaged|appointed|enrolled|started|start|since)\b`)

// isOnlyOfKind reports whether a relation leads to what the words of a pattern say, as no other does.
func (x *alignment) isOnlyOfKind(phrase string, best *graphv1.RelationCandidate,
	candidates []*graphv1.RelationCandidate) bool {
	isSaid := func(kind string) bool { return kgtext.SharedWords(kind, phrase) == 1 }
	isOther := func(c *graphv1.RelationCandidate) bool {
		return c.GetTypeMatch() && kgtext.StepsKey(c.GetSteps()) != kgtext.StepsKey(best.GetSteps())
	}
	return slices.ContainsFunc(best.GetEndTypes(), isSaid) && !slices.ContainsFunc(candidates, isOther)
}

// saysAll reports whether the question has all words of a relation, and the plan asks for no other: "services" of what
// "services run on A" is by what runs on A.
func (x *alignment) saysAll(best *graphv1.RelationCandidate) bool {
	asks := func(c *graphv1.QueryClause) bool {
		p := c.GetMatch()
		return c.GetRank() != nil || c.GetExclude() != nil || p != nil && kgtext.DescribeRelation(p) != typeRelation
	}
	clauses := x.draft.GetClauses()
	first := slices.IndexFunc(clauses, asks)
	return kgtext.NewQuestionWords(x.withoutNames()).MatchAll(relationOf(best)) &&
		!slices.ContainsFunc(clauses[first+1:], asks)
}

// placeEnd ends a question with where things are.
var placeEnd = regexp.MustCompile(`(?i)\b(?:in|from) (?:the )?(\pL[\pL -]*?)\W*$`)

// lacksPlace reports whether a question says where things are, and the plan does not.
func (x *alignment) lacksPlace() bool {
	m := placeEnd.FindStringSubmatch(x.question)
	return m != nil && !kgtext.Mentions(strings.Join(kgtext.DescribePlan(x.draft), " "), m[1])
}

// isOnlyColumn reports whether nothing but one relation of rows, and what was so before, has what a pattern ends in:
// who plays for a club has it as their club, whatever the plan calls that. What that has itself is no row, unless it is
// of the kind that the plan says of these.
func (x *alignment) isOnlyColumn(p *graphv1.QueryPattern, candidates []*graphv1.RelationCandidate) bool {
	isNamed := p.GetEnd().GetEntity() != "" || kgtext.IsListed(x.draft, p.GetEnd().GetVariable())
	v := p.GetStart().GetVariable()
	isTyped := x.hasKind(v)
	now := slices.DeleteFunc(slices.Clone(candidates), func(c *graphv1.RelationCandidate) bool {
		isSuch := len(c.GetEndTypes()) > 0 && x.hasKind(v, c.GetEndTypes()...)
		return kgtext.SaysFormer(relationOf(c)) || isTyped && isInverse(c) && !isSuch
	})
	if !isNamed || len(now) == 0 || len(now[0].GetSteps()) > 1 || isInverse(now[0]) {
		return false
	}
	isOther := func(c *graphv1.RelationCandidate) bool {
		return kgtext.StepsKey(c.GetSteps()) != kgtext.StepsKey(now[0].GetSteps())
	}
	isRow := func(c *graphv1.QueryClause) bool {
		return c.GetMatch() != nil && c.GetMatch().GetStart().GetVariable() == v
	}
	return !slices.ContainsFunc(now, isOther) && slices.ContainsFunc(x.plan.GetClauses(), isRow)
}

// unitEnd is the unit at the end of the name of a relation: "prep time (min)".
var unitEnd = regexp.MustCompile(`\(([^()]+)\)$`)

// hasUnit reports whether a relation has the unit of the value that the plan compares its values with.
func (x *alignment) hasUnit(c *graphv1.RelationCandidate, variable string) bool {
	m := unitEnd.FindStringSubmatch(relationOf(c))
	if m == nil {
		return false
	}
	want, _ := kgtext.ParseQuantity("1 " + m[1])
	return slices.ContainsFunc(x.draft.GetClauses(), func(clause *graphv1.QueryClause) bool {
		cond := clause.GetCondition()
		q, isNumber := kgtext.ParseQuantity(cond.GetValue())
		return isNumber && cond.GetVariable() == variable && kgtext.IsUnit(q.Unit) && q.Unit == want.Unit
	})
}

// asksAge is a question for what is oldest or newest.
var asksAge = regexp.MustCompile(`(?i)\b(?:old|new|young)(?:er|est)\b`)

// isOnlyBeginning reports whether a relation says when things began, as no other candidate does.
func (x *alignment) isOnlyBeginning(best *graphv1.RelationCandidate, phrase string,
	candidates []*graphv1.RelationCandidate) bool {
	isBeginning := findBeginnings(candidates)
	return isBeginning(best) && (!saysBeginning(relationOf(best)) || x.saysSame(phrase, relationOf(best))) &&
		!slices.ContainsFunc(candidates, func(c *graphv1.RelationCandidate) bool {
			// Where something was installed is no beginning.
			return relationOf(c) != relationOf(best) && c.GetComparable() >= 0.5 && isBeginning(c)
		})
}

// findBeginnings returns whether a candidate says when things began, by its words, or, where the words of none do,
// since it leads to dates and says no end.
func findBeginnings(candidates []*graphv1.RelationCandidate) func(*graphv1.RelationCandidate) bool {
	saysIt := func(c *graphv1.RelationCandidate) bool { return saysBeginning(relationOf(c)) }
	if slices.ContainsFunc(candidates, saysIt) {
		return saysIt
	}
	isDate := func(t *graphv1.Triple) bool {
		_, isDate := kgtext.ParseDate(t.GetObject())
		return isDate && len(t.GetObject()) > len("2006")
	}
	return func(c *graphv1.RelationCandidate) bool {
		return slices.ContainsFunc(c.GetExamples(), isDate) && !isInverse(c) &&
			!endForm.MatchString(kgtext.SplitIdentifiers(relationOf(c)))
	}
}

// isOfRow reports whether a relation is said of a row, and not of the thing in a cell that is asked for: a race is in a
// place, and its winner need not be from there.
func (x *alignment) isOfRow(p *graphv1.QueryPattern, best *graphv1.RelationCandidate) bool {
	column := x.ends[x.columns[p.GetStart().GetVariable()]]
	return column != nil && column.GetComparable() < 0.5 && best.GetTypeMatch() && best.GetWords() == 0 &&
		relationOf(column) != relationOf(best)
}

// genericSize reports whether a phrase asks for a size and does not say which.
func genericSize(phrase string) bool {
	switch phrase {
	case "size", "number", "value", "amount", "height", "length", "elevation":
		return true
	}
	return false
}

// lacks says that a relation is not in the knowledge graph.
func (x *alignment) lacks(phrase string, p *graphv1.QueryPattern) string {
	if x.valued[p.GetEnd().GetVariable()] {
		return fmt.Sprintf("the knowledge graph has no number or date for %q here", phrase)
	}
	return fmt.Sprintf("the knowledge graph has no relation for %q here", phrase)
}

// isOnlySubject reports whether nothing has what a pattern ends in as its object but by one relation.
func isOnlySubject(best *graphv1.RelationCandidate, candidates []*graphv1.RelationCandidate) bool {
	return !isInverse(best) && !slices.ContainsFunc(candidates,
		func(c *graphv1.RelationCandidate) bool { return c != best && !isInverse(c) })
}

// choose returns the first candidate that the pattern can mean.
func (x *alignment) choose(phrase string, candidates []*graphv1.RelationCandidate,
	end string) *graphv1.RelationCandidate {
	// What is oldest began first, and does not have the least of something else.
	isBeginning := findBeginnings(candidates)
	saysAge := func(c *graphv1.RelationCandidate) bool { return isAge(relationOf(c)) }
	asksBeginning := x.valued[end] && asksAge.MatchString(x.question) &&
		(kgtext.IsTime(phrase) || isAge(phrase) && !slices.ContainsFunc(candidates, saysAge)) &&
		slices.ContainsFunc(candidates, isBeginning)
	isSaid := asksBeginning && slices.ContainsFunc(candidates, func(c *graphv1.RelationCandidate) bool {
		return c.GetComparable() >= 0.5 && saysBeginning(relationOf(c))
	})
	isForward := func(c *graphv1.RelationCandidate) bool { return !isInverse(c) }
	isWay := func(c *graphv1.RelationCandidate) bool {
		return isForward(c) && c.GetComparable() < 0.5 && kgtext.SaysWay(phrase, relationOf(c))
	}
	if at := slices.IndexFunc(candidates, isWay); at >= 0 {
		return candidates[at]
	}
	for _, c := range candidates {
		if isForward(c) && kgtext.IsPatientOf(phrase, relationOf(c)) {
			continue // of "people managed" the relation to a manager says who manages
		}
		if phrase == "in" && isInverse(c) && c.GetComparable() > 0.5 && slices.ContainsFunc(candidates, isForward) {
			continue // the budget of a department is not in it
		}
		if x.valued[end] && (c.GetComparable() < 0.5 || x.isOtherTime(phrase, end, c)) ||
			asksBeginning && !isBeginning(c) && (isSaid || !isMoment(c) && !kgtext.IsTime(relationOf(c))) {
			continue
		}
		return c
	}
	return nil
}

// isOtherTime reports whether a candidate is a time and the plan wants another number: a budget is no
// year, and years have no sum.
func (x *alignment) isOtherTime(phrase, end string, c *graphv1.RelationCandidate) bool {
	if !kgtext.IsTime(c.GetSteps()[len(c.GetSteps())-1].GetRelation()) {
		return false
	}
	switch r := x.draft.GetResult(); r.GetFunction() {
	case graphv1.QueryFunction_QUERY_FUNCTION_SUM:
		if r.GetVariable() == end {
			return true
		}
	case graphv1.QueryFunction_QUERY_FUNCTION_AVERAGE:
		if r.GetVariable() == end {
			return !kgtext.IsTime(phrase)
		}
	}
	return !kgtext.IsTime(phrase) && !kgtext.AsksTime(x.question) && phrase != "joined" // which those hired did
}

// gap is by how much a relation that is not here fits better than the best here.
func (x *alignment) gap(best *graphv1.RelationCandidate, phrase string, found *graphv1.PatternCandidates) float64 {
	gap := 0.0
	for _, c := range found.GetElsewhere() {
		if slices.ContainsFunc(found.GetCandidates(), func(here *graphv1.RelationCandidate) bool {
			return here.GetSteps()[0].GetRelation() == c.GetSteps()[0].GetRelation()
		}) {
			continue
		}
		gap = max(gap, x.fitWords(c, phrase)-x.fitWords(best, phrase))
	}
	return gap
}

// add adds a pattern with the relation; several entities of one name become a list of values.
func (x *alignment) add(p *graphv1.QueryPattern, best *graphv1.RelationCandidate, links []*graphv1.EntityLink,
	exclude bool) {
	out := proto.CloneOf(p)
	out.Steps = best.GetSteps()
	wrap := func(p *graphv1.QueryPattern) *graphv1.QueryClause {
		if exclude {
			return &graphv1.QueryClause{Clause: &graphv1.QueryClause_Exclude{Exclude: p}}
		}
		return &graphv1.QueryClause{Clause: &graphv1.QueryClause_Match{Match: p}}
	}
	links = anchored(links, best)
	if exclude && len(links) > 1 {
		// Each by itself: that one of them matches excludes.
		for _, l := range links {
			x.add(p, best, []*graphv1.EntityLink{l}, true)
		}
		return
	}
	if len(links) == 1 {
		out.End = &graphv1.QueryTerm{Term: &graphv1.QueryTerm_Entity{Entity: links[0].GetEntity()}}
	} else if len(links) > 1 {
		v := x.newVariable()
		x.plan.Clauses = append(x.plan.Clauses, listLinks(v, links))
		out.End = &graphv1.QueryTerm{Term: &graphv1.QueryTerm_Variable{Variable: v}}
	}
	after := wrap(out)
	x.replaced(wrap(p), after, fmt.Sprintf("the relation fits the plan by %.2f and the question by %.2f",
		best.GetPhraseScore(), best.GetQuestionScore()), best.GetExamples())
	x.plan.Clauses = append(x.plan.Clauses, after)
}

// listLinks returns the clause by which a variable stands for the entities of links.
func listLinks(variable string, links []*graphv1.EntityLink) *graphv1.QueryClause {
	list := &graphv1.QueryValues{Variable: variable}
	for _, l := range links {
		list.Entities = append(list.Entities, l.GetEntity())
	}
	return &graphv1.QueryClause{Clause: &graphv1.QueryClause_Values{Values: list}}
}

// bindsElsewhere reports whether another clause binds a variable.
func (x *alignment) bindsElsewhere(at int, variable string) bool {
	for i, c := range x.draft.GetClauses() {
		if i == at {
			continue
		}
		if c.GetValues().GetVariable() == variable {
			return true
		}
		p := c.GetMatch()
		if p != nil && kgtext.DescribeRelation(p) != typeRelation &&
			(p.GetStart().GetVariable() == variable || p.GetEnd().GetVariable() == variable) {
			return true
		}
	}
	return false
}

// holdsWords reports whether a phrase has all words of a name, whatever their number.
func holdsWords(phrase, name string) bool {
	words := strings.Fields(kgtext.Fold(phrase))
	for _, want := range strings.Fields(kgtext.Fold(name)) {
		if !slices.ContainsFunc(words, func(w string) bool { return kgtext.SameNoun(w, want) }) {
			return false
		}
	}
	return name != ""
}
