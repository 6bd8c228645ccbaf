// Package judge tells of claims whether a knowledge graph supports them,
// contradicts them or does not say, with no language model: by their names, by
// the cosines that the retriever measured, and by how relations are used.
package judge

import (
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
)

// Config is how near evidence must be.
type Config struct {
	// MinSupport is the least cosine between the relation of a claim and that of
	// a triple with the same subject and object which supports it, -1 to 1.
	MinSupport float32 `koanf:"min_support"`
	// SupportSlack is how far that may be under the relation of the knowledge
	// graph that is nearest to the claim's: the knowledge graph may hold the claim
	// under a name that is less near.
	SupportSlack float32 `koanf:"support_slack"`
	// MinContradiction and ContradictionSlack are the same for a triple with
	// another object, which contradicts the claim.
	MinContradiction   float32 `koanf:"min_contradiction"`
	ContradictionSlack float32 `koanf:"contradiction_slack"`
	// TakesObject is added to that cosine where the knowledge graph has the
	// claim's object as an object of the relation elsewhere: who is said to play
	// as a goalkeeper is said to be of a position.
	TakesObject float32 `koanf:"takes_object"`
	// MaxSeveral is the share of subjects that may have several objects in a
	// relation which is still taken to have one, 0 to 1.
	MaxSeveral float32 `koanf:"max_several"`
}

// DefaultConfig is what docs/results.md was measured with.
func DefaultConfig() Config {
	return Config{MinSupport: 0.4, SupportSlack: 0.15, MinContradiction: 0.5, ContradictionSlack: 0.2, TakesObject: 0.3, MaxSeveral: 0.1}
}

// maxEvidence is the most triples that a judgement names.
const maxEvidence = 3

// Judge judges each claim by the ground graph.
func Judge(req *verifierv1.JudgeClaimsRequest, cfg Config) []*verifierv1.Judgement {
	uses := map[string]*verifierv1.RelationUse{}
	for _, u := range req.GetUses() {
		uses[u.GetRelation()] = u
	}
	var pool []*graphv1.ScoredTriple
	for _, s := range req.GetGroundGraph().GetSubjects() {
		pool = append(pool, s.GetTriples()...)
	}
	judgements := make([]*verifierv1.Judgement, len(req.GetClaims()))
	for i, c := range req.GetClaims() {
		judgements[i] = newCase(c, pool, uses, cfg).judge()
	}
	return judgements
}

// judge decides a case. What a denial says is judged by what it denies.
func (c *caseOf) judge() *verifierv1.Judgement {
	same, other := c.support(), c.rival()
	if same != nil && other != nil && other.near > same.near+c.cfg.ContradictionSlack && other.single {
		same = nil // both names fit, but in another relation: who was born there did not die there
	}
	switch {
	case same != nil && c.claim.GetNegated():
		return c.verdict(verifierv1.Verdict_VERDICT_CONTRADICTED, same.sure, []*view{same}, "", "the text denies what %s holds", c.graph(same))
	case same != nil:
		return c.verdict(verifierv1.Verdict_VERDICT_SUPPORTED, same.sure, []*view{same}, "", "%s says the same", c.graph(same))
	case other != nil && other.single && c.claim.GetNegated():
		return c.verdict(verifierv1.Verdict_VERDICT_SUPPORTED, other.sure, c.list(other), "", "%s has %s in its place", c.graph(other), c.named(other))
	case other != nil && other.single:
		j := c.verdict(verifierv1.Verdict_VERDICT_CONTRADICTED, other.sure, c.list(other), c.correction(other), "%s has %s in its place", c.graph(other), c.named(other))
		j.CorrectsSubject = other.role == reversed
		return j
	case other != nil:
		return c.verdict(verifierv1.Verdict_VERDICT_NOT_IN_KG, 0.6, nil, "", "%s lists others, and there may be more than it lists", c.graph(other))
	case c.known:
		return c.verdict(verifierv1.Verdict_VERDICT_NOT_IN_KG, 0.8, nil, "", "the knowledge graph holds %s, but nothing of this", c.claim.GetTriple().GetSubject())
	}
	return c.verdict(verifierv1.Verdict_VERDICT_NOT_IN_KG, 0.9, nil, "", "the knowledge graph does not hold %s", c.claim.GetTriple().GetSubject())
}

// support is the best triple that says the same; nil where there is none.
func (c *caseOf) support() (best *view) {
	for _, v := range c.views {
		if !v.same || v.near < c.cfg.MinSupport || v.near < c.nearest-c.cfg.SupportSlack {
			continue
		}
		if best == nil || v.near*v.sure > best.near*best.sure {
			best = v
		}
	}
	return best
}

// rival is the best triple with another object for the same subject and
// relation; nil where there is none, or where one of its list says the same.
func (c *caseOf) rival() (best *view) {
	for _, v := range c.views {
		if v.same || !c.meant(v) || !c.differs(v) {
			continue
		}
		if best == nil || v.single && !best.single || v.single == best.single && v.near > best.near {
			best = v
		}
	}
	return best
}
