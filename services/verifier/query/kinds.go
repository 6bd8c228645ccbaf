package query

import (
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

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
		columns[0].GetImplied() == 0 && (isNamed(relationOf(columns[0]), name) ||
		isFlag(columns[0]) && kgtext.SharedWords(relationOf(columns[0]), name) == 1) {
		if x.isCellOf(p.GetStart().GetVariable(), columns[0]) {
			return drop("another clause leads to this column", true)
		}
		x.addColumn(p, columns[0])
		return ""
	}
	if rows := found.GetElsewhere(); len(found.GetCandidates()) == 0 && len(rows) > 0 &&
		!x.bindsElsewhere(at, p.GetStart().GetVariable()) && !x.hasKind(p.GetStart().GetVariable()) {
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
		x.list(p, term.GetLinks(), "these have it in their names")
		return ""
	}
	if len(links) == 0 && len(found.GetCandidates()) > 0 {
		x.addDone(p, found.GetCandidates()[0], false)
		return ""
	}
	named := slices.IndexFunc(links, x.isName)
	if named >= 0 && len(found.GetCandidates()) == 0 && !x.hasKind(p.GetStart().GetVariable()) {
		x.list(p, links[named:named+1], "the question names it")
		return ""
	}
	if len(links) == 0 || len(found.GetCandidates()) == 0 {
		if x.hasNarrower(p.GetStart().GetVariable(), name) {
			return drop("another clause says which", true)
		}
		isNoun := func(relation string) bool { return kgtext.IsNounOf(name, relation) } // a manager by "manager"
		asksWho := strings.HasPrefix(strings.ToLower(x.question), "who ") && !holdsWords(x.question, name)
		return drop(fmt.Sprintf("the knowledge graph does not say what is a %s", name),
			(implied || isAnything(name) || asksWho || x.namesSay(p.GetStart().GetVariable(), name) ||
				x.isEndOf(p.GetStart().GetVariable(), isNoun) ||
				len(links) == 0 && x.isEndOf(p.GetStart().GetVariable(), kgtext.IsPlace)) &&
				!x.tellsApart(p.GetStart().GetVariable(), name))
	}
	best := found.GetCandidates()[0]
	boundElsewhere := x.bindsElsewhere(at, p.GetStart().GetVariable())
	if boundElsewhere && !best.GetJoins() {
		if x.asksKind(name, best) {
			return fmt.Sprintf("nothing that fits the rest of the plan is a %s in the knowledge graph", name)
		}
		return drop(fmt.Sprintf("nothing of it is a %s in the knowledge graph", name), implied)
	}
	isNamed := func(l *graphv1.EntityLink) bool { // "major cities" are not all cities
		return !kgtext.IsSubclass(l.GetEntity(), name) || kgtext.SharedWords(l.GetEntity(), x.question) == 1
	}
	isNarrower := !slices.ContainsFunc(links, isNamed)
	if boundElsewhere && isNarrower {
		return drop(fmt.Sprintf("it is a %s of some sort, such as %s", name, links[0].GetEntity()), true)
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
	if links = anchored(links, best); !isNarrower {
		links = links[:1]
	}
	x.add(p, best, links, false)
	return ""
}

// addDone says what a variable is by what it has: a loan that was returned has "returned on".
func (x *alignment) addDone(p *graphv1.QueryPattern, done *graphv1.RelationCandidate, exclude bool) {
	p = proto.CloneOf(p)
	p.End = &graphv1.QueryTerm{Term: &graphv1.QueryTerm_Variable{Variable: x.newVariable()}}
	x.add(p, done, nil, exclude)
}

// list puts named things in the place of a clause that says what a variable is.
func (x *alignment) list(p *graphv1.QueryPattern, links []*graphv1.EntityLink, reason string) {
	after := listLinks(p.GetStart().GetVariable(), links)
	x.edit(graphv1.EditKind_EDIT_KIND_REPLACE, kgtext.DescribePattern(p), kgtext.DescribeClause(after), reason, nil)
	x.plan.Clauses = append(x.plan.Clauses, after)
}

// isName reports whether what a kind links to is a thing that the question names in capitals behind its first word:
// "who heads the Sales department" of Sales().
func (x *alignment) isName(l *graphv1.EntityLink) bool {
	_, behind, _ := strings.Cut(x.question, " ")
	name := l.GetEntity()
	return l.GetMatch() == graphv1.LinkMatch_LINK_MATCH_EXACT && name != strings.ToLower(name) &&
		kgtext.SharedWords(name, behind) == 1 && strings.Contains(behind, name)
}

// hasKind reports whether the knowledge graph has a kind that the draft says of a variable, of some if there are any.
func (x *alignment) hasKind(variable string, of ...string) bool {
	return x.saysKind(variable, func(name string, isKnown bool) bool {
		isSuch := func(kind string) bool { return kgtext.SameNoun(kind, name) }
		return isKnown && (of == nil || slices.ContainsFunc(of, isSuch))
	})
}

// hasNarrower reports whether another clause that the knowledge graph confirms says a kind of a variable with a word
// before it: electric car beside car.
func (x *alignment) hasNarrower(variable, kind string) bool {
	return x.saysKind(variable, func(name string, isKnown bool) bool {
		return isKnown && strings.HasSuffix(name, " "+kind)
	})
}

// saysKind reports whether the draft says a kind of some sort of a variable. isKnown is set if the knowledge graph has
// that kind.
func (x *alignment) saysKind(variable string, isSort func(name string, isKnown bool) bool) bool {
	for i, c := range x.draft.GetClauses() {
		p := c.GetMatch()
		if p.GetStart().GetVariable() == variable && kgtext.DescribeRelation(p) == typeRelation &&
			isSort(p.GetEnd().GetEntity(), len(x.patterns[i].GetCandidates()) > 0) {
			return true
		}
	}
	return false
}

// isEndOf reports whether a variable is what a relation of some sort leads to, such as where something is: a place of
// any kind.
func (x *alignment) isEndOf(variable string, isSort func(relation string) bool) bool {
	for i, c := range x.draft.GetClauses() {
		candidates := x.patterns[i].GetCandidates()
		if c.GetMatch().GetEnd().GetVariable() == variable && variable != "" && len(candidates) > 0 &&
			!isInverse(candidates[0]) && isSort(relationOf(candidates[0])) {
			return true
		}
	}
	return false
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

// tellsApart reports whether the question says a kind by a word before its noun, of which the plan is said to be too,
// or which it counts: other relations do not imply that a flight is nonstop, and the most horror films are not the most
// films.
func (x *alignment) tellsApart(variable, name string) bool {
	head := strings.LastIndex(name, " ")
	isHead := func(kind string, _ bool) bool { return kind == name[head+1:] }
	counts := func(c *graphv1.QueryClause) bool { return c.GetRank().GetCount() }
	return head > 0 && holdsWords(x.question, name) &&
		(slices.ContainsFunc(x.draft.GetClauses(), counts) || x.saysKind(variable, isHead))
}

// asksKind reports whether the question names a kind of things that the knowledge graph tells apart:
// one of several words, such as major city, since other relations say that a thing is a city and not
// of which sort, or one that its types have.
func (x *alignment) asksKind(name string, c *graphv1.RelationCandidate) bool {
	return holdsWords(x.question, name) && saysClass(c) && (len(strings.Fields(name)) > 1 || saysType(c))
}

// saysType reports whether a relation says what a thing is, and not what it does.
func saysType(c *graphv1.RelationCandidate) bool {
	name := kgtext.Fold(kgtext.VerbaliseRelation(c.GetSteps()[0].GetRelation()))
	return name == "genre" || name == "has genre" || name != "instance of" && kgtext.IsType(name)
}

// saysClass reports whether a relation says what a thing is, such as its occupation.
func saysClass(c *graphv1.RelationCandidate) bool {
	if len(c.GetSteps()) != 1 || c.GetSteps()[0].GetInverse() {
		return false
	}
	switch name := kgtext.Fold(kgtext.VerbaliseRelation(c.GetSteps()[0].GetRelation())); name {
	case "instance of", "occupation", "profession", "position", "job", "role", "office":
		return true
	default:
		return saysType(c) || kgtext.IsSex(name) || strings.HasSuffix(name, " type") ||
			strings.HasSuffix(name, " occupation") || strings.HasSuffix(name, "profession")
	}
}

// addEndType adds what the words of a pattern say of its end: "number of major rivers" counts those
// that are a major river.
func (x *alignment) addEndType(p *graphv1.QueryPattern, best *graphv1.RelationCandidate, phrase string) {
	longest := ""
	for _, t := range best.GetEndTypes() {
		isDone := kgtext.IsParticiple(phrase) && kgtext.SharedWords(t, phrase) == 1 // repairs of "times repaired"
		if len(t) > len(longest) && (isDone || holdsWords(phrase, t)) {
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

// typeRelation is the relation by which types were found, or which a thing of the plan has.
func (x *alignment) typeRelation() string {
	for i, c := range x.draft.GetClauses() {
		isType := c.GetMatch() != nil && kgtext.DescribeRelation(c.GetMatch()) == typeRelation
		for _, candidate := range x.patterns[i].GetCandidates() {
			isOwn := len(candidate.GetSteps()) == 1 && !isInverse(candidate) && kgtext.IsType(relationOf(candidate))
			if isOwn || isType && saysClass(candidate) {
				return candidate.GetSteps()[0].GetRelation()
			}
		}
	}
	return ""
}

// isAnything reports whether a kind restricts nothing: what was born or opened is a person or a place.
func isAnything(kind string) bool {
	switch kgtext.Fold(kind) {
	case "person", "people", "place", "thing", "entity", "item":
		return true
	}
	return false
}
