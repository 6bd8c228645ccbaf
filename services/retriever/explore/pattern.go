package explore

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// open is a pattern that is not explored yet.
type open struct {
	clause   int
	pattern  *graphv1.QueryPattern
	excluded bool
	// phrase is what the pattern calls its relation, start and end what its ends can be, nil for anything.
	phrase     string
	start, end []store.EntityID
}

// isType reports whether a pattern says what kind of thing its start is.
func (o open) isType() bool { return o.phrase == "type" }

// explorePattern finds the candidates of a pattern and what its new variable can be by the best of them.
func (e *explorer) explorePattern(o open) (Pattern, error) {
	candidates, err := e.findCandidates(o)
	if err != nil {
		return Pattern{}, err
	}
	if candidates, err = e.rankCandidates(o, candidates); err != nil {
		return Pattern{}, err
	}
	if len(candidates) > 0 && !o.excluded {
		if err := e.bindRelations(o, &candidates[0]); err != nil {
			return Pattern{}, err
		}
		if err := e.bindDomains(o, candidates[0]); err != nil {
			return Pattern{}, err
		}
	}
	elsewhere, err := e.lookElsewhere(o, len(candidates) > 0)
	return Pattern{Clause: o.clause, Candidates: candidates, Elsewhere: elsewhere}, err
}

// findCandidates returns the relations that can join the ends of a pattern.
func (e *explorer) findCandidates(o open) ([]Candidate, error) {
	named := e.named[o.pattern.GetEnd().GetEntity()]
	switch {
	case o.isType() && (o.start == nil || len(named) > 0) && o.end != nil:
		relations := append([]store.RelationID{}, e.types...)
		switch {
		case len(named) > 0:
			relations = named
		case e.isUniform && e.isPredicate(o):
			relations = nil // any
		}
		candidates, err := e.around(o.end, nil, o.phrase, true, relations)
		for _, relations := range e.sorts {
			if len(candidates) == 0 && len(relations) > 0 && err == nil {
				candidates, err = e.around(o.end, nil, o.phrase, true, relations)
			}
		}
		isCell := len(candidates) == 0 && e.isCell(o)
		if isCell && err == nil {
			candidates, err = e.around(o.end, nil, o.phrase, true, nil)
		}
		candidates = slices.DeleteFunc(candidates, func(c Candidate) bool { return c.Steps[0].Inverse })
		for i := range candidates {
			candidates[i].Joins = true // it is all that the variable can be
			candidates[i].TypeMatch = candidates[i].TypeMatch || isCell
		}
		return candidates, err
	case o.isType() && o.end == nil:
		return e.findDone(o) // no entity has this name
	case o.start != nil:
		candidates, err := e.around(o.start, o.end, o.phrase, false, nil)
		if err != nil || o.end == nil || o.isType() {
			for i := range candidates { // few of them may be alliums
				candidates[i].TypeMatch = candidates[i].TypeMatch ||
					candidates[i].Joins && (e.isCell(o) || e.isModified(o))
			}
			return candidates, err
		}
		more, err := e.lookFromEnd(o, candidates)
		return append(candidates, more...), err
	case o.end != nil:
		candidates, err := e.around(o.end, nil, o.phrase, true, nil)
		if len(candidates) == 1 && e.isTable() && e.areCells(o.end) && kgtext.SharedWords(o.phrase, e.residue) < 1 {
			candidates[0].TypeMatch, candidates[0].Implied = true, 1 // of one column, and no word asks for another
		}
		return candidates, err
	}
	return e.everywhere(o.phrase, maxCandidates, e.plannedTypes(o.pattern.GetStart().GetVariable())...)
}

// plannedTypes returns what the plan says that a variable is.
func (e *explorer) plannedTypes(variable string) (kinds []string) {
	for _, c := range e.plan.GetClauses() {
		if p := c.GetMatch(); variable != "" && p.GetStart().GetVariable() == variable &&
			kgtext.DescribeRelation(p) == "type" {
			kinds = append(kinds, p.GetEnd().GetEntity())
		}
	}
	return kinds
}

// plannedClasses returns what the plan says that a variable is, by the names that things have as a type.
func (e *explorer) plannedClasses(variable string) (names []string, err error) {
	for _, kind := range e.plannedTypes(variable) {
		classes, err := e.findClasses(e.links[kind])
		if err != nil {
			return nil, err
		}
		for _, id := range classes {
			names = append(names, e.snap.EntityName(id))
		}
	}
	return names, nil
}

// lookFromEnd returns what the end of a pattern has of what its words say, if its start has nothing of that: Dallas is
// not the capital of Texas, which has another one. If that has nothing either, what they share may say it.
func (e *explorer) lookFromEnd(o open, candidates []Candidate) ([]Candidate, error) {
	if slices.ContainsFunc(candidates, func(c Candidate) bool {
		return c.Words == 1 && (c.Joins || !c.Steps[0].Inverse)
	}) {
		return nil, nil
	}
	relevant, err := e.findNamed(sample(o.end, linked), o.phrase)
	if err != nil {
		return nil, err
	}
	if len(relevant) == 0 {
		return e.findShared(o)
	}
	more, err := e.around(o.end, o.start, o.phrase, true, relevant)
	return slices.DeleteFunc(more, func(c Candidate) bool {
		return !c.Steps[len(c.Steps)-1].Inverse || slices.ContainsFunc(candidates, func(known Candidate) bool {
			return slices.Equal(known.Steps, c.Steps)
		})
	}), err
}

// findNamed returns the relations of some entities, as their subjects, that have all words of a phrase.
func (e *explorer) findNamed(ids []store.EntityID, phrase string) (found []store.RelationID, err error) {
	for _, id := range ids {
		relations, err := e.snap.Relations(e.ctx, id, store.Out)
		if err != nil {
			return nil, err
		}
		for _, r := range relations {
			if e.matchWords(r.Relation, phrase) == 1 {
				found = append(found, r.Relation)
			}
		}
	}
	return found, nil
}

// matchWords returns the share of the words of a phrase that a relation has.
func (e *explorer) matchWords(r store.RelationID, phrase string) float32 {
	return kgtext.SharedWords(phrase, e.snap.RelationName(r))
}

// rankCandidates returns the best candidates of a pattern, with what tells them apart.
func (e *explorer) rankCandidates(o open, candidates []Candidate) ([]Candidate, error) {
	if o.start != nil && o.end != nil { // whom A influences does not influence A
		candidates = slices.DeleteFunc(candidates, func(c Candidate) bool { return c.Joins && e.isTurned(o.phrase, c) })
	}
	if err := e.matchTypes(o.pattern, o.start, o.end, candidates); err != nil {
		return nil, err
	}
	through, err := e.throughPlaces(o, candidates)
	if err != nil {
		return nil, err
	}
	if len(through) == 0 {
		if through, err = e.throughEvents(o, candidates); err != nil {
			return nil, err
		}
	}
	kin, err := e.throughKin(o, candidates)
	if err != nil {
		return nil, err
	}
	candidates = slices.Concat(candidates, through, kin)
	if joins := func(c Candidate) bool { return c.Joins && c.Words == 1 }; slices.ContainsFunc(candidates, joins) {
		candidates = slices.DeleteFunc(candidates, func(c Candidate) bool { // who observed a star is no observation
			return len(o.start) > 0 && len(o.end) > 0 && !c.Joins && e.areEvents(c)
		})
	}
	e.sayAgent(o, candidates)
	missTypes(candidates)
	trust, byYear := kgtext.Trust(o.phrase, e.question), e.boundsYear(o.pattern.GetEnd().GetVariable())
	misfit, isOther := e.findMisfits(o), e.findOthers(o.phrase, candidates)
	for i := range candidates {
		c := &candidates[i]
		c.Trust = trust
		isTime := kgtext.IsTime(e.snap.RelationName(c.Steps[len(c.Steps)-1].Relation))
		c.Time = (isTime || c.Words == 1 && e.endsInDates(*c)) && (kgtext.IsTime(o.phrase) || byYear)
		c.OtherTime = isTime && !kgtext.IsTime(o.phrase) && !kgtext.AsksTime(e.question)
		c.TypeMiss = c.TypeMiss || isOther(*c)
		c.misfit = misfit(*c)
	}
	// Of two names that are asked about, any relation may join them; of a variable and a name, the one
	// that joins is meant.
	joins := float32(0.35)
	if e.plan.GetResult().GetFunction() == graphv1.QueryFunction_QUERY_FUNCTION_EXISTS || o.excluded {
		joins = 0.05
	}
	common, valued := addCommon(o.phrase, candidates), e.valued[o.pattern.GetEnd().GetVariable()]
	slices.SortStableFunc(candidates, func(a, b Candidate) int {
		switch { // "after 2010" bounds a time, if there is one
		case byYear && a.Time && !b.Time:
			return -1
		case byYear && !a.Time && b.Time:
			return 1
		}
		return cmp.Compare(Score(b, valued, joins)+common(b)-b.misfit, Score(a, valued, joins)+common(a)-a.misfit)
	})
	e.preferHead(o, candidates)
	e.preferNamed(o, candidates)
	e.preferVoice(o, candidates)
	err = e.preferNearest(o.phrase, candidates)
	return candidates[:min(len(candidates), maxCandidates)], err
}

// endsInDates reports whether the first end of a candidate is a date, whatever its relation is called: when somebody
// joined.
func (e *explorer) endsInDates(c Candidate) bool {
	if len(c.ends) == 0 {
		return false
	}
	_, isDate := kgtext.ParseDate(e.snap.EntityName(c.ends[0]))
	return isDate
}

// isAsked reports whether what a pattern leads to from its known end, its start if none is known, is the answer.
func (e *explorer) isAsked(o open) bool {
	v := o.pattern.GetEnd().GetVariable()
	if o.start == nil && o.end != nil {
		v = o.pattern.GetStart().GetVariable()
	}
	result := e.plan.GetResult()
	return v != "" && v == result.GetVariable() &&
		result.GetFunction() == graphv1.QueryFunction_QUERY_FUNCTION_UNSPECIFIED
}

// findOthers returns whether a candidate says another role or measure than a phrase: an area code is no area, and where
// there are children, whose child somebody is does not say it.
func (e *explorer) findOthers(phrase string, candidates []Candidate) func(Candidate) bool {
	kin := kgtext.Kin(phrase, false)
	if kin == "" {
		return func(c Candidate) bool { return kgtext.OtherRole(phrase, "", e.stepsOf(c)) != "" }
	}
	isKin := func(c Candidate) bool { return e.kinOf(c) == kin }
	hasKin := slices.ContainsFunc(candidates, isKin)
	return func(c Candidate) bool { return hasKin && e.kinOf(c) != "" && !isKin(c) }
}

// kinOf returns what the end of a candidate is to its start, parent or child; empty if it is neither.
func (e *explorer) kinOf(c Candidate) string {
	if len(c.Steps) > 1 {
		return ""
	}
	return kgtext.Kin(e.lastName(c), c.Steps[0].Inverse)
}

// stepsOf returns the steps of a candidate by the names of their relations.
func (e *explorer) stepsOf(c Candidate) []*graphv1.RelationStep {
	steps := make([]*graphv1.RelationStep, len(c.Steps))
	for i, s := range c.Steps {
		steps[i] = &graphv1.RelationStep{Relation: e.snap.RelationName(s.Relation)}
	}
	return steps
}

// findMisfits returns what is taken from the score of a relation that cannot be meant: to what identifies, where
// values are compared or counted; to dates and numbers, where the question asks who, or the plan for what has a value;
// to times, where it asks for a place; to events that neither question nor plan says; to a measure of what the plan
// counts, such as the floor area where floors are counted; to what was so before, unless the question asks for that;
// of one of several by its number, where the question has none: "1st runway length".
func (e *explorer) findMisfits(o open) func(Candidate) float32 {
	asksWho, asksPlace := kgtext.AsksWho(e.question) && e.isAsked(o), kgtext.AsksPlace(e.question) && e.isAsked(o)
	asksFormer, kin := kgtext.SaysFormer(e.question), kgtext.Kin(o.phrase, false)
	end, result := o.pattern.GetEnd().GetVariable(), e.plan.GetResult()
	counts := end != "" && end == result.GetVariable() &&
		result.GetFunction() == graphv1.QueryFunction_QUERY_FUNCTION_COUNT ||
		slices.ContainsFunc(e.plan.GetClauses(), func(c *graphv1.QueryClause) bool {
			rank := c.GetRank()
			return rank.GetCount() && rank.GetVariable() == end
		})
	isThing := o.start == nil && o.end != nil && // what has a salary is no number
		kgtext.HasValue(e.plan, o.pattern.GetStart().GetVariable(), e.valued)
	return func(c Candidate) float32 {
		name := e.lastName(c)
		switch {
		case c.Words < 1 && (counts || e.valued[end]) && identifierForm.MatchString(kgtext.Fold(name)),
			(asksWho || isThing) && c.Comparable > 0.5,
			asksPlace && !kgtext.IsPlace(name) && (kgtext.IsTime(name) || timeForm.MatchString(name)),
			counts && kgtext.MeasuresOther(o.phrase, name), e.isUnsaidEvent(o, c),
			kgtext.FindOtherLead(e.question, name) != "":
			return 1
		case c.Words < 1 && !c.TypeMatch && e.leadsBack(o, c):
			return 0.3
		case asksFormer != kgtext.SaysFormer(name):
			return 0.3
		case hasDigit(kgtext.WithoutUnit(name)) && !hasDigit(e.question):
			return 0.2
		case c.Words == 0 && (kgtext.SharesRole(o.phrase, name) || kin != "" && e.kinOf(c) == kin):
			return -sameRole
		case kgtext.SaysWay(o.phrase, name) && c.Comparable < 0.5:
			return -sameWay
		}
		return 0
	}
}

// leadsBack reports whether a candidate is the way back of the pattern that leads to its start: from a tutor to whom
// else they tutor.
func (e *explorer) leadsBack(o open, c Candidate) bool {
	v := o.pattern.GetStart().GetVariable()
	return v != "" && len(c.Steps) == 1 && c.Steps[0].Inverse && slices.ContainsFunc(e.patterns, func(p Pattern) bool {
		return e.plan.GetClauses()[p.Clause].GetMatch().GetEnd().GetVariable() == v && len(p.Candidates) > 0 &&
			slices.Equal(p.Candidates[0].Steps, invert(c.Steps))
	})
}

// identifierForm is a relation to what identifies and measures nothing.
var identifierForm = regexp.MustCompile(
	`\b(?:isbn|issn|ids?|identifier|codes?|(?:tele)?phone|fax|zip|postcode|sku)\b| no$`)

// sameRole is added to the score of a relation that says the role of a phrase by another word: the origin of what
// departs.
const sameRole = 0.15

// sameWay is the same for one that says where things go from or to.
const sameWay = 0.5

// timeForm is a relation to a time of day or to how long something takes.
var timeForm = regexp.MustCompile(`(?i)\btime$`)

func hasDigit(text string) bool { return strings.ContainsAny(text, "0123456789") }

// bindRelations adds the relations of the best candidate to those of the pattern's variables. Of a kind it sets how
// near that is to the relations there are.
func (e *explorer) bindRelations(o open, best *Candidate) (err error) {
	for _, t := range []*graphv1.QueryTerm{o.pattern.GetStart(), o.pattern.GetEnd()} {
		v := t.GetVariable()
		switch {
		case v == "":
		case o.isType():
			if _, best.Implied, err = e.implying(v, o.pattern.GetEnd().GetEntity()); err != nil {
				return err
			}
		default:
			for _, s := range best.Steps {
				e.bound[v] = append(e.bound[v], s.Relation)
			}
		}
	}
	return nil
}

// lookElsewhere returns the relations of the whole graph that a pattern may mean. Of a table that has no kinds, the
// rows with these relations are what its variable can be.
func (e *explorer) lookElsewhere(o open, found bool) (elsewhere []Candidate, err error) {
	if !o.isType() {
		if o.start == nil && o.end == nil || e.isTable() && e.areCells(o.end) {
			return nil, nil
		}
		return e.everywhere(o.phrase, maxElsewhere)
	}
	column, isColumn := e.column(o.pattern.GetEnd().GetEntity())
	ofName := e.ofName[o.pattern.GetEnd().GetEntity()]
	switch {
	case found:
	case ofName != nil:
		if o.start == nil {
			e.domains[o.pattern.GetStart().GetVariable()] = ofName
		}
	case isColumn:
		elsewhere = []Candidate{column}
	case e.isUniform && o.start == nil:
		elsewhere = e.findRows(o)
	case o.start == nil && o.end == nil:
		elsewhere, err = e.findNumbers(o.pattern.GetEnd().GetEntity())
	}
	if err == nil && len(elsewhere) > 0 && o.start == nil && (isColumn || !e.isPredicate(o)) {
		e.domains[o.pattern.GetStart().GetVariable()], err = e.subjects(elsewhere[0].Steps[0])
	}
	return elsewhere, err
}

// isPredicate reports whether a clause says more of a variable than its kind, which comes first.
func (e *explorer) isPredicate(o open) bool {
	for _, c := range e.plan.GetClauses()[:o.clause] {
		if p := c.GetMatch(); p != nil && kgtext.DescribeRelation(p) == "type" &&
			p.GetStart().GetVariable() == o.pattern.GetStart().GetVariable() {
			return true
		}
	}
	return false
}

// bindDomains sets what a new variable can be.
func (e *explorer) bindDomains(o open, best Candidate) error {
	switch sv, ev := o.pattern.GetStart().GetVariable(), o.pattern.GetEnd().GetVariable(); {
	case best.Alternatives != nil && o.start != nil && o.end == nil && ev != "":
		e.domains[ev] = best.ends
	case best.Alternatives != nil && o.start == nil && sv != "":
		e.domains[sv] = best.ends
	case o.start != nil && o.end == nil && ev != "":
		ids, err := e.follow(o.start, best.Steps)
		e.domains[ev] = ids
		return err
	case o.start == nil && o.end != nil && sv != "":
		ids, err := e.follow(o.end, invert(best.Steps))
		e.domains[sv] = ids
		return err
	case o.start != nil && o.end != nil && sv != "" && best.Joins && slices.Contains(e.types, best.Steps[0].Relation):
		ids, err := e.follow(o.end, invert(best.Steps))
		ids = slices.DeleteFunc(ids, func(id store.EntityID) bool { return !slices.Contains(o.start, id) })
		if len(ids) > 0 {
			e.domains[sv] = ids
		}
		return err
	case o.start == nil && o.end == nil:
		subjects, err := e.subjects(best.Steps[0])
		if err != nil {
			return err
		}
		if sv != "" {
			e.domains[sv] = subjects
		}
		if ev != "" {
			e.domains[ev], err = e.follow(subjects, best.Steps)
		}
		return err
	}
	return nil
}
