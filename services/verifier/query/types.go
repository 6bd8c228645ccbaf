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
// of most that the variable can be, the clause is left out: other clauses bind it.
func (x *alignment) typePattern(at int, p *graphv1.QueryPattern, found *graphv1.PatternCandidates) string {
	name := p.GetEnd().GetEntity()
	links := x.entities(name)
	drop := func(reason string) string {
		x.edit(graphv1.EditKind_EDIT_KIND_DELETE, kgtext.DescribePattern(p), "", reason, nil)
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
	if len(links) == 0 || len(found.GetCandidates()) == 0 {
		return drop(fmt.Sprintf("the knowledge graph does not say what is a %s", name))
	}
	best := found.GetCandidates()[0]
	boundElsewhere := x.bindsElsewhere(at, p.GetStart().GetVariable())
	if boundElsewhere && !best.GetJoins() {
		return drop(fmt.Sprintf("nothing of it is a %s in the knowledge graph", name))
	}
	if boundElsewhere && float64(best.GetCoverage()) < x.MinType && best.GetImplied() > impliedFrom &&
		!x.asksKind(name, best) {
		return drop(fmt.Sprintf("the other relations say that it is a %s", name))
	}
	if boundElsewhere && float64(best.GetCoverage()) < x.MinType && !saysClass(best) {
		return drop(fmt.Sprintf("the knowledge graph says of few things that they are a %s", name))
	}
	links = anchored(links, best)
	x.add(p, best, links[:1], false)
	return ""
}

// asksKind reports whether the question names a kind of things in several words, such as major city:
// other relations say that a thing is a city, not of which sort.
func (x *alignment) asksKind(name string, c *graphv1.RelationCandidate) bool {
	return len(strings.Fields(name)) > 1 && holdsWords(x.question, name) && saysClass(c)
}

// saysClass reports whether a relation says what a thing is, such as its occupation.
func saysClass(c *graphv1.RelationCandidate) bool {
	if len(c.GetSteps()) != 1 || c.GetSteps()[0].GetInverse() {
		return false
	}
	switch name := kgtext.Fold(c.GetSteps()[0].GetRelation()); name {
	case "type", "instance of", "is a", "occupation", "profession", "position", "kind", "category", "class", "job",
		"role":
		return true
	default:
		return strings.HasSuffix(name, " type") || strings.HasSuffix(name, " occupation") || strings.HasSuffix(name,
			"profession")
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
		if p != nil && phraseOf(p) != typeRelation &&
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
		if p := c.GetMatch(); p != nil && phraseOf(p) == typeRelation {
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
		if !slices.ContainsFunc(words, func(w string) bool { return stem(w) == stem(want) }) {
			return false
		}
	}
	return name != ""
}

// stem takes the plural off a word.
func stem(word string) string {
	switch {
	case strings.HasSuffix(word, "ies") && len(word) > 4:
		return word[:len(word)-3] + "y"
	case strings.HasSuffix(word, "s") && !strings.HasSuffix(word, "ss") && len(word) > 3:
		return word[:len(word)-1]
	}
	return word
}
