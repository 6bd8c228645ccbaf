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
	if best == nil {
		if !exclude && x.saysBest(at, p) {
			return ""
		}
		return x.lacks(phrase, p)
	}
	if !exclude && x.countsNamed(p, best) {
		return ""
	}
	if gap := x.gap(best, phrase, found); gap > x.MaxGap && !best.GetJoins() && !x.valued[end] &&
		!best.GetTypeMatch() && best.GetWords() < 1 && len(kgtext.NewOpenWords(phrase)) > 0 &&
		!holdsWords(x.question, relationOf(best)) {
		return fmt.Sprintf("the knowledge graph has no %q of what the question names", phrase)
	}
	fit := x.fit(p, best, found.GetCandidates())
	if fit < x.MinRelation {
		return x.lacks(phrase, p)
	}
	if x.isOfRow(p, best) {
		fit = min(fit, 0.45)
	}
	x.certain(0.45 + 0.75*fit)
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
	switch {
	case asksAge.MatchString(x.question) && x.isOnlyBeginning(best, phrase, candidates),
		best.GetTypeMatch() && best.GetImplied() == 1: // the cell is of no other column
		fit = max(fit, 0.5)
	case best.GetTypeMatch():
		fit = max(fit, 0.45)
	}
	isBefore := kgtext.IsTime(relationOf(best)) && yearForm.MatchString(x.question) &&
		x.draft.GetResult().GetFunction() == graphv1.QueryFunction_QUERY_FUNCTION_UNSPECIFIED
	if x.valued[end] && (genericSize(phrase) || isBefore) {
		// "Largest" does not say what is measured, nor what someone did "before 2017" when.
		fit = max(fit, x.MinRelation)
	}
	if best.GetJoins() {
		fit = min(1, fit+0.25)
	}
	if phrase == "in" && len(candidates) == 1 {
		fit = max(fit, 0.55) // the place has no other relation
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

// isOnlyColumn reports whether nothing but one relation of rows, and what was so before, has what a pattern ends in:
// who plays for a club has it as their club, whatever the plan calls that.
func (x *alignment) isOnlyColumn(p *graphv1.QueryPattern, candidates []*graphv1.RelationCandidate) bool {
	isNamed := p.GetEnd().GetEntity() != "" || kgtext.IsListed(x.draft, p.GetEnd().GetVariable())
	now := slices.DeleteFunc(slices.Clone(candidates),
		func(c *graphv1.RelationCandidate) bool { return kgtext.SaysFormer(relationOf(c)) })
	if !isNamed || len(now) == 0 || len(now[0].GetSteps()) > 1 || isInverse(now[0]) {
		return false
	}
	isOther := func(c *graphv1.RelationCandidate) bool {
		return kgtext.StepsKey(c.GetSteps()) != kgtext.StepsKey(now[0].GetSteps())
	}
	isRow := func(c *graphv1.QueryClause) bool {
		return c.GetMatch() != nil && c.GetMatch().GetStart().GetVariable() == p.GetStart().GetVariable()
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
	return saysBeginning(relationOf(best)) && x.saysSame(phrase, relationOf(best)) &&
		!slices.ContainsFunc(candidates, func(c *graphv1.RelationCandidate) bool {
			return relationOf(c) != relationOf(best) && saysBeginning(relationOf(c))
		})
}

// isOfRow reports whether a relation is said of a row, and not of the thing in a cell that is asked for: a race is in a
// place, and its winner need not be from there.
func (x *alignment) isOfRow(p *graphv1.QueryPattern, best *graphv1.RelationCandidate) bool {
	column := x.ends[x.columns[p.GetStart().GetVariable()]]
	return column != nil && column.GetComparable() < 0.5 && best.GetTypeMatch() && best.GetWords() == 0 &&
		relationOf(column) != relationOf(best)
}

// isAnything reports whether a kind restricts nothing: what was born or opened is a person or a place.
func isAnything(kind string) bool {
	switch kgtext.Fold(kind) {
	case "person", "people", "place", "thing", "entity", "item":
		return true
	}
	return false
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

// choose returns the first candidate that the pattern can mean.
func (x *alignment) choose(phrase string, candidates []*graphv1.RelationCandidate,
	end string) *graphv1.RelationCandidate {
	for _, c := range candidates {
		if x.valued[end] && (c.GetComparable() < 0.5 || x.isOtherTime(phrase, end, c)) {
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
	return !kgtext.IsTime(phrase) && !kgtext.AsksTime(x.question)
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

// typePattern aligns a clause that says what a variable is. If the knowledge graph does not say that
// of most that the variable can be, the clause is left out: other clauses bind it. Unless their relations
// imply it, as what somebody directed is a film, the result may be of another kind.
func (x *alignment) typePattern(at int, p *graphv1.QueryPattern, found *graphv1.PatternCandidates) string {
	name := p.GetEnd().GetEntity()
	links := x.entities(name)
	candidates := slices.Concat(found.GetCandidates(), found.GetElsewhere())
	implied := len(candidates) > 0 && candidates[0].GetImplied() > impliedFrom
	drop := func(reason string, isSaid bool) string {
		x.edit(graphv1.EditKind_EDIT_KIND_DELETE, kgtext.DescribePattern(p), "", reason, nil)
		if !isSaid {
			x.doubt(reason)
		}
		return ""
	}
	if columns := found.GetElsewhere(); len(found.GetCandidates()) == 0 && len(columns) > 0 &&
		columns[0].GetImplied() == 0 && isNamed(relationOf(columns[0]), name) {
		if x.isCellOf(p.GetStart().GetVariable(), columns[0]) {
			return drop("another clause leads to this column", true)
		}
		x.addColumn(p, columns[0])
		return ""
	}
	if rows := found.GetElsewhere(); len(found.GetCandidates()) == 0 && len(rows) > 0 &&
		!x.bindsElsewhere(at, p.GetStart().GetVariable()) {
		// In a table the things are its rows.
		out := proto.CloneOf(p)
		out.Steps = rows[0].GetSteps()
		out.End = &graphv1.QueryTerm{Term: &graphv1.QueryTerm_Variable{Variable: x.newVariable()}}
		after := &graphv1.QueryClause{Clause: &graphv1.QueryClause_Match{Match: out}}
		x.edit(graphv1.EditKind_EDIT_KIND_REPLACE, kgtext.DescribePattern(p), kgtext.DescribeClause(after),
			"in a table every row is one", nil)
		x.plan.Clauses = append(x.plan.Clauses, after)
		x.certain(0.75)
		return ""
	}
	if term := x.terms[name]; term.GetOfKind() {
		after := listLinks(p.GetStart().GetVariable(), term.GetLinks())
		x.edit(graphv1.EditKind_EDIT_KIND_REPLACE, kgtext.DescribePattern(p), kgtext.DescribeClause(after),
			"these have it in their names", nil)
		x.plan.Clauses = append(x.plan.Clauses, after)
		return ""
	}
	if len(links) == 0 || len(found.GetCandidates()) == 0 {
		asksWho := strings.HasPrefix(strings.ToLower(x.question), "who ") && !holdsWords(x.question, name)
		return drop(fmt.Sprintf("the knowledge graph does not say what is a %s", name),
			(implied || isAnything(name) || asksWho || x.namesSay(p.GetStart().GetVariable(), name)) &&
				!x.tellsApart(name))
	}
	best := found.GetCandidates()[0]
	boundElsewhere := x.bindsElsewhere(at, p.GetStart().GetVariable())
	if boundElsewhere && !best.GetJoins() {
		if x.asksKind(name, best) {
			return fmt.Sprintf("nothing that fits the rest of the plan is a %s in the knowledge graph", name)
		}
		return drop(fmt.Sprintf("nothing of it is a %s in the knowledge graph", name), implied)
	}
	isFew := boundElsewhere && float64(best.GetCoverage()) < x.MinType && !best.GetTypeMatch()
	if isFew && implied && !x.asksKind(name, best) {
		return drop(fmt.Sprintf("the other relations say that it is a %s", name), implied)
	}
	if isFew && !saysClass(best) {
		return drop(fmt.Sprintf("the knowledge graph says of few things that they are a %s", name), implied)
	}
	if r := relationOf(best); x.plan.GetResult().GetFunction() == graphv1.QueryFunction_QUERY_FUNCTION_EXISTS &&
		!saysClass(best) && !best.GetTypeMatch() && !kgtext.SharesWord(r, x.question) {
		x.doubt(fmt.Sprintf("the knowledge graph says %q of it where the question asks whether it is %s", r, name))
	}
	links = anchored(links, best)
	x.add(p, best, links[:1], false)
	return ""
}

// namesSay reports whether the things that the other relations of a variable are said of have a kind in their names:
// the Orla office is an office.
func (x *alignment) namesSay(variable, kind string) bool {
	named := 0
	for i, c := range x.draft.GetClauses() {
		candidates := x.patterns[i].GetCandidates()
		if c.GetMatch().GetStart().GetVariable() != variable || len(candidates) == 0 {
			continue
		}
		for _, t := range candidates[0].GetExamples() {
			name := t.GetSubject()
			if candidates[0].GetSteps()[0].GetInverse() {
				name = t.GetObject()
			}
			if !holdsWords(name, kind) {
				return false
			}
			named++
		}
	}
	return named > 1
}

// tellsApart reports whether the question counts a kind by a word before its noun, which other relations do not imply:
// the most horror films are not the most films.
func (x *alignment) tellsApart(name string) bool {
	head := strings.LastIndex(name, " ")
	return head > 0 && holdsWords(x.question, name) && slices.ContainsFunc(x.draft.GetClauses(),
		func(c *graphv1.QueryClause) bool { return c.GetRank().GetCount() })
}

// asksKind reports whether the question names a kind of things that the knowledge graph tells apart:
// one of several words, such as major city, since other relations say that a thing is a city and not
// of which sort, or one that its types have.
func (x *alignment) asksKind(name string, c *graphv1.RelationCandidate) bool {
	return holdsWords(x.question, name) && saysClass(c) && (len(strings.Fields(name)) > 1 || saysType(c))
}

// saysType reports whether a relation says what a thing is, and not what it does.
func saysType(c *graphv1.RelationCandidate) bool {
	switch kgtext.Fold(c.GetSteps()[0].GetRelation()) {
	case "type", "is a", "kind", "category", "class", "genre", "has genre":
		return true
	}
	return false
}

// saysClass reports whether a relation says what a thing is, such as its occupation.
func saysClass(c *graphv1.RelationCandidate) bool {
	if len(c.GetSteps()) != 1 || c.GetSteps()[0].GetInverse() {
		return false
	}
	switch name := kgtext.Fold(c.GetSteps()[0].GetRelation()); name {
	case "instance of", "occupation", "profession", "position", "job", "role":
		return true
	default:
		return saysType(c) || strings.HasSuffix(name, " type") || strings.HasSuffix(name, " occupation") ||
			strings.HasSuffix(name, "profession")
	}
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

// addEndType adds what the words of a pattern say of its end: "number of major rivers" counts those
// that are a major river.
func (x *alignment) addEndType(p *graphv1.QueryPattern, best *graphv1.RelationCandidate, phrase string) {
	longest := ""
	for _, t := range best.GetEndTypes() {
		if len(t) > len(longest) && holdsWords(phrase, t) {
			longest = t
		}
	}
	if longest == "" || len(best.GetEndTypes()) < 2 {
		return
	}
	relation := x.typeRelation()
	if relation == "" {
		return
	}
	added := &graphv1.QueryClause{Clause: &graphv1.QueryClause_Match{Match: &graphv1.QueryPattern{
		Start: p.GetEnd(), Steps: []*graphv1.RelationStep{{Relation: relation}},
		End: &graphv1.QueryTerm{Term: &graphv1.QueryTerm_Entity{Entity: longest}}}}}
	x.edit(graphv1.EditKind_EDIT_KIND_ADD, "", kgtext.DescribeClause(added), fmt.Sprintf("the plan says %q", phrase),
		nil)
	x.plan.Clauses = append(x.plan.Clauses, added)
}

// typeRelation is the relation by which types were found.
func (x *alignment) typeRelation() string {
	for i, c := range x.draft.GetClauses() {
		if p := c.GetMatch(); p != nil && kgtext.DescribeRelation(p) == typeRelation {
			for _, candidate := range x.patterns[i].GetCandidates() {
				if saysClass(candidate) {
					return candidate.GetSteps()[0].GetRelation()
				}
			}
		}
	}
	return ""
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
