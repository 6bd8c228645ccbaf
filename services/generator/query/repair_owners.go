package query

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

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
		owner := r.newVariable("owner")
		r.plan.Clauses = slices.Replace(r.plan.Clauses, i, i+1, valuesClause(owner, names),
			matchClause(newPattern(owner, kind, variableTerm(c.GetValues().GetVariable()))))
		r.because("the question says the " + kind + " of " + names[0])
		return
	}
}

// roleOf is "who are the sons of A", "who is A's uncle" and "what is the capital of A".
var roleOf = regexp.MustCompile(`^(?:[Ww]ho|[Ww]hat) (?:is|are|was|were) (?:all )?(?:(?:the )?(\p{Ll}+) of (?:the )?(` +
	properName + `)|(` + properName + `)['’]s? (\p{Ll}+))\W*$`)

// readRole asks for who has a role for a name, or for its relatives, by the word of the question, whatever the draft
// makes of it: Son(creator="A"). It asks for what a name has where the draft has the name as that of what is asked for:
// City(capital="A").
func (r *repairer) readRole() {
	m := roleOf.FindStringSubmatch(r.question)
	if m == nil || strings.Contains(m[2]+m[3], " and ") {
		return
	}
	role, name := m[1]+m[4], m[2]+m[3]
	if !kgtext.AsksWho(r.question) && !slices.ContainsFunc(r.plan.GetClauses(), func(c *graphv1.QueryClause) bool {
		p := c.GetMatch()
		isName := p.GetEnd().GetEntity() != "" || kgtext.IsListed(r.plan, p.GetEnd().GetVariable())
		return isName && kgtext.DescribeRelation(p) == role &&
			p.GetStart().GetVariable() == r.plan.GetResult().GetVariable()
	}) {
		return
	}
	b := newBuilder()
	owner := b.variable("owner")
	b.add(valuesClause(owner, []string{clean(name)}))
	b.plan.Result = &graphv1.QueryResult{Variable: b.attribute(owner, role)}
	r.replan(b, "the question asks for the "+role+" of "+name)
}

// described are questions for something of a thing that they describe by a name: "where is the maker of A based", "who
// leads the component that A affects", "who directs the museum that has A", "which license does the package that A
// depends on have".
var described = func() (forms []*regexp.Regexp) {
	kind, be, do := `(?P<kind>\p{Ll}+)`, `(?:is|are|was|were)`, `(?:does|did|do)`
	of := kind + ` of (?:the )?(?P<name>` + properName + `)`
	that := kind + ` (?:that|which|who|where|in which|on which) (?:(?:the )?(?P<name>` + properName +
		`) (?P<done>\p{Ll}+(?: \p{Ll}{2,6})?)|(?P<does>\p{Ll}+(?: \p{Ll}{2,6})?) (?:the )?(?P<object>` +
		properName + `))`
	for _, thing := range []string{of, that} {
		for _, form := range []string{
			`^[Ww]here ` + be + ` the ` + thing + ` (?P<where>\p{Ll}+)\W*$`,
			`^(?:[Ww]hat|[Ww]hom?) ` + do + ` the ` + thing + ` (?P<asked>\p{Ll}+)\W*$`,
			`^(?:[Ww]hich|[Ww]hat) (?P<asked>\p{Ll}+) ` + do + ` the ` + thing + ` \p{Ll}+\W*$`,
			`^[Ww]hat ` + be + ` the (?P<asked>(?:\p{Ll}+ )?\p{Ll}+) of the ` + thing + `\W*$`,
			`^[Ii]n (?:which|what) (?P<asked>\p{Ll}+) ` + be + ` the ` + thing + `\W*$`,
			`^[Ww]ho (?P<asked>\p{Ll}{3,}) the ` + thing + `\W*$`,
		} {
			forms = append(forms, regexp.MustCompile(form))
		}
	}
	return forms
}()

// findDescribed returns the parts of a question that describes a thing, by the names of the groups of described; nil if
// it describes none.
func (r *repairer) findDescribed() map[string]string {
	for _, form := range described {
		m := form.FindStringSubmatch(r.question)
		if m == nil {
			continue
		}
		parts := map[string]string{}
		for i, name := range form.SubexpNames() {
			parts[name] = cmp.Or(m[i], parts[name])
		}
		if beForm.MatchString(parts["asked"]) || placeOfName.MatchString(parts["kind"]) {
			return nil
		}
		return parts
	}
	return nil
}

// readDescribed reads a question for something of a thing that it describes by a name, where the draft takes the parts
// for each other or lacks one: of "who leads the component that A affects" Component("A").get("lead").
func (r *repairer) readDescribed() {
	parts := r.findDescribed()
	if parts == nil || r.plan.GetResult().GetFunction() != graphv1.QueryFunction_QUERY_FUNCTION_UNSPECIFIED {
		return
	}
	asked := cmp.Or(parts["asked"], placesOf[parts["where"]], parts["where"])
	name, tie := cmp.Or(parts["name"], parts["object"]), cmp.Or(parts["does"], parts["done"], parts["kind"])
	if r.asksOfDescribed(tie, asked) {
		return
	}
	b := newBuilder()
	thing, owner := b.variable(parts["kind"]), b.variable("owner")
	b.add(valuesClause(owner, []string{clean(name)}))
	if parts["does"] != "" {
		b.pattern(thing, tie, variableTerm(owner), false)
	} else {
		b.pattern(owner, tie, variableTerm(thing), false)
	}
	if tie != parts["kind"] {
		b.add(matchClause(newPattern(thing, TypeRelation, entityTerm(parts["kind"]))))
	}
	b.plan.Result = &graphv1.QueryResult{Variable: b.attribute(thing, asked)}
	r.replan(b, "the question asks for something of the "+parts["kind"])
}

// placesOf is what things have that are somewhere.
var placesOf = map[string]string{"based": "headquarters", "headquartered": "headquarters", "located": "location",
	"situated": "location", "born": "place of birth", "buried": "place of burial"}

// asksOfDescribed reports whether the plan leads from a name by what ties a thing to it, and from there by what is
// asked.
func (r *repairer) asksOfDescribed(tie, asked string) bool {
	isTied, isAsked := false, false
	for _, c := range r.plan.GetClauses() {
		p := c.GetMatch()
		phrase := kgtext.DescribeRelation(p)
		isNamed := p.GetEnd().GetEntity() != "" || kgtext.IsListed(r.plan, p.GetStart().GetVariable()) ||
			kgtext.IsListed(r.plan, p.GetEnd().GetVariable())
		switch {
		case p == nil || phrase == TypeRelation:
		case p.GetEnd().GetVariable() == r.plan.GetResult().GetVariable() && !isNamed:
			isAsked = !kgtext.SharesWord(phrase, tie) || kgtext.SharesWord(phrase, asked)
		case isNamed:
			isTied = !kgtext.SharesWord(phrase, asked) || kgtext.SharesWord(phrase, tie)
		}
	}
	return isTied && isAsked
}
