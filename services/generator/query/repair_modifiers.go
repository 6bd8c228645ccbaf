package query

import (
	"regexp"
	"slices"
	"strings"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

// mergeKinds makes one thing of two of a draft where the question has a single noun with a word before it: the hybrid
// cars of Hybrid(car=Car(from_="A")).
func (r *repairer) mergeKinds() {
	for i, c := range r.plan.GetClauses() {
		p := c.GetMatch()
		outer, inner := p.GetStart().GetVariable(), p.GetEnd().GetVariable()
		if outer == "" || inner == "" || !kgtext.SameNoun(kgtext.DescribeRelation(p), kindOf(inner)) ||
			r.modifierOf(kindOf(inner)) != kindOf(outer) || !r.hasOtherKind(inner, "") {
			continue
		}
		r.plan.Clauses = slices.Delete(r.plan.GetClauses(), i, i+1)
		for _, other := range r.plan.GetClauses() {
			if m := other.GetMatch(); m.GetStart().GetVariable() == outer {
				m.Start = variableTerm(inner)
			}
		}
		if result := r.plan.GetResult(); result.GetVariable() == outer {
			result.Variable = inner
		}
		r.because("the question says " + kindOf(outer) + " " + kindOf(inner))
		return
	}
}

// addModifiers says of the things of a kind what the question says before its noun, beside the kind itself: in "hours
// spent on billing tickets" these are tickets, and billing tickets.
func (r *repairer) addModifiers() {
	for i := 0; i < len(r.plan.GetClauses()) && len(r.plan.GetClauses()) < maxClauses; i++ {
		c := r.plan.GetClauses()[i]
		kind, v := typeOf(c), c.GetMatch().GetStart().GetVariable()
		head := kgtext.LastWord(kind)
		modifier := r.modifierOf(head)
		if kind == "" || modifier == "" || kind != strings.ToLower(kind) {
			continue
		}
		whole := modifier + " " + head
		switch {
		case kind == whole && r.isOfKind(v, head):
			continue
		case kind == whole: // both, as a graph may have one or the other
			c.GetMatch().End = entityTerm(head)
		case kind != head, r.namesWord(modifier):
			continue
		}
		relation, name := TypeRelation, whole
		if modifier != strings.ToLower(modifier) {
			relation, name = "in", modifier // where they are from: Spanish wines
		}
		r.insert(i+1, "the question says "+whole, matchClause(newPattern(v, relation, entityTerm(name))))
		r.cutPhrase(modifier)
		i++
	}
}

// namesWord reports whether a name, a kind or a relation of one word has a word.
func (r *repairer) namesWord(word string) bool {
	return slices.ContainsFunc(r.plan.GetClauses(), func(c *graphv1.QueryClause) bool {
		p := c.GetMatch()
		if p == nil {
			p = c.GetExclude()
		}
		relation := kgtext.DescribeRelation(p)
		if strings.EqualFold(p.GetEnd().GetEntity(), "yes") {
			return false // Ticket(closed="yes") names nothing
		}
		isAsked := p.GetEnd().GetVariable() == r.plan.GetResult().GetVariable() // .get("nonstop") restricts nothing
		isSaid := relation != TypeRelation && !isAsked &&
			(!strings.Contains(relation, " ") || strings.Contains(r.lower, relation))
		return kgtext.SharesWord(word, strings.Join(c.GetValues().GetEntities(), " ")+" "+p.GetEnd().GetEntity()+" "+
			c.GetCondition().GetValue()) || isSaid && kgtext.SharesWord(word, relation)
	})
}

// cutPhrase takes a word off the relations of a plan that the question does not have with it: the billing of "billing
// hours".
func (r *repairer) cutPhrase(word string) {
	for _, c := range r.plan.GetClauses() {
		step := c.GetMatch().GetSteps()
		if len(step) != 1 || strings.Contains(r.lower, step[0].GetRelation()) {
			continue
		}
		if rest, ok := strings.CutPrefix(step[0].GetRelation(), word+" "); ok {
			step[0].Relation = rest
		}
	}
}

// modified is a noun with what tells its things apart before it, behind a word that begins such a phrase: "which
// electric cars", "hours spent on billing tickets".
var modified = regexp.MustCompile(`\b(?:[Ww]hich|[Ww]hat|many|all|the|of|on|in|from|by|for|with|an?|is|are) ` +
	`(?:\p{Ll}{2,}est |most \p{Ll}+ |first |last )?(\p{L}{3,}) (\p{Ll}+)\b`)

// idleWord matches words before a noun that tell no things apart.
var idleWord = regexp.MustCompile(`^(?:different|distinct|various|individual|unique|separate|other|same|several|` +
	`famous|known|single|whole|entire|total|own|actual|many|much|more|most|less|least|fewer|few|first|last|only|such|` +
	`certain|average|all|each|every|any|both|` + smallNumbers + `)$`)

// modifierOf returns the word that the question has before a noun and that tells its things apart; empty if there is
// none.
func (r *repairer) modifierOf(noun string) string {
	for at := 0; noun != ""; {
		m := modified.FindStringSubmatchIndex(r.question[at:])
		if m == nil {
			return ""
		}
		word, head := r.question[at+m[2]:at+m[3]], r.question[at+m[4]:at+m[5]]
		if kgtext.SameNoun(head, noun) && !idleWord.MatchString(word) && bestWord(word) == "" &&
			!superlativeEnd.MatchString(word+" ") && len(kgtext.NewOpenWords(word)) > 0 {
			return word
		}
		at += m[2] // of "the new electric cars" the second word may begin one
	}
	return ""
}
