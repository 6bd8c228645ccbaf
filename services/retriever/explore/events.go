package explore

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/vector"
	"github.com/triplemesh/triplemesh/services/retriever/walk"
)

// maxEvents is how many kinds of events lie between two things: from customers over orders and their items to products.
const maxEvents = 2

// clearlyEvent is the cosine from which on a phrase says an event: "borrowed" a loan (.57), "recommended" none (.21).
const clearlyEvent = 0.5

// farEnd is the other end of a pattern, as far as it is known: its entities, what they or those that the plan asks for
// are, and the relations that have these entities as objects.
type farEnd struct {
	ends    []store.EntityID
	classes []string
	steps   []walk.Step
}

// isLedTo reports whether the last relation of a candidate has the end as an object of something.
func (f farEnd) isLedTo(c Candidate) bool {
	return slices.Contains(f.steps, c.Steps[len(c.Steps)-1].Reverse())
}

// throughEvents returns what leads to the other end of a pattern over events, which are things of a kind of their own
// that numbers tell apart and that join others: over the loans of a book to who borrowed it. It does where no relation
// alone says what the pattern does, and its words say the event.
func (e *explorer) throughEvents(o open, candidates []Candidate) (found []Candidate, err error) {
	if len(e.types) == 0 || o.isType() {
		return nil, nil
	}
	from, to, other := o.start, farEnd{ends: o.end}, o.pattern.GetEnd()
	reversed := len(from) == 0 || len(to.ends) > 0 && len(to.ends) < len(from)
	if reversed {
		from, to.ends, other = to.ends, from, o.pattern.GetStart()
	}
	if to.steps, err = e.stepsFrom(Candidate{ends: to.ends}, store.In); err != nil {
		return nil, err
	}
	saysOther := func(c Candidate) bool {
		if len(o.start) > 0 && len(o.end) > 0 && !c.Joins && (e.areEvents(c) || !to.isLedTo(c)) {
			return false // what joins the names is neither an event nor a number of one
		}
		return c.Joins || c.Words == 1 && !c.TypeMiss || c.TypeMatch && !e.isDone(o, c) ||
			kgtext.SharesRole(o.phrase, e.lastName(c)) // the year of a birth, of its date
	}
	if slices.ContainsFunc(candidates, saysOther) {
		return nil, nil
	}
	if to.classes, err = e.plannedClasses(other.GetVariable()); err != nil {
		return nil, err
	}
	if known := (Candidate{ends: to.ends}); len(to.classes) == 0 && len(to.ends) > 0 {
		if err = e.typeEnds(&known); err != nil {
			return nil, err
		}
		to.classes = known.EndTypes
	}
	trails := []Candidate{{ends: sample(from, sampled), Coverage: 1}}
	if e.areCells(from) { // who borrowed novels borrowed what has that genre
		isNamed := func(ids []store.EntityID) bool { return !e.areNumbered(ids) }
		described, err := e.findSteps(trails[0], isNamed)
		if err != nil {
			return nil, err
		}
		trails = append(trails, described...)
	}
	for range maxEvents {
		var further []Candidate
		for _, c := range trails {
			events, err := e.findEvents(c)
			if err != nil {
				return nil, err
			}
			further = append(further, events...)
		}
		for _, event := range further {
			beyond, err := e.beyondEvent(event, o, to)
			if err != nil {
				return nil, err
			}
			found = append(found, beyond...)
		}
		if trails = further; len(found) > 0 {
			break
		}
	}
	for i := range found {
		found[i].reverse(reversed)
	}
	return found, nil
}

// timesForm is how often something is done.
var timesForm = regexp.MustCompile(`\btimes\b`)

// findDone returns what says that the things of a pattern are what a participle says, by a relation or over events,
// where nothing is of such a kind: a loan that has "returned on" is returned, a book that has a loan borrowed.
func (e *explorer) findDone(o open) ([]Candidate, error) {
	kind := o.pattern.GetEnd().GetEntity()
	if _, isColumn := e.column(kind); isColumn || o.start == nil || !kgtext.IsParticiple(kind) {
		return nil, nil
	}
	if o.excluded { // else the relation implies it
		candidates, err := e.around(o.start, nil, kind, false, nil)
		at := slices.IndexFunc(candidates, func(c Candidate) bool { return c.Words == 1 && !c.Steps[0].Inverse })
		if err != nil || at >= 0 {
			return candidates[max(at, 0) : at+1], err
		}
	}
	o.phrase, o.pattern = kind+" times", &graphv1.QueryPattern{Start: o.pattern.GetStart()}
	return e.throughEvents(o, nil)
}

// lightForm says of an event only that it happened: orders are placed, donations made.
var lightForm = regexp.MustCompile(`^(?:placed|made|done|submitted|filed|given|performed|carried out)(?: by)?$`)

// sayAgent makes the words of a pattern those of the only relation by which events of its kind lead to things that are
// no events: who placed an order is its customer.
func (e *explorer) sayAgent(o open, candidates []Candidate) {
	if !lightForm.MatchString(o.phrase) || len(o.start) > 0 == (len(o.end) > 0) ||
		kgtext.AskedNumber(e.question) != "" && e.isAsked(o) { // when it was placed
		return
	}
	var found []*Candidate
	isFrom := len(o.start) > 0 && e.areNumbered(o.start)
	for i := range candidates {
		c := &candidates[i]
		isAgent := isFrom && len(c.EndTypes) > 0 && !e.areEvents(*c) || len(o.end) > 0 && c.TypeMatch && e.areEvents(*c)
		if isAgent && len(c.Steps) == 1 && !c.Steps[0].Inverse {
			found = append(found, c)
		}
	}
	if len(found) == 1 {
		found[0].say()
	}
}

// say makes a candidate one that the words of its pattern say.
func (c *Candidate) say() { c.Phrase, c.Words, c.TypeMatch, c.TypeMiss = 1, 1, true, false }

// isDone reports whether the words of a pattern say what is done in the events that a candidate leads to, and not these
// themselves: who has "donated" is no donation.
func (e *explorer) isDone(o open, c Candidate) bool {
	isNoun := func(word string) bool {
		return slices.ContainsFunc(c.EndTypes, func(kind string) bool {
			return kgtext.SameNoun(word, kgtext.LastWord(kgtext.Fold(kind)))
		})
	}
	return e.areEvents(c) && len(c.Steps) == 1 && !slices.ContainsFunc(strings.Fields(o.phrase), isNoun) &&
		len(e.plannedTypes(o.pattern.GetEnd().GetVariable())) == 0
}

// isUnsaidEvent reports whether a candidate leads from what events join to these, such as loans, and neither phrase nor
// question says them.
func (e *explorer) isUnsaidEvent(o open, c Candidate) bool {
	isJoined := c.Steps[len(c.Steps)-1].Inverse // not from a patient to Room 302
	if o.start == nil {
		isJoined = !c.Steps[0].Inverse
	}
	isSaid := func(kind string) bool { return kgtext.IsSaid(kind, o.phrase) || kgtext.IsSaid(kind, e.question) }
	return isJoined && c.Words == 0 && !c.TypeMatch && e.areEvents(c) && !slices.ContainsFunc(c.EndTypes, isSaid)
}

// areEvents reports whether a candidate leads to events.
func (e *explorer) areEvents(c Candidate) bool { return len(c.EndTypes) > 0 && e.areNumbered(c.ends) }

// areNumbered reports whether numbers tell some things apart.
func (e *explorer) areNumbered(ids []store.EntityID) bool {
	isUnnumbered := func(id store.EntityID) bool { return !hasDigit(e.snap.EntityName(id)) }
	return !slices.ContainsFunc(sample(ids, sampled), isUnnumbered)
}

// findEvents returns the steps from the ends of a candidate to events, those of each kind apart, which is the first of
// their types: what has a vehicle may be its trips and its repairs.
func (e *explorer) findEvents(c Candidate) (events []Candidate, err error) {
	all, err := e.findSteps(c, e.areNumbered)
	if err != nil {
		return nil, err
	}
	for _, event := range all {
		if len(event.EndTypes) < 2 {
			events = append(events, event)
			continue
		}
		lists, err := e.snap.Edges(e.ctx, event.ends, store.Out, e.types)
		if err != nil {
			return nil, err
		}
		for _, kind := range event.EndTypes {
			one := event
			others := slices.DeleteFunc(slices.Clone(event.EndTypes), func(k string) bool { return k == kind })
			one.ends, one.EndTypes = nil, append([]string{kind}, others...)
			for i, edges := range lists {
				if slices.ContainsFunc(edges, func(t store.Edge) bool { return e.snap.EntityName(t.Entity) == kind }) {
					one.ends = append(one.ends, event.ends[i])
				}
			}
			events = append(events, one)
		}
	}
	return events, nil
}

// findSteps returns what goes on from the ends of a candidate to ends that fit and are of a kind, at first to what
// refers to them alone.
func (e *explorer) findSteps(c Candidate, fits func([]store.EntityID) bool) (found []Candidate, err error) {
	directions := []store.Direction{store.In}
	if len(c.Steps) > 0 {
		directions = append(directions, store.Out)
	}
	steps, err := e.stepsFrom(c, directions...)
	if err != nil {
		return nil, err
	}
	for _, s := range steps {
		ends, err := e.follow(c.ends, []walk.Step{s})
		if err != nil {
			return nil, err
		}
		if len(ends) == 0 || !fits(ends) { // before their types are read
			continue
		}
		next := c
		if err := e.leadTo(&next, s, ends); err != nil {
			return nil, err
		}
		if len(next.EndTypes) > 0 {
			found = append(found, next)
		}
	}
	return found, nil
}

// stepsFrom returns the steps from some ends of a candidate but the way back, those that say what something is, and
// those that very many have.
func (e *explorer) stepsFrom(c Candidate, directions ...store.Direction) ([]walk.Step, error) {
	found := map[walk.Step]bool{}
	for _, id := range sample(c.ends, linked) {
		for _, dir := range directions {
			relations, err := e.snap.Relations(e.ctx, id, dir)
			if err != nil {
				return nil, err
			}
			for _, r := range relations {
				s := walk.Step{Relation: r.Relation, Inverse: dir == store.In}
				isBack := len(c.Steps) > 0 && c.Steps[len(c.Steps)-1] == s.Reverse()
				if !isBack && r.Edges <= domainSize && !slices.Contains(e.types, r.Relation) {
					found[s] = true
				}
			}
		}
	}
	return slices.SortedFunc(maps.Keys(found), walk.CompareSteps), nil
}

// beyondEvent returns the candidates that go on from events to what is wanted, by its classes, if a pattern says the
// event: its kind, or what is said of it ("borrowed on"). Where no kind is wanted, they also go on to a time or a
// number of the event that the pattern says. Of how often something is done it is the event itself.
func (e *explorer) beyondEvent(event Candidate, o open, to farEnd) (found []Candidate, err error) {
	kind := event.EndTypes[0]
	isSaid, err := e.saysEvent(kind, o.phrase)
	if err != nil {
		return nil, err
	}
	if timesForm.MatchString(o.phrase) { // what was borrowed three times has three loans
		if !isSaid {
			isSaid, err = e.allSay(event, timesForm.ReplaceAllString(o.phrase, ""))
		}
		if event.say(); !isSaid {
			return nil, err
		}
		return []Candidate{event}, nil
	}
	steps, err := e.stepsFrom(event, store.Out)
	if err != nil {
		return nil, err
	}
	says := []string{kind}
	for _, s := range event.Steps {
		says = append(says, e.snap.RelationName(s.Relation))
	}
	isWanted := func(class string) bool { return slices.Contains(to.classes, class) }
	var values []Candidate
	for _, s := range steps {
		c := event
		isOn, err := e.extend(&c, s)
		switch {
		case err != nil:
			return nil, err
		case kgtext.ExcludesWay(o.phrase, e.lastName(c)):
		case isOn && to.isLedTo(c): // a city that is no more than a name, of a trip
			found = append(found, c)
		case isOn && len(to.ends) > 0 && len(to.classes) == 0:
		case isOn && len(c.EndTypes) == 0 && e.isPlannedAs(o, c):
			found = append(found, c)
		case isOn && len(c.EndTypes) == 0:
			values = append(values, c)
		case isOn && (slices.ContainsFunc(c.EndTypes, isWanted) || len(to.classes) == 0 && !e.areEvents(c)):
			found = append(found, c)
		}
	}
	kept := slices.DeleteFunc(slices.Clone(values), func(c Candidate) bool {
		return len(to.classes) > 0 || !e.saysValue(o, c, says)
	})
	if len(kept) == 0 {
		for _, c := range values {
			says = append(says, e.lastName(c))
		}
		kept = slices.DeleteFunc(found, func(c Candidate) bool {
			return !isSaid && kgtext.SharedWords(o.phrase, strings.Join(says, " ")+" "+e.lastName(c)) < 1
		})
	}
	for i := range kept {
		c := &kept[i]
		last := c.Steps[len(c.Steps)-1]
		c.say()
		c.Question, c.Triples = e.cosine(last.Relation, ""), e.snap.RelationTriples(last.Relation)
		c.Joins = slices.ContainsFunc(c.ends, func(id store.EntityID) bool { return slices.Contains(to.ends, id) })
	}
	return kept, nil
}

// allSay reports whether each event has a relation that says what is done in it: an ascent has a climber, who climbed.
func (e *explorer) allSay(event Candidate, done string) (bool, error) {
	steps, err := e.stepsFrom(event, store.Out)
	if err != nil {
		return false, err
	}
	for _, s := range steps {
		if e.matchWords(s.Relation, done) < 1 {
			continue
		}
		lists, err := e.snap.Edges(e.ctx, sample(event.ends, sampled), store.Out, []store.RelationID{s.Relation})
		if err != nil || !slices.ContainsFunc(lists, func(edges []store.Edge) bool { return len(edges) == 0 }) {
			return err == nil, err
		}
	}
	return false, nil
}

// isPlannedAs reports whether the last relation of a candidate has the name of the kind that a pattern asks for: the
// garage of a repair, although nothing is of that kind.
func (e *explorer) isPlannedAs(o open, c Candidate) bool {
	kinds := slices.Concat(e.plannedTypes(o.pattern.GetStart().GetVariable()),
		e.plannedTypes(o.pattern.GetEnd().GetVariable()))
	return slices.ContainsFunc(kinds, func(kind string) bool { return kgtext.SameNoun(kind, e.lastName(c)) })
}

// saysValue reports whether a pattern says the last relation of a candidate, which leads from an event to a value: when
// a book was borrowed, of a loan that has "borrowed on" and "returned on". Words that say the event do not count, and
// those for a time do where the value is one.
func (e *explorer) saysValue(o open, c Candidate, says []string) bool {
	isDate, asksTime := e.endsInDates(c), kgtext.IsTime(o.phrase) || e.valued[o.pattern.GetEnd().GetVariable()]
	switch {
	case o.pattern.GetEnd().GetVariable() == "", isDate && !asksTime:
		return false
	case c.Comparable <= 0.5: // the route, which is of no kind
		return kgtext.SharedWords(o.phrase, e.lastName(c)) == 1
	}
	open := slices.DeleteFunc(slices.Clone(kgtext.NewOpenWords(o.phrase)), func(word string) bool {
		isTime := isDate && kgtext.IsTime(word)
		return isTime || !kgtext.SharesWord(word, e.lastName(c)) && kgtext.SharesWord(word, strings.Join(says, " "))
	})
	if len(open) == 0 {
		return isDate
	}
	return kgtext.SharedWords(strings.Join(open, " "), e.lastName(c)) == 1
}

// containForm says what is in something: the products of an order, over its items.
var containForm = regexp.MustCompile(`^(?:contain(?:s|ed|ing)?|includes?|included|including)(?: in| by)?$`)

// saysEvent reports whether a phrase says an event of a kind in other words.
func (e *explorer) saysEvent(kind, phrase string) (bool, error) {
	switch {
	case kgtext.IsSaid(kind, phrase), containForm.MatchString(phrase), len(kgtext.NewOpenWords(phrase)) == 0:
		return true, nil
	case len(e.vectors[phrase]) == 0:
		return false, nil
	}
	vectors, err := e.encoder.Encode(e.ctx, []string{kind})
	return err == nil && vector.Dot(vectors[0], e.vectors[phrase]) >= clearlyEvent, err
}
