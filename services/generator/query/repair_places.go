package query

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

// isPlaced reports whether the question has a name behind a word such as "in".
func (r *repairer) isPlaced(name string) bool {
	name = strings.ToLower(name)
	for _, word := range []string{" in ", " in the ", " of ", " through ", " from ", " within ",
		" into ", " into the "} {
		if strings.Contains(r.lower+" ", word+name+" ") ||
			strings.HasSuffix(strings.TrimRight(r.lower, "?. "), word+name) {
			return true
		}
	}
	return false
}

// placeNamed makes a place of the name of the best of something, or of several: the longest river in A
// is not called A, nor are the rivers of A.
func (r *repairer) placeNamed() {
	for i, c := range r.plan.GetClauses() {
		v := c.GetValues().GetVariable()
		kind := kindOf(v)
		if len(c.GetValues().GetEntities()) != 1 || !r.isPlaced(c.GetValues().GetEntities()[0]) ||
			!r.isRanked(v) && (isGeneric(kind) || !strings.Contains(r.lower, kind+"s ")) {
			continue
		}
		placed := matchClause(newPattern(v, "in", entityTerm(c.GetValues().GetEntities()[0])))
		clauses := []*graphv1.QueryClause{placed}
		if !isGeneric(kind) {
			clauses = []*graphv1.QueryClause{matchClause(newPattern(v, TypeRelation, entityTerm(kind))), placed}
		}
		r.plan.Clauses = slices.Replace(r.plan.Clauses, i, i+1, clauses...)
		r.because("the question asks for the best of several")
		return
	}
}

// isRanked reports whether a ranking chooses among what a variable can be by one of its attributes.
func (r *repairer) isRanked(variable string) bool {
	for _, c := range r.plan.GetClauses() {
		rank := c.GetRank()
		if rank == nil || rank.GetCount() {
			continue
		}
		for _, other := range r.plan.GetClauses() {
			if p := other.GetMatch(); p.GetStart().GetVariable() == variable &&
				p.GetEnd().GetVariable() == rank.GetVariable() {
				return true
			}
		}
	}
	return false
}

// placeKinds makes a place of a second kind of a variable that the question has behind "in": the cities
// of City(north_carolina=True), and those of City(north_carolina="yes").
func (r *repairer) placeKinds() {
	kinds := map[string]int{}
	for _, c := range r.plan.GetClauses() {
		p := c.GetMatch()
		name, phrase := p.GetEnd().GetEntity(), kgtext.DescribeRelation(p)
		switch {
		case strings.EqualFold(name, "yes") && r.isPlaced(phrase):
			name = phrase
		case phrase != TypeRelation:
			continue
		default:
			kinds[p.GetStart().GetVariable()]++
			if kinds[p.GetStart().GetVariable()] < 2 || !r.isPlaced(name) {
				continue
			}
		}
		p.End = entityTerm(name)
		p.Steps = []*graphv1.RelationStep{{Relation: "in"}}
		r.because("the question says in " + name)
	}
}

// joinQualified joins a name and its place, which the question has one behind the other: the second name
// of Thing("Springfield", "Illinois") says which Springfield is meant.
func (r *repairer) joinQualified() {
	for _, c := range r.plan.GetClauses() {
		names := c.GetValues().GetEntities()
		if len(names) != 2 {
			continue
		}
		for _, between := range []string{" ", ", "} {
			whole := names[0] + between + names[1]
			if strings.Contains(r.lower, strings.ToLower(whole)) && !strings.Contains(r.lower, " or ") &&
				!strings.Contains(r.lower, strings.ToLower(whole)+",") {
				c.GetValues().Entities = []string{names[0] + " " + names[1]}
				r.because("the second says where the first is")
				break
			}
		}
	}
}

// placeAtEnd is the place that a question ends with, namedPlace one in capitals anywhere.
var (
	placeAtEnd = regexp.MustCompile(`\b(?:in|within|through) (?:the )?([\p{L}][\p{L}' -]{2,40}?)\s*[?.]*$`)
	namedPlace = regexp.MustCompile(`\b(?:in|within|through) (?:the )?(\p{Lu}[\p{L}'-]+(?: \p{Lu}[\p{L}'-]+)*)`)
)

// openPlace returns the place that the question names, in capitals or at its end, if no clause of the plan
// names it.
func (r *repairer) openPlace() string {
	m := namedPlace.FindStringSubmatch(r.question)
	if m == nil {
		m = placeAtEnd.FindStringSubmatch(r.lower)
	}
	if m == nil || len(strings.Fields(m[1])) > 3 || anySuperlative.MatchString(m[1]) {
		return ""
	}
	place := strings.ToLower(m[1])
	if _, isMonth := kgtext.ParseDate(m[1] + " 2000"); isMonth {
		return ""
	}
	for _, text := range kgtext.DescribePlan(r.plan) {
		if strings.Contains(strings.ToLower(text), place) {
			return ""
		}
	}
	return clean(place)
}

// placeResult puts things in a place that was drafted as what is asked for of them: of River(length="average").get("A")
// the rivers are in A, and the length is asked for.
func (r *repairer) placeResult() {
	result := r.plan.GetResult()
	fact, m := factOf(r.plan, result.GetVariable()), namedPlace.FindStringSubmatch(r.question)
	if m == nil || fact.GetStart().GetVariable() == "" || !strings.EqualFold(kgtext.DescribeRelation(fact), m[1]) {
		return
	}
	fact.Steps, fact.End = []*graphv1.RelationStep{{Relation: "in"}}, entityTerm(m[1])
	result.Variable = fact.GetStart().GetVariable()
	for _, c := range r.plan.GetClauses() {
		if p := c.GetMatch(); p.GetStart().GetVariable() == result.GetVariable() && p.GetEnd().GetVariable() != "" {
			result.Variable = p.GetEnd().GetVariable()
			break
		}
	}
	r.because("the question says in " + m[1])
}

// placeAll puts the things of a kind in the place that the question ends with, a name in capitals, if
// nothing else says which of them are meant: the towns in A are not all towns.
func (r *repairer) placeAll() {
	place, result := r.openPlace(), r.plan.GetResult()
	selects := func(c *graphv1.QueryClause) bool {
		p := c.GetMatch()
		if v := p.GetEnd().GetVariable(); c.GetRank() != nil || c.GetCondition() != nil || v != "" && !r.binds(v, p) {
			return false // the attribute that is asked for, compared, or ranked by
		}
		return p == nil || p.GetSteps()[0].GetRelation() != TypeRelation
	}
	if place == "" || strings.Contains(r.question, place) || slices.ContainsFunc(r.plan.GetClauses(), selects) ||
		result.GetFunction() == graphv1.QueryFunction_QUERY_FUNCTION_DIFFERENCE {
		return
	}
	at := slices.IndexFunc(r.plan.GetClauses(), func(c *graphv1.QueryClause) bool { return c.GetRank() != nil })
	if at < 0 {
		at = len(r.plan.GetClauses())
	}
	r.insert(at, "the question says in "+place, matchClause(newPattern(r.root(), "in", entityTerm(place))))
}

// ofNamed is "the episodes of A", of which something is asked.
var ofNamed = regexp.MustCompile(`\b(\p{Ll}+) (?:of|on|from) (?:the )?(` + properName + `)`)

// nameWholes puts the things of a kind in what the question says that they are of, where the plan has nothing of that:
// the episodes of A that are longer than 45 minutes are not all such episodes.
func (r *repairer) nameWholes() {
	said := strings.ToLower(strings.Join(kgtext.DescribePlan(r.plan), "\n"))
	for _, m := range ofNamed.FindAllStringSubmatch(r.question, -1) {
		at := slices.IndexFunc(r.plan.GetClauses(), func(c *graphv1.QueryClause) bool {
			return typeOf(c) != "" && kgtext.SameNoun(m[1], typeOf(c))
		})
		isTime := unicode.IsDigit([]rune(m[2])[0]) // of the 1990s
		if at >= 0 && !isTime && !strings.Contains(said, strings.ToLower(m[2])) {
			thing := r.plan.GetClauses()[at].GetMatch().GetStart().GetVariable()
			r.insert(at+1, "the question says of "+m[2], matchClause(newPattern(thing, "in", entityTerm(m[2]))))
		}
	}
}

// onNumber is "which departments are on floor 1".
var onNumber = regexp.MustCompile(`^(?:[Ww]hich|[Ww]hat|[Hh]ow many) (\p{Ll}+s|people) ` +
	`(?:are|were|is|was|sit|live|work) (?:in|on|at) (\p{Ll}+) (?:number )?(\d+)\W*$`)

// readNumber asks for what has a number, where the draft takes the number for a name: Floor(1).get("departments").
func (r *repairer) readNumber() {
	m := onNumber.FindStringSubmatch(r.question)
	if m == nil || !slices.ContainsFunc(r.plan.GetClauses(), func(c *graphv1.QueryClause) bool {
		return slices.Equal(c.GetValues().GetEntities(), []string{m[3]})
	}) {
		return
	}
	b := newBuilder()
	v := b.variable(kgtext.Singular(m[1]))
	if m[1] != "people" {
		b.pattern(v, TypeRelation, entityTerm(kgtext.Singular(m[1])), false)
	}
	b.add(conditionClause(b.attribute(v, m[2]), equal, m[3]))
	r.plan.Clauses, r.plan.Result.Variable = b.plan.GetClauses(), v
	r.because("the question asks for what is at this " + m[2])
}

// skipInvented leads past a thing that the question does not name: of "in a province that borders A",
// where it has neither province nor borders, in A is left.
func (r *repairer) skipInvented() {
	for _, kind := range r.plan.GetClauses() {
		t := kind.GetMatch()
		v := t.GetStart().GetVariable()
		if t == nil || t.GetSteps()[0].GetRelation() != TypeRelation || r.sharesWord(t.GetEnd().GetEntity()) {
			continue
		}
		var fact, onto *graphv1.QueryClause
		uses := 0
		for _, c := range r.plan.GetClauses() {
			p := c.GetMatch()
			if slices.Contains(kgtext.ClauseVariables(c), v) {
				uses++
			}
			switch {
			case c == kind || p == nil:
			case p.GetStart().GetVariable() == v && p.GetEnd().GetEntity() != "" &&
				!r.sharesWord(p.GetSteps()[0].GetRelation()):
				fact = c
			case p.GetEnd().GetVariable() == v && p.GetStart().GetVariable() != "":
				onto = c
			}
		}
		if fact == nil || onto == nil || uses != 3 || r.plan.GetResult().GetVariable() == v {
			continue
		}
		onto.GetMatch().Steps = []*graphv1.RelationStep{{Relation: "in"}}
		onto.GetMatch().End = fact.GetMatch().GetEnd()
		r.plan.Clauses = slices.DeleteFunc(slices.Clone(r.plan.Clauses), func(c *graphv1.QueryClause) bool {
			return c == kind || c == fact
		})
		r.because("the question does not say what stands between")
		return
	}
}
