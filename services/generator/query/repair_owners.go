package query

import (
	"regexp"
	"slices"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

// askAgain repeats the one step of a plan from a name if the question asks the same of what it leads to: who manages
// A's manager.
func (r *repairer) askAgain() {
	clauses, result := r.plan.GetClauses(), r.plan.GetResult().GetVariable()
	if len(clauses) != 2 {
		return
	}
	named, asked := clauses[0].GetValues(), clauses[1].GetMatch()
	if len(named.GetEntities()) != 1 || len(asked.GetSteps()) != 1 ||
		asked.GetStart().GetVariable() != named.GetVariable() || asked.GetEnd().GetVariable() != result ||
		!kgtext.AsksAgain(r.question, named.GetEntities()[0]) {
		return
	}
	between := r.newVariable("between")
	again := newPattern(between, kgtext.DescribeRelation(asked), asked.GetEnd())
	asked.End = variableTerm(between)
	r.insert(len(clauses), "the question asks the same of what the step leads to", matchClause(again))
}

// placeOfName are kinds that stand before a name with "of" as what the name is: the city of Vessia.
var placeOfName = regexp.MustCompile(`^(?:city|town|village|state|kingdom|republic|county|country|province|district|` +
	`island|isle|river|lake|bay|gulf|mount(?:ain)?|university|college|school|church|house|port|battle|planet)$`)

// followOwner adds the step from a name to what the question says that this has, where the draft takes one for the
// other: Manufacturer("A") for the manufacturer of A.
func (r *repairer) followOwner() {
	for i, c := range r.plan.GetClauses() {
		names, kind := c.GetValues().GetEntities(), kindOf(c.GetValues().GetVariable())
		if len(names) != 1 || placeOfName.MatchString(kind) || isGeneric(kind) {
			continue
		}
		asked, name := kgtext.FoldWords(r.question), kgtext.Fold(names[0])
		if !asked.Mention("the "+kind+" of "+name) && !asked.Mention(name+" s "+kind) {
			continue
		}
		before, owner := r.describePlan(), r.newVariable("owner")
		r.plan.Clauses = slices.Replace(r.plan.Clauses, i, i+1, valuesClause(owner, names),
			matchClause(newPattern(owner, kind, variableTerm(c.GetValues().GetVariable()))))
		r.editPlan(before, "the question says the "+kind+" of "+names[0])
		return
	}
}

// describedForm is "who maintains the machine that A operates".
var describedForm = regexp.MustCompile(`(?i)^(.*?\bthe \pL+) (?:that|which|who) (.+)$`)

// swapRoles swaps the relations of a thing that the question describes by a name, if the clause about the name says the
// one that is asked for, and what precedes it the other: of "who maintains the machine that A operates", A operates.
func (r *repairer) swapRoles() {
	form, result := describedForm.FindStringSubmatch(r.question), r.plan.GetResult().GetVariable()
	if form == nil {
		return
	}
	var named, asked *graphv1.QueryPattern
	for _, c := range r.plan.GetClauses() {
		switch p := c.GetMatch(); {
		case p == nil || len(p.GetSteps()) != 1:
			return
		case p.GetSteps()[0].GetRelation() == TypeRelation:
		case kgtext.Mentions(form[2], p.GetEnd().GetEntity()) && named == nil:
			named = p
		case asked == nil && p.GetEnd().GetVariable() != "" && p.GetEnd().GetVariable() == result:
			asked = p
		default:
			return
		}
	}
	if named == nil || asked == nil || named.GetStart().GetVariable() != asked.GetStart().GetVariable() {
		return
	}
	isSwapped := func(p *graphv1.QueryPattern, there, not string) bool {
		phrase := kgtext.DescribeRelation(p)
		return kgtext.SharesWord(phrase, there) && !kgtext.SharesWord(phrase, not)
	}
	if isSwapped(named, form[1], form[2]) && isSwapped(asked, form[2], form[1]) {
		before := r.describePlan()
		named.Steps, asked.Steps = asked.GetSteps(), named.GetSteps()
		r.editPlan(before, "the clause about "+named.GetEnd().GetEntity()+" says the other relation")
	}
}
