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
	// nearest is the cosine of the relation that is nearest to the claim's in all
	// of the knowledge graph: -1 where none was looked for.
	nearest float32
	// known tells that the knowledge graph holds the claim's subject.
	known bool
}

// view is a triple of the knowledge graph as it bears on a claim.
type view struct {
	*graphv1.ScoredTriple
	// inverse tells that its object is what the claim has for a subject.
	inverse bool
	// value is what it has in the place of the claim's object.
	value string
	// near is the cosine of its relation to the claim's.
	near float32
	// same tells that it says what the claim says.
	same bool
	// single tells that what it says leaves room for nothing else.
	single bool
	// sure is how sure that is, 0 to 1.
	sure float32
}

func newCase(claim *verifierv1.ClaimToJudge, pool []*graphv1.ScoredTriple, uses map[string]*verifierv1.RelationUse, cfg Config) *caseOf {
	c := &caseOf{claim: claim, cfg: cfg, nearest: -1}
	near := map[string]float32{}
	for _, r := range claim.GetRelations() {
		near[r.GetRelation()] = max(near[r.GetRelation()], r.GetScore())
		c.nearest = max(c.nearest, r.GetScore())
	}
	said := verbalise.Fold(verbalise.Relation(claim.GetTriple().GetRelation()))
	for _, t := range pool {
		relation := t.GetTriple().GetRelation()
		score := near[relation]
		if verbalise.Fold(verbalise.Relation(relation)) == said {
			score, c.nearest = 1, 1
		}
		if v := c.look(t, said); v != nil {
			v.near = score
			c.views = append(c.views, v)
		}
	}
	values := map[string]int{}
	seen := map[string]bool{}
	for _, v := range c.views {
		if k := v.list() + "\x00" + v.value; !seen[k] {
			seen[k] = true
			values[v.list()]++
		}
	}
	for _, v := range c.views {
		share := several(uses[v.GetTriple().GetRelation()], v.GetTriple().GetRelation())
		v.single = !v.inverse && share <= cfg.MaxSeveral && (values[v.list()] == 1 || complete(v.GetTriple().GetRelation()))
		if complete(v.GetTriple().GetRelation()) && !v.inverse {
			v.single = true
		}
		fit := confidence(v.near)
		if v.same {
			v.sure *= fit
		} else {
			v.sure *= fit * (1 - min(share, 0.5))
		}
	}
	return c
}

// look reads a triple as the claim's: its subject is the claim's, or the other
// way about. It returns nil where it bears on something else.
func (c *caseOf) look(t *graphv1.ScoredTriple, said string) *view {
	claim, triple := c.claim.GetTriple(), t.GetTriple()
	subject := alike(claim.GetSubject(), triple.GetSubject(), c.claim.GetSubjects())
	if subject > 0 {
		c.known = true
		object := alikeValue(claim.GetObject(), triple.GetObject(), c.claim.GetObjects())
		v := &view{ScoredTriple: t, value: triple.GetObject(), sure: subject}
		if object > 0 && overlap(claim.GetValidity(), triple.GetValidity()) {
			v.same, v.sure = true, subject*object
		}
		return v
	}
	if object := alike(claim.GetSubject(), triple.GetObject(), c.claim.GetSubjects()); object > 0 {
		c.known = true
		if !turns(said, triple.GetRelation()) {
			return nil
		}
		v := &view{ScoredTriple: t, value: triple.GetSubject(), inverse: true, sure: object}
		if subject := alike(claim.GetObject(), triple.GetSubject(), c.claim.GetObjects()); subject > 0 && overlap(claim.GetValidity(), triple.GetValidity()) {
			v.same, v.sure = true, subject*object
		}
		return v
	}
	return nil
}

// list is the list of values that a triple's value belongs to.
func (v *view) list() string {
	return fmt.Sprint(v.GetTriple().GetRelation(), "\x00", v.inverse)
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

// correction is what stands in the place of the claim's object, where that is
// one thing.
func (c *caseOf) correction(v *view) string {
	for _, o := range c.views {
		if o.list() == v.list() && o.value != v.value {
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

// confidence is how likely two relations mean the same, by their cosine.
func confidence(near float32) float32 {
	return min(0.99, max(0.3, 0.55+0.6*(near-0.3)))
}
