package judge

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
)

// claimCase is a claim with the evidence for and against it.
type claimCase struct {
	claim *verifierv1.ClaimToJudge
	cfg   Config
	views []*view
	// nested are triples of containment: one thing is part of or located in another.
	nested []*graphv1.ScoredTriple
	// kin is what its relation says its object is to its subject, as kgtext.Kin does.
	kin string
	// bestSimilarity is that of the relation of the whole knowledge graph that is nearest to the
	// claim's; -1 if none was searched for.
	bestSimilarity float32
	// bestTaking is the cosine of the nearest relation that has the claim's object as its object.
	bestTaking float32
	// sameTakes reports that a relation with the words of the claim's has the claim's object as its object.
	sameTakes bool
	// subjectKnown reports that the knowledge graph holds the claim's subject.
	subjectKnown bool
}

// view is one reading of a triple of the knowledge graph with regard to a claim.
type view struct {
	*graphv1.ScoredTriple
	// role is how the claim's names map to the triple's.
	role role
	// value is the triple's counterpart of the claim's object, measured that with the unit that its relation names.
	value, measured string
	// similarity is that of its relation to the claim's.
	similarity float32
	// takesOther is set if the relation lacks the claim's object where others have it.
	takesOther bool
	// takes is set if the relation is the only one of the graph that has the claim's object.
	takes bool
	// cosine is that without what else tells the relation.
	cosine float32
	// agrees is set if the triple states the claim.
	agrees bool
	// single is set if the relation has one value, so that another is ruled out.
	single bool
	// confidence of agrees or of the contradiction, 0 to 1.
	confidence float32
}

// role is how a claim's names map to those of a triple.
type role int

const (
	// forward: its subject is the claim's.
	forward role = iota
	// inverse: its object is the claim's subject, and its relation is the inverse: "capital of" and
	// "capital".
	inverse
	// reversed: its subject is the claim's object. Small models swap the two: a
	// county is no capital's capital.
	reversed
)

func newCase(claim *verifierv1.ClaimToJudge, pool []*graphv1.ScoredTriple, uses map[string]*verifierv1.RelationUse,
	cfg Config) *claimCase {
	said := kgtext.Fold(kgtext.VerbaliseRelation(claim.GetTriple().GetRelation()))
	c := &claimCase{claim: claim, cfg: cfg, kin: kgtext.Kin(said, false), bestSimilarity: -1, bestTaking: -1}
	near, takers := map[string]*verifierv1.RelationMatch{}, map[string]bool{}
	for _, r := range claim.GetRelations() {
		near[r.GetRelation()] = r
		c.sameTakes = c.sameTakes || r.GetTakesObject() && haveSameWords(r.GetRelation(), said)
		c.bestSimilarity = max(c.bestSimilarity, c.similarity(r, said, forward))
		if r.GetTakesObject() {
			c.bestTaking = max(c.bestTaking, r.GetScore())
			takers[r.GetRelation()] = true
		}
	}
	for _, t := range pool {
		if namesAll(t.GetTriple().GetRelation(), nesting) {
			c.nested = append(c.nested, t)
		}
	}
	isThing := c.bestTaking >= 0 && !kgtext.IsValue(claim.GetTriple().GetObject())
	for _, t := range pool {
		r := near[t.GetTriple().GetRelation()]
		takesOther := isThing && r != nil && !r.GetTakesObject()
		if r == nil {
			r = &verifierv1.RelationMatch{Relation: t.GetTriple().GetRelation()}
		}
		for _, v := range c.viewsOf(t, said) {
			v.takes = len(takers) == 1 && takers[r.GetRelation()]
			v.similarity, v.cosine, v.takesOther = c.similarity(r, said, v.role), r.GetScore(), takesOther
			c.bestSimilarity = max(c.bestSimilarity, v.similarity)
			c.views = append(c.views, v)
		}
	}
	if slices.ContainsFunc(c.views, func(v *view) bool { return v.role == forward && c.matchesRelation(v) }) {
		c.views = slices.DeleteFunc(c.views, func(v *view) bool { return v.role == reversed })
	}
	for _, v := range c.views {
		share := multiValuedShare(uses[v.GetTriple().GetRelation()], v.GetTriple().GetRelation())
		v.single = v.role != inverse && c.mayRival(v) && c.isSingle(v, share) &&
			!(v.role == forward && c.isForeign())
		fit := confidence(v.similarity)
		if v.agrees {
			v.confidence *= fit
		} else {
			v.confidence *= fit * (1 - min(share, 0.5))
		}
	}
	return c
}

// isForeign reports whether the claim's object is a word that the knowledge graph does not have, and no proper name: it
// may be what the knowledge graph calls otherwise, as a heart attack is a myocardial infarction.
func (c *claimCase) isForeign() bool {
	object, _ := kgtext.CutApproximation(c.claim.GetTriple().GetObject())
	_, isDate := kgtext.ParseDate(object)
	_, isQuantity := kgtext.ParseQuantity(object)
	isCommon := object == strings.ToLower(object) && strings.ContainsFunc(object, unicode.IsLetter)
	return isCommon && !isDate && !isQuantity &&
		!slices.ContainsFunc(c.claim.GetObjects(), func(l *graphv1.EntityLink) bool {
			return l.GetMatch() != graphv1.LinkMatch_LINK_MATCH_FUZZY
		})
}

// isSingle reports whether another value than those of a view's list is ruled out: there is one, of a relation of
// which at most that share of subjects has several. Nobody is born twice, so that of a birth all are places around
// one. A name tells nothing where the graph has the claim's object as another kind of thing: a book published in
// hardcover.
func (c *claimCase) isSingle(v *view, share float32) bool {
	most := c.cfg.MaxSeveral
	switch relation := v.GetTriple().GetRelation(); {
	case kgtext.NamesAny(relation, once) && !kgtext.NamesAny(relation, unlimited):
		return true
	case kgtext.NamesAny(relation, singleValued) && !v.takesOther:
		most = max(most, c.cfg.MaxSeveralOfOne)
	}
	return share <= most && c.values(v) == 1 || c.isOtherCountry(v, share)
}

// isOtherCountry reports whether the claim has another country than the one among the values of a view's list, where
// both say in what the subject lies. Some relations to countries have several, as those of rivers.
func (c *claimCase) isOtherCountry(v *view, share float32) bool {
	relation, countries := v.GetTriple().GetRelation(), map[string]bool{}
	for _, o := range c.views {
		if country := kgtext.CountryOf(o.value); o.list() == v.list() && country != "" {
			countries[country] = true
		}
	}
	isFew := share <= c.cfg.MaxSeveralOfOne || !kgtext.NamesAny(relation, []string{"country"})
	return isFew && len(countries) == 1 && kgtext.AreOtherCountries(v.value, c.claim.GetTriple().GetObject()) &&
		(namesAll(relation, lyingIn) || kgtext.NamesAny(relation, placing))
}

// values counts the values of a view's list that hold at the time of the claim and of the view: each holder of an
// office held it alone. Of a place and one that it lies in, one counts.
func (c *claimCase) values(v *view) int {
	var found []string
	for _, o := range c.views {
		held := o.GetTriple().GetValidity()
		if o.list() == v.list() && overlap(held, v.GetTriple().GetValidity()) &&
			overlap(held, c.claim.GetTriple().GetValidity()) &&
			!slices.ContainsFunc(found, func(one string) bool { return one == o.value || c.isInside(one, o.value) }) {
			found = append(found, o.value)
		}
	}
	return len(found)
}

// isInside reports whether of two values one lies in the other: by a triple, or by its name, "Tessen, Orlanda".
func (c *claimCase) isInside(a, b string) bool {
	return isHead(a, b) || isHead(b, a) || slices.ContainsFunc(c.nested, func(s *graphv1.ScoredTriple) bool {
		t := s.GetTriple()
		return t.GetSubject() == a && t.GetObject() == b || t.GetSubject() == b && t.GetObject() == a
	})
}

// isPlace reports whether a triple's object is where something is, or lies in what a claim's object names behind it:
// "Paris" of "Paris, France".
func (c *claimCase) isPlace(t *graphv1.Triple, said string) bool {
	return namesAll(t.GetRelation(), nesting) || namesAll(t.GetRelation(), placing) ||
		slices.ContainsFunc(c.nested, func(s *graphv1.ScoredTriple) bool {
			return s.GetTriple().GetSubject() == t.GetObject() &&
				said == t.GetObject()+", "+s.GetTriple().GetObject()
		})
}

// isHead reports whether a name begins or ends another one at a comma.
func isHead(part, whole string) bool {
	return strings.HasPrefix(whole, part+",") || strings.HasSuffix(whole, ", "+part)
}

// similarity is that of a relation to the claim's: their cosine, 1 if their names have the same words, and more
// if the claim's object is an object of the relation elsewhere in the knowledge graph.
func (c *claimCase) similarity(r *verifierv1.RelationMatch, said string, role role) float32 {
	near := r.GetScore()
	isSame := haveSameWords(r.GetRelation(), said)
	if isSame || kgtext.Fold(kgtext.VerbaliseRelation(r.GetRelation())) == said {
		near = 1
	}
	if kgtext.SharesMeasure(r.GetRelation(), said) {
		near = max(near, sameMeasure)
	}
	takes := role == forward && (isSame && c.sameTakes || !r.GetFar() && r.GetTakesObject())
	if takes || role == inverse || role == reversed && !r.GetFar() && r.GetTakesSubject() {
		near += c.cfg.TakesObject
	}
	return near
}

// sameMeasure is the least similarity of two relations for the same measure: "cost" and "price".
const sameMeasure = 0.6

// haveSameWords reports whether a relation has the words of a claim's, in another order or counted: "place of death"
// and "deathPlace", "number of rooms" and "rooms".
func haveSameWords(relation, said string) bool {
	const counts = "number"
	words, others := tokens(kgtext.VerbaliseRelation(kgtext.WithoutUnit(relation))), tokens(said)
	isCounted := slices.Contains(words, counts) != slices.Contains(others, counts)
	if isCounted {
		isNumber := func(w string) bool { return w == counts }
		words, others = slices.DeleteFunc(words, isNumber), slices.DeleteFunc(others, isNumber)
	}
	return (isCounted || len(content(words)) > 1) && sameBag(words, others)
}

// matchesRelation reports whether a triple's relation is one that the claim may mean.
func (c *claimCase) matchesRelation(v *view) bool {
	return v.similarity >= c.cfg.MinContradiction && v.similarity >= c.bestSimilarity-c.cfg.ContradictionSlack
}

// viewsOf returns the readings of a triple that may support or contradict the claim.
func (c *claimCase) viewsOf(t *graphv1.ScoredTriple, said string) (views []*view) {
	claim, triple := c.claim.GetTriple(), t.GetTriple()
	add := func(role role, value string, one, other float32) {
		v := &view{ScoredTriple: t, role: role, value: value, measured: value, confidence: one}
		if role == forward {
			v.measured = withUnit(value, triple.GetRelation(), claim.GetObject())
		}
		if other > 0 && overlap(claim.GetValidity(), triple.GetValidity()) {
			v.agrees, v.confidence = true, one*other
		}
		views = append(views, v)
	}
	kin := kgtext.Kin(triple.GetRelation(), false)
	areKin := c.kin != "" && kin != ""
	if subject := nameLikelihood(claim.GetSubject(), triple.GetSubject(), c.claim.GetSubjects()); subject > 0 {
		c.subjectKnown = true
		words := kgtext.Fold(kgtext.VerbaliseRelation(triple.GetRelation()))
		verb, isPassive := kgtext.PassiveVerb(triple.GetRelation())
		acts := isPassive && kgtext.IsActive(said) && kgtext.SharedWords(verb, said) == 1
		isTurned := (said == words+" of" || acts) && kgtext.NamesAny(triple.GetRelation(), sameKind)
		if isTurned || areKin && c.kin != kin {
			return nil // whose mother somebody is is not that one's mother, nor is who influences influenced by it
		}
		object := valueLikelihood(claim.GetObject(),
			withUnit(triple.GetObject(), triple.GetRelation(), claim.GetObject()), c.claim.GetObjects())
		if isHead(triple.GetObject(), claim.GetObject()) && !c.isPlace(triple, claim.GetObject()) {
			object = 0 // one thing of a list
		}
		if belongs(triple.GetRelation(), claim.GetObject(), triple.GetObject()) ||
			belongs(triple.GetRelation(), triple.GetObject(), claim.GetObject()) {
			object = max(object, 0.9)
		}
		add(forward, triple.GetObject(), subject, object)
		return views
	}
	object := nameLikelihood(claim.GetSubject(), triple.GetObject(), c.claim.GetSubjects())
	other := nameLikelihood(claim.GetObject(), triple.GetSubject(), c.claim.GetObjects())
	if object > 0 {
		c.subjectKnown = true
	}
	if object > 0 && isInverseOf(said, triple.GetRelation()) && !(areKin && c.kin == kin) {
		add(inverse, triple.GetSubject(), object, other)
	}
	isOf := func() bool {
		return said == kgtext.Fold(kgtext.VerbaliseRelation(triple.GetRelation()))+" of" && !areKin
	}
	if other > 0 && !isMutual(triple.GetRelation()) &&
		(!kgtext.NamesAny(triple.GetRelation(), sameKind) || isOf()) {
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
func (c *claimCase) list(first *view) []*view {
	all := []*view{first}
	for _, v := range c.views {
		if v != first && v.list() == first.list() &&
			!slices.ContainsFunc(all, func(o *view) bool { return o.value == v.value }) {
			all = append(all, v)
		}
	}
	return all[:min(len(all), c.cfg.MaxEvidence)]
}

// correction is the graph's value for the claim's object at its time, if there is exactly one.
func (c *claimCase) correction(v *view) string {
	for _, o := range c.views {
		if o.list() == v.list() && o.value != v.value && overlap(o.GetTriple().GetValidity(),
			c.claim.GetTriple().GetValidity()) {
			return ""
		}
	}
	return v.value
}

// listValues are the values of a view's list, in words.
func (c *claimCase) listValues(first *view) string {
	words := ""
	for i, v := range c.list(first) {
		if i > 0 {
			words += "; "
		}
		words += v.value
	}
	return words
}

// graph names the knowledge graph of a view.
func (c *claimCase) graph(v *view) string {
	if kg := v.GetTriple().GetKgName(); kg != "" {
		return "the knowledge graph " + kg
	}
	return "the knowledge graph"
}

func (c *claimCase) verdict(verdict verifierv1.Verdict, sure float32, evidence []*view, correction, reason string,
	args ...any) *verifierv1.Judgement {
	j := &verifierv1.Judgement{Verdict: verdict, Confidence: min(max(sure, 0), 1), Correction: correction,
		Reason: fmt.Sprintf(reason, args...)}
	for _, v := range evidence {
		j.Evidence = append(j.Evidence, v.ScoredTriple)
	}
	return j
}

// confidence is the probability that two relations mean the same, by their similarity.
func confidence(near float32) float32 {
	return min(0.99, max(0.3, 0.4+0.55*near))
}
