package query

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

// presentVerb is a verb by which something does something to a name: "depends on", "uses".
var presentVerb = regexp.MustCompile(`^\p{Ll}{2,}s(?: \p{Ll}+)?$`)

// turnVerb asks for what has a relation to a name where the draft asks for what the name has: of "who was influenced by
// A" not by whom A was, and of "what depends on A" not what A depends on.
func (r *repairer) turnVerb() {
	for _, c := range r.plan.GetClauses() {
		p := c.GetMatch()
		phrase, v := kgtext.DescribeRelation(p), p.GetStart().GetVariable()
		isPassive := strings.HasSuffix(phrase, " by")
		if p.GetEnd().GetVariable() == "" || !isPassive && !presentVerb.MatchString(phrase) {
			continue
		}
		for i, other := range r.plan.GetClauses() {
			names := other.GetValues().GetEntities()
			if other.GetValues().GetVariable() != v || len(names) != 1 ||
				!strings.Contains(r.lower, " "+phrase+" "+strings.ToLower(names[0])) ||
				!isPassive && !kgtext.ActsFrom(r.question, names[0], false) {
				continue
			}
			p.Start, p.End = p.GetEnd(), entityTerm(names[0])
			r.because("the question asks for what has " + phrase + " " + names[0])
			r.plan.Clauses = slices.Delete(r.plan.Clauses, i, i+1)
			return
		}
	}
}

var (
	// beforeName is the verb before a name: "directed by", "influenced both".
	beforeName = regexp.MustCompile(`(?i)\b(\p{L}{3,})( by)?\s+(?:(?:both|either|the)\s+)*$`)
	// happens is what happened to some in a place, or by something: "how many people died in".
	happens = regexp.MustCompile(
		`^(?:how many|which|what) \p{Ll}+ ((?:were |was )?\p{Ll}{3,} \p{Ll}{2,4})\s+(?:the\s+)?$`)
)

// nameEvent puts the words of the question in the place of an event and a relation that the draft makes of them: who
// died in A is not what Death(location="A") counts.
func (r *repairer) nameEvent() {
	for i, kind := range r.plan.GetClauses() {
		v := kind.GetMatch().GetStart().GetVariable()
		if v != r.plan.GetResult().GetVariable() || typeOf(kind) == "" || r.sharesWord(typeOf(kind)) {
			continue
		}
		for _, c := range r.plan.GetClauses() {
			p := c.GetMatch()
			name := strings.ToLower(p.GetEnd().GetEntity())
			at := strings.Index(r.lower, name)
			if c == kind || p.GetStart().GetVariable() != v || name == "" || at < 0 ||
				r.sharesWord(kgtext.DescribeRelation(p)) {
				continue
			}
			if m := happens.FindStringSubmatch(r.lower[:at]); m != nil {
				p.Steps = []*graphv1.RelationStep{{Relation: m[1]}}
				r.because("the question says " + m[1])
				r.plan.Clauses = slices.Delete(r.plan.Clauses, i, i+1)
			}
			return
		}
	}
}

// takeVerb puts the verb that the question has before a name in the place of a passive one of the draft: of "who
// influenced A" nobody is influenced by A, and of "the year of films directed by A" nothing is released by A.
func (r *repairer) takeVerb() {
	for _, c := range r.plan.GetClauses() {
		p := c.GetMatch()
		name := strings.ToLower(p.GetEnd().GetEntity())
		was := kgtext.DescribeRelation(p)
		verb, isPassive := strings.CutSuffix(was, " by")
		if name == "" || !isPassive || strings.Count(r.lower, name) != 1 {
			continue
		}
		m := beforeName.FindStringSubmatch(r.lower[:strings.Index(r.lower, name)])
		if m == nil {
			continue
		}
		asked := m[1] + m[2]
		if same := kgtext.SharesWord(verb, m[1]); same == (m[2] != "") || !same && !kgtext.IsParticiple(m[1]) {
			continue
		}
		for _, other := range r.plan.GetClauses() { // of "influenced both A and B" B too
			o := other.GetMatch()
			if o.GetStart().GetVariable() == p.GetStart().GetVariable() && kgtext.DescribeRelation(o) == was {
				o.Steps = []*graphv1.RelationStep{{Relation: asked}}
				r.because("the question says " + asked)
			}
		}
		return
	}
}

// asksOfDeed is "when did A climb B", "by which route did A climb B", "how long did A work on B".
var asksOfDeed = regexp.MustCompile(`^(?:[Ww]hen|(?:[Ii]n|[Oo]n|[Bb]y|[Aa]t|[Ww]ith|[Vv]ia|[Uu]sing) (?:which|what) ` +
	`(?P<asked>\p{Ll}+(?: \p{Ll}+)?)|[Hh]ow (?P<much>long|much|far)) did (?:the )?(?P<doer>` + properName + `) ` +
	`(?P<verb>\p{Ll}+(?: \p{Ll}{2,4})?) (?:the )?(?P<object>` + properName + `)\W*$`)

// readDeed asks for something of what one name did to another, where the draft lacks one of them or what is asked for.
func (r *repairer) readDeed() {
	m := asksOfDeed.FindStringSubmatch(r.question)
	if m == nil {
		return
	}
	part := func(name string) string { return m[asksOfDeed.SubexpIndex(name)] }
	amounts := map[string]string{"long": "duration", "much": "amount", "far": "distance"}
	asked := cmp.Or(part("asked"), amounts[part("much")], firstWord(part("verb"))+" date")
	said := kgtext.FoldWords(strings.Join(kgtext.DescribePlan(r.plan), " "))
	if said.Mention(kgtext.Fold(part("doer"))) && said.Mention(kgtext.Fold(part("object"))) && (part("asked") == "" ||
		kgtext.SharesWord(r.phraseOf(r.plan.GetResult().GetVariable()), asked)) {
		return
	}
	b := newBuilder()
	doer := b.variable("thing")
	b.add(valuesClause(doer, []string{part("doer")}))
	b.pattern(doer, part("verb"), entityTerm(part("object")), false)
	b.plan.Result = &graphv1.QueryResult{Variable: b.attribute(doer, asked)}
	r.replan(b, "the question asks for the "+asked+" of what "+part("doer")+" did")
}

// reportsTo and reports are "who reports to A" and the relation that is drafted of it.
var (
	reportsTo = regexp.MustCompile(`(?i)\breport(?:s|ing|ed)? to\b`)
	reports   = regexp.MustCompile(`^(?:is |are )?report(?:s|ing|ed)?(?: to)?$`)
)

// nameManager reads "who reports to A" as who has A as their manager.
func (r *repairer) nameManager() {
	if !reportsTo.MatchString(r.question) {
		return
	}
	for _, c := range r.plan.GetClauses() {
		if p := c.GetMatch(); reports.MatchString(kgtext.DescribeRelation(p)) {
			p.Steps = []*graphv1.RelationStep{{Relation: "manager"}}
			r.because("one reports to a manager")
		}
	}
}
