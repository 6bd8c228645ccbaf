// Package judge decides whether a knowledge graph supports or contradicts claims, without a language
// model: by names, by the cosines that the retriever measured, and by how relations are used.
package judge

import (
	"regexp"
	"slices"
	"strings"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
)

// Config is how near evidence must be.
type Config struct {
	// MinSupport is the least cosine between the relation of a claim and that of
	// a triple with the same subject and object which supports it, -1 to 1.
	MinSupport float32 `koanf:"min_support"`
	// SupportSlack is how far that may be below the cosine of the knowledge graph's nearest
	// relation: the graph may hold the claim under a less similar name.
	SupportSlack float32 `koanf:"support_slack"`
	// MinOnlyReading is MinSupport for a triple whose relation is the nearest of those that have the
	// claim's object, -1 to 1.
	MinOnlyReading float32 `koanf:"min_only_reading"`
	// MinOnlyKind is MinContradiction for a triple whose relation is the only one that has the claim's object, -1 to 1.
	MinOnlyKind float32 `koanf:"min_only_kind"`
	// MinContradiction and ContradictionSlack are the same for a triple with
	// another object, which contradicts the claim.
	MinContradiction   float32 `koanf:"min_contradiction"`
	ContradictionSlack float32 `koanf:"contradiction_slack"`
	// TakesObject is added to that cosine if the claim's object is an object of the relation
	// elsewhere in the graph: "plays as" with the object goalkeeper means a position.
	TakesObject float32 `koanf:"takes_object"`
	// MaxSeveral is the largest share of subjects with several objects at which a relation still
	// counts as single-valued, 0 to 1.
	MaxSeveral float32 `koanf:"max_several"`
	// MaxSeveralOfOne is MaxSeveral for relations whose name says that most things have one object,
	// such as author, 0 to 1.
	MaxSeveralOfOne float32 `koanf:"max_several_of_one"`
	// MaxEvidence is the most triples that a judgement names.
	MaxEvidence int `koanf:"max_evidence"`
}

// DefaultConfig is what docs/results.md was measured with.
func DefaultConfig() Config {
	return Config{MinSupport: 0.4, SupportSlack: 0.15, MinOnlyReading: 0.25, MinOnlyKind: 0.3, MinContradiction: 0.5,
		ContradictionSlack: 0.2, TakesObject: 0.3, MaxSeveral: 0.1, MaxSeveralOfOne: 0.3,
		MaxEvidence: 3}
}

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

// surelyFlagged is the confidence in a verdict by a relation that says yes or no.
const surelyFlagged = 0.9

// judge decides a case. A denial is judged by the claim that it denies.
func (c *claimCase) judge() *verifierv1.Judgement {
	same, other := c.support(), c.rival()
	if same != nil && other != nil && other.similarity > same.similarity+c.cfg.ContradictionSlack && other.single &&
		!c.isState(same) {
		same = nil // both names fit, but in another relation: who was born there did not die there
	}
	if same == nil && !c.claim.GetNegated() {
		if place, lies := c.containment(); place != nil {
			j := c.verdict(verifierv1.Verdict_VERDICT_SUPPORTED, place.confidence, []*view{place}, "",
				"%s has %s, which lies in it", c.graph(place), place.value)
			j.Evidence = append(j.Evidence, lies)
			return j
		}
	}
	flag := c.flag()
	switch {
	case flag != nil && strings.EqualFold(flag.value, "yes") != c.claim.GetNegated():
		return c.verdict(verifierv1.Verdict_VERDICT_SUPPORTED, surelyFlagged, []*view{flag}, "", "%s says so",
			c.graph(flag))
	case flag != nil:
		return c.verdict(verifierv1.Verdict_VERDICT_CONTRADICTED, surelyFlagged, []*view{flag}, "",
			"%s says %s of it", c.graph(flag), flag.value)
	case same != nil && c.claim.GetNegated():
		return c.verdict(verifierv1.Verdict_VERDICT_CONTRADICTED, same.confidence, []*view{same}, "",
			"the text denies what %s holds", c.graph(same))
	case same != nil:
		return c.verdict(verifierv1.Verdict_VERDICT_SUPPORTED, same.confidence, []*view{same}, "", "%s says the same",
			c.graph(same))
	case other != nil && other.single && c.claim.GetNegated():
		return c.verdict(verifierv1.Verdict_VERDICT_SUPPORTED, other.confidence, c.list(other), "",
			"%s has %s in its place",
			c.graph(other), c.listValues(other))
	case other != nil && other.single:
		j := c.verdict(verifierv1.Verdict_VERDICT_CONTRADICTED, other.confidence, c.list(other), c.correction(other),
			"%s has %s in its place", c.graph(other), c.listValues(other))
		j.CorrectsSubject = other.role == reversed
		return j
	case other != nil:
		return c.verdict(verifierv1.Verdict_VERDICT_NOT_IN_KG, 0.6, c.list(other), "",
			"%s lists %s, and there may be more than it lists", c.graph(other), c.listValues(other))
	case c.subjectKnown:
		return c.verdict(verifierv1.Verdict_VERDICT_NOT_IN_KG, 0.8, nil, "",
			"the knowledge graph holds %s, but nothing of this", c.claim.GetTriple().GetSubject())
	}
	return c.verdict(verifierv1.Verdict_VERDICT_NOT_IN_KG, 0.9, nil, "", "the knowledge graph does not hold %s",
		c.claim.GetTriple().GetSubject())
}

// support is the best triple that agrees with the claim; nil if there is none.
func (c *claimCase) support() (best *view) {
	for _, v := range c.views {
		slack := c.cfg.SupportSlack
		if v.agrees && c.values(v) > 1 {
			slack = max(slack, c.cfg.ContradictionSlack) // a list that would be shown against another value
		}
		isNear := v.similarity >= c.cfg.MinSupport && v.similarity >= c.bestSimilarity-slack
		if !v.agrees || !isNear && !c.isOnlyReading(v) && !c.isLocation(v) && !c.isState(v) || c.saysOther(v) {
			continue
		}
		if best == nil || v.similarity*v.confidence > best.similarity*best.confidence {
			best = v
		}
	}
	return best
}

// saysOther reports whether a triple says another role than the claim: who directed a film need not have written it.
// Parents and children are told apart by the direction of the triple.
func (c *claimCase) saysOther(v *view) bool {
	areKin := c.kin != "" && kgtext.Kin(v.GetTriple().GetRelation(), false) != ""
	return !areKin && c.otherRole(v) != ""
}

// otherRole returns the role that a triple says where the claim says another of the same group.
func (c *claimCase) otherRole(v *view) string {
	return kgtext.OtherRole(c.claim.GetTriple().GetRelation(), "",
		[]*graphv1.RelationStep{{Relation: v.GetTriple().GetRelation()}})
}

// isOnlyReading reports whether no other relation of the object fits the claim better than that of a triple
// which joins its subject and object: who is affiliated with a party is its member where the knowledge graph
// has a party as nothing else. Roles that exclude each other stay apart, and so do places: a company is founded
// in one and has its headquarters in another.
func (c *claimCase) isOnlyReading(v *view) bool {
	relation := v.GetTriple().GetRelation()
	return v.role == forward && !kgtext.NamesAny(relation, locating) &&
		v.cosine >= max(c.cfg.MinOnlyReading, c.bestTaking-c.cfg.SupportSlack) && c.otherRole(v) == ""
}

// mayRival reports whether a triple's relation is one in which another object than the claim's rules that out.
// What something is rules out no other thing that it does: who observed a galaxy is an astronomer all the same.
func (c *claimCase) mayRival(v *view) bool {
	isOther := func() bool {
		return kgtext.IsType(v.GetTriple().GetRelation()) &&
			(v.role == reversed || !beForm.MatchString(kgtext.Fold(c.claim.GetTriple().GetRelation())))
	}
	return (c.matchesRelation(v) || c.isOnlyKind(v)) && !isOther()
}

// beForm matches relations of claims that say what something is.
var beForm = regexp.MustCompile(`\b(?:is|are|was|were|an?|type|kind|sort|class|category|instance|form|of)\b`)

// lightForm matches relations of claims that say no more than that one thing has to do with another.
var lightForm = regexp.MustCompile(`^(?:(?:is|are|was|were) )?(?:an?|in|of|plays?|played|competes?|competed|eaten|` +
	`served|used|(?:type|kind|sort|class|category|instance)(?: of(?: \pL+)?)?)(?: (?:as|in|for|an?|the))*$`)

// isOnlyKind reports whether a triple tells what the claim's object is, as nothing else in the knowledge graph does: a
// team that "plays in" what the graph has as a league alone has another league, and if that is all that is said, the
// words need not be near to each other. Things of one kind may be joined in ways that the graph does not have.
func (c *claimCase) isOnlyKind(v *view) bool {
	relation := v.GetTriple().GetRelation()
	isNear := v.cosine >= c.cfg.MinOnlyKind || lightForm.MatchString(kgtext.Fold(c.claim.GetTriple().GetRelation()))
	return v.takes && v.role == forward && isNear && c.otherRole(v) == "" &&
		c.claim.GetTriple().GetValidity() == nil && !kgtext.NamesAny(relation, locating) &&
		!kgtext.NamesAny(relation, sameKind) && !isMutual(relation)
}

// mayList reports whether one of the values that a view's list has at the time of the claim may be the claim's.
func (c *claimCase) mayList(v *view) bool {
	return slices.ContainsFunc(c.views, func(o *view) bool {
		return o.list() == v.list() && !c.differs(o) &&
			overlap(c.claim.GetTriple().GetValidity(), o.GetTriple().GetValidity())
	})
}

// surelySame is the similarity from which on a relation says what a claim does, whatever else joins its names: who
// lives in a town that nobody is born in was not born there.
const surelySame = 0.8

// isHeld reports whether a triple joins the subject and the object of a claim, by any relation: a course taught in
// English, which is its language, has not its lecturer in the place of that.
func (c *claimCase) isHeld() bool {
	return slices.ContainsFunc(c.views, func(v *view) bool { return v.agrees && v.role == forward })
}

// wasHeld reports whether the claim's object stands where a view has another one by a relation to what was so before:
// who played for a club that is their previous club.
func (c *claimCase) wasHeld(of *view) bool {
	relation := kgtext.Fold(kgtext.VerbaliseRelation(of.GetTriple().GetRelation()))
	return slices.ContainsFunc(c.views, func(v *view) bool {
		before := kgtext.VerbaliseRelation(v.GetTriple().GetRelation())
		return v.agrees && v.role == forward && v.cosine > 0 && kgtext.SaysFormer(before) &&
			kgtext.FoldWords(before).Mention(relation)
	})
}

// flag returns the triple that says yes or no of what the claim says that its subject is: a captain, vegetarian. Of a
// claim that it is the captain of something only no tells, since yes does not say of what.
func (c *claimCase) flag() *view {
	object := strings.Join(tokens(c.claim.GetTriple().GetObject()), " ")
	role := strings.TrimSuffix(kgtext.Fold(kgtext.VerbaliseRelation(c.claim.GetTriple().GetRelation())), " of")
	for _, v := range c.views {
		relation := kgtext.Fold(kgtext.VerbaliseRelation(v.GetTriple().GetRelation()))
		if kgtext.IsFlag(v.value) && v.role == forward && (relation == object ||
			relation == role && strings.EqualFold(v.value, "no") && !kgtext.IsFlag(object)) {
			return v
		}
	}
	return nil
}

// isState reports whether no relation but that of a triple is known to have the claim's object, and the claim says no
// more than that its subject is so: what has the status "sold" is sold.
func (c *claimCase) isState(v *view) bool {
	switch kgtext.Fold(kgtext.VerbaliseRelation(c.claim.GetTriple().GetRelation())) {
	case "is", "is a", "are", "was", "were", "type", "status", "instance of":
		return v.role == forward && (v.takes || c.bestTaking < 0)
	}
	return false
}

// isLocation reports whether a triple says in what its subject lies, and the claim no more than that.
func (c *claimCase) isLocation(v *view) bool {
	return v.role == forward && namesAll(v.GetTriple().GetRelation(), lyingIn) &&
		kgtext.NamesAny(c.claim.GetTriple().GetRelation(), lying)
}

// rival is the best triple with another object for the same subject and relation; nil if there is none.
// What has the claim's subject as its object says nothing of other things that may have it, and where one of several
// places of a birth may be the claim's, the others are not rivals.
func (c *claimCase) rival() (best *view) {
	for _, v := range c.views {
		if v.agrees || v.role == inverse || !c.mayRival(v) || !c.differs(v) || c.saysOther(v) ||
			v.single && c.mayList(v) || v.takesOther && v.similarity < surelySame && c.isHeld() || c.wasHeld(v) {
			continue
		}
		if best == nil || v.single && !best.single || v.single == best.single && v.similarity > best.similarity {
			best = v
		}
	}
	return best
}
