package judge

import (
	"fmt"
	"slices"

	"github.com/triplemesh/triplemesh/internal/verbalise"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
)

// caseOf is one claim and all that bears on it.
type caseOf struct {
	claim *verifierv1.ClaimToJudge
	cfg   Config
	views []*view
	// nested are triples that say that one thing lies in another.
	nested []*graphv1.Triple
	// nearest is the nearness of the relation that is nearest to the claim's in
	// all of the knowledge graph: -1 where none was looked for.
	nearest float32
	// known tells that the knowledge graph holds the claim's subject.
	known bool
}

// view is a triple of the knowledge graph as it bears on a claim.
type view struct {
	*graphv1.ScoredTriple
	// role is how the claim's names stand in it.
	role role
	// value is what it has in the place of the claim's object.
	value string
	// near is how near its relation is to the claim's.
	near float32
	// same tells that it says what the claim says.
	same bool
	// single tells that what it says leaves room for nothing else.
	single bool
	// sure is how sure that is, 0 to 1.
	sure float32
}

// role is how a claim's names stand in a triple.
type role int

const (
	// forward: its subject is the claim's.
	forward role = iota
	// inverse: its object is the claim's subject, and its relation is said the
	// other way about: "capital of" and "capital".
	inverse
	// reversed: its subject is the claim's object. Small models swap the two: a
	// county is no capital's capital.
	reversed
)

func newCase(claim *verifierv1.ClaimToJudge, pool []*graphv1.ScoredTriple, uses map[string]*verifierv1.RelationUse, cfg Config) *caseOf {
	c := &caseOf{claim: claim, cfg: cfg, nearest: -1}
	said := verbalise.Fold(verbalise.Relation(claim.GetTriple().GetRelation()))
	near := map[string]*verifierv1.RelationMatch{}
	for _, r := range claim.GetRelations() {
		near[r.GetRelation()] = r
		c.nearest = max(c.nearest, c.nearness(r, said, forward))
	}
	for _, t := range pool {
		if holds(t.GetTriple().GetRelation(), nesting) {
			c.nested = append(c.nested, t.GetTriple())
		}
		r := near[t.GetTriple().GetRelation()]
		if r == nil {
			r = &verifierv1.RelationMatch{Relation: t.GetTriple().GetRelation()}
		}
		for _, v := range c.look(t, said) {
			v.near = c.nearness(r, said, v.role)
			c.nearest = max(c.nearest, v.near)
			c.views = append(c.views, v)
		}
	}
	if slices.ContainsFunc(c.views, func(v *view) bool { return v.role == forward && c.meant(v) }) {
		c.views = slices.DeleteFunc(c.views, func(v *view) bool { return v.role == reversed })
	}
	for _, v := range c.views {
		share := several(uses[v.GetTriple().GetRelation()], v.GetTriple().GetRelation())
		v.single = v.role != inverse && c.meant(v) && share <= cfg.MaxSeveral && c.values(v) == 1
		fit := confidence(v.near)
		if v.same {
			v.sure *= fit
		} else {
			v.sure *= fit * (1 - min(share, 0.5))
		}
	}
	return c
}

// values counts what the list of a view has at the time of the claim and of the
// view: who followed whom in an office held it alone.
func (c *caseOf) values(v *view) int {
	seen := map[string]bool{}
	for _, o := range c.views {
		held := o.GetTriple().GetValidity()
		if o.list() == v.list() && overlap(held, v.GetTriple().GetValidity()) && overlap(held, c.claim.GetTriple().GetValidity()) {
			seen[o.value] = true
		}
	}
	return len(seen)
}

// nearness is how near a relation is to the claim's: their cosine, 1 where their
// names are the same, and more where the knowledge graph has what the claim has
// for an object as an object of the relation.
func (c *caseOf) nearness(r *verifierv1.RelationMatch, said string, role role) float32 {
	near := r.GetScore()
	if verbalise.Fold(verbalise.Relation(r.GetRelation())) == said {
		near = 1
	}
	if role == forward && r.GetTakesObject() || role == reversed && r.GetTakesSubject() || role == inverse {
		near += c.cfg.TakesObject
	}
	return near
}

// meant tells whether a triple's relation is one that the claim may mean.
func (c *caseOf) meant(v *view) bool {
	return v.near >= c.cfg.MinContradiction && v.near >= c.nearest-c.cfg.ContradictionSlack
}

// look reads a triple in all the ways in which it may bear on the claim.
func (c *caseOf) look(t *graphv1.ScoredTriple, said string) (views []*view) {
	claim, triple := c.claim.GetTriple(), t.GetTriple()
	add := func(role role, value string, one, other float32) {
		v := &view{ScoredTriple: t, role: role, value: value, sure: one}
		if other > 0 && overlap(claim.GetValidity(), triple.GetValidity()) {
			v.same, v.sure = true, one*other
		}
		views = append(views, v)
	}
	if subject := alike(claim.GetSubject(), triple.GetSubject(), c.claim.GetSubjects()); subject > 0 {
		c.known = true
		add(forward, triple.GetObject(), subject, alikeValue(claim.GetObject(), triple.GetObject(), c.claim.GetObjects()))
		return views
	}
	object := alike(claim.GetSubject(), triple.GetObject(), c.claim.GetSubjects())
	other := alike(claim.GetObject(), triple.GetSubject(), c.claim.GetObjects())
	if object > 0 {
		c.known = true
	}
	if object > 0 && turns(said, triple.GetRelation()) {
		add(inverse, triple.GetSubject(), object, other)
	}
	if other > 0 && !holds(triple.GetRelation(), ofOneKind) && !holds(triple.GetRelation(), mutual) {
		add(reversed, triple.GetObject(), other, object)
	}
	return views
}

// list is the list of values that a triple's value belongs to.
func (v *view) list() list { return list{v.GetTriple().GetRelation(), v.role} }

type list struct {
	relation string
	role     role
}

// list are the triples of the list that a view belongs to, itself first.
func (c *caseOf) list(first *view) []*view {
	all := []*view{first}
	for _, v := range c.views {
		if v != first && v.list() == first.list() && !slices.ContainsFunc(all, func(o *view) bool { return o.value == v.value }) {
			all = append(all, v)
		}
	}
	return all[:min(len(all), maxEvidence)]
}

// correction is what stands in the place of the claim's object at its time, where
// that is one thing.
func (c *caseOf) correction(v *view) string {
	for _, o := range c.views {
		if o.list() == v.list() && o.value != v.value && overlap(o.GetTriple().GetValidity(), c.claim.GetTriple().GetValidity()) {
			return ""
		}
	}
	return v.value
}

// named are the values of a view's list, in words.
func (c *caseOf) named(first *view) string {
	words := ""
	for i, v := range c.list(first) {
		if i > 0 {
			words += "; "
		}
		words += v.value
	}
	return words
}

// graph names the knowledge graph that a view is of.
func (c *caseOf) graph(v *view) string {
	if kg := v.GetTriple().GetKg(); kg != "" {
		return "the knowledge graph " + kg
	}
	return "the knowledge graph"
}

func (c *caseOf) verdict(verdict verifierv1.Verdict, sure float32, evidence []*view, correction, reason string, args ...any) *verifierv1.Judgement {
	j := &verifierv1.Judgement{Verdict: verdict, Confidence: min(max(sure, 0), 1), Correction: correction, Reason: fmt.Sprintf(reason, args...)}
	for _, v := range evidence {
		j.Evidence = append(j.Evidence, v.ScoredTriple)
	}
	return j
}

// confidence is how likely two relations mean the same, by their nearness.
func confidence(near float32) float32 {
	return min(0.99, max(0.3, 0.4+0.55*near))
}
