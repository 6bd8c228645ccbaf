package check

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
)

// describesName ends a statement that may describe a name: "is electric", "is a gold sponsor".
var describesName = regexp.MustCompile(`\b(?:is|was) (?:an? (?:\p{Ll}[\p{Ll}-]* ){1,3})?\p{Ll}[\p{Ll}-]*\W*$`)

// describedForm is what stands behind the name.
var describedForm = regexp.MustCompile(
	`^\W*(?:(?:is|was)\s+)?(an?\s+)?((?:\p{Ll}[\p{Ll}-]*\s+){0,3}\p{Ll}[\p{Ll}-]*)\W*$`)

// judgeDescribed judges a sentence that describes a name by a value alone: A is a gold sponsor if it is a sponsor and a
// fact of it leads to gold. It is not if the only relation which leads from it to such values has another one. It
// returns nil of other sentences, and where no value is like that.
func (c *Checker) judgeDescribed(ctx context.Context, q *question.Question, s kgtext.Sentence,
	named []mention) (*Finding, error) {
	if len(q.OtherKGs()) > 0 || len(named) == 0 || !named[0].isName() || denied.MatchString(s.Text) ||
		!beginsWith(s.Text, named[0]) {
		return nil, nil
	}
	m := describedForm.FindStringSubmatch(s.Text[named[0].end:])
	if m == nil {
		return nil, nil
	}
	around, err := c.listNeighbours(ctx, q, named[0].text, retrieverv1.Direction_DIRECTION_OUT, aroundName)
	if err != nil {
		return nil, err
	}
	value, j := m[2], &verifierv1.Judgement{Confidence: 0.9}
	own := around.GetTriples()
	if m[1] != "" { // with an article the last word is a kind
		kind := kgtext.LastWord(value)
		at := slices.IndexFunc(own, func(t *graphv1.Triple) bool {
			return kgtext.IsType(t.GetRelation()) && kgtext.SameNoun(kgtext.Fold(t.GetObject()), kind)
		})
		if value = strings.TrimSpace(strings.TrimSuffix(value, kind)); at < 0 || value == "" {
			return nil, nil
		}
		j.Evidence = append(j.Evidence, &graphv1.ScoredTriple{Triple: own[at], Score: 1})
	}
	fact, err := c.findDescribing(ctx, q, own, value)
	if fact == nil || err != nil {
		return nil, err
	}
	j.Evidence = append(j.Evidence, &graphv1.ScoredTriple{Triple: fact, Score: 1})
	j.Verdict, j.Reason = verifierv1.Verdict_VERDICT_SUPPORTED, "the knowledge graph says the same"
	if kgtext.Fold(fact.GetObject()) != kgtext.Fold(value) {
		j.Verdict, j.Correction = verifierv1.Verdict_VERDICT_CONTRADICTED, fact.GetObject()
		j.Reason = "the knowledge graph has " + fact.GetObject() + " in its place"
	}
	at := named[0].end + strings.Index(s.Text[named[0].end:], value)
	return &Finding{Judgement: j, Extracted: &generatorv1.ExtractedClaim{
		Triple: &graphv1.Triple{Subject: named[0].text, Relation: kgtext.VerbaliseRelation(fact.GetRelation()),
			Object: value},
		Span: spanOf(s, mention{text: s.Text}), ObjectSpan: spanOf(s, mention{value, at, at + len(value)}),
	}}, nil
}

// findDescribing returns the fact among those of a name that has a value, or else the only one by a relation that leads
// to the value elsewhere; nil if there is none.
func (c *Checker) findDescribing(ctx context.Context, q *question.Question, own []*graphv1.Triple,
	value string) (*graphv1.Triple, error) {
	isTyped := func(t *graphv1.Triple) bool { return kgtext.IsType(t.GetRelation()) }
	own = slices.DeleteFunc(slices.Clone(own), isTyped)
	if i := slices.IndexFunc(own, func(t *graphv1.Triple) bool {
		return kgtext.Fold(t.GetObject()) == kgtext.Fold(value)
	}); i >= 0 {
		return own[i], nil
	}
	elsewhere, err := c.listNeighbours(ctx, q, value, retrieverv1.Direction_DIRECTION_IN, 1)
	leads := map[string]bool{}
	for _, r := range elsewhere.GetRelations() {
		leads[r.GetRelation()] = true
	}
	own = slices.DeleteFunc(own, func(t *graphv1.Triple) bool { return !leads[t.GetRelation()] })
	if err != nil || len(own) != 1 {
		return nil, err
	}
	return own[0], nil
}
