package method

import (
	"regexp"
	"slices"
	"strings"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// findSaid returns the ends of the one relation of what a question names that it says in full, if it says those of no
// answer: who operates a machine is its operator, and not who maintains it. If it says several, there are none.
func findSaid(text string, answers []*orchestratorv1.Answer, ground *graphv1.GroundGraph) []*orchestratorv1.Answer {
	hasSaid := func(a *orchestratorv1.Answer) bool { return isSaid(text, a) }
	if len(answers) == 0 || kgtext.AsksOperation(text) != kgtext.NoOperation || kgtext.IsYesNo(text) ||
		slices.ContainsFunc(answers, hasSaid) {
		return nil
	}
	var common saidStep
	var triples tripleEvidence
	var names []string
	for _, s := range ground.GetSubjects() {
		for _, scored := range s.GetTriples() {
			step, end := stepFromNamed(text, scored.GetTriple())
			switch {
			case !step.isAsked(text) || kgtext.Mentions(step.withoutTopic(text), end) || !canBeAsked(text, end):
				continue
			case step.asksBeyond(text), len(triples) > 0 && step != common:
				return nil
			}
			common, triples, names = step, append(triples, scored.GetTriple()), append(names, end)
		}
	}
	return triples.support(names)
}

// isSaid reports whether a question has a word of a fact that an answer rests on.
func isSaid(text string, a *orchestratorv1.Answer) bool {
	return slices.ContainsFunc(a.GetEvidence(), func(t *graphv1.Triple) bool {
		return kgtext.IsSaid(t.GetRelation(), text)
	})
}

// saidStep is a step from what a question names.
type saidStep struct {
	topic, relation string
	inverse         bool
}

// stepFromNamed returns a triple as a step from its subject, or from its object if the question does not name that, and
// the end of the step.
func stepFromNamed(text string, t *graphv1.Triple) (step saidStep, end string) {
	if kgtext.Mentions(text, t.GetSubject()) {
		return saidStep{t.GetSubject(), t.GetRelation(), false}, t.GetObject()
	}
	return saidStep{t.GetObject(), t.GetRelation(), true}, t.GetSubject()
}

// isAsked reports whether a question asks for the ends of a step: it names the topic and has, beside its name, all
// words of the relation, in this direction. "In which city is the manufacturer of A" asks for something else of the
// end.
func (s saidStep) isAsked(text string) bool {
	if strings.Contains(s.relation, kgtext.Joint) || !kgtext.Mentions(text, s.topic) ||
		s.inverse && asksFor(text, s.relation) || !s.inverse && (kgtext.SaysAgent(text, s.topic, s.relation) ||
		kgtext.AsksWho(text) && kgtext.LeadsToNoOne(s.relation)) {
		return false
	}
	asked, name, words := kgtext.Fold(text), kgtext.Fold(s.topic), kgtext.Fold(kgtext.VerbaliseRelation(s.relation))
	isThing := kgtext.Mentions(asked, "the "+words+" of") || kgtext.Mentions(asked, name+" s "+words)
	isLast := strings.HasSuffix(asked, " of "+name) || strings.HasSuffix(asked, " s "+words)
	if isThing && (!isLast || kgtext.AsksPlace(text) && !kgtext.IsPlace(words)) {
		return false
	}
	return kgtext.NewQuestionWords(s.withoutTopic(text)).MatchAll(s.relation)
}

// withoutTopic returns the words of a question, folded, without the name of the topic.
func (s saidStep) withoutTopic(text string) string {
	return strings.ReplaceAll(" "+kgtext.Fold(text)+" ", " "+kgtext.Fold(s.topic)+" ", " ")
}

// asksBeyond reports whether a question goes on from the ends of a step.
func (s saidStep) asksBeyond(text string) bool {
	step := &graphv1.RelationStep{Relation: s.relation, Inverse: s.inverse}
	return kgtext.AsksBeyond(text, s.topic, step) != "" || kgtext.AsksAgain(text, s.topic)
}

// kindAsked is the noun of "which states border A".
var kindAsked = regexp.MustCompile(`(?i)^(?:\pL+ )?(?:which|what) (\pL+)`)

// asksFor reports whether a question asks for what a relation leads to, by its noun: states, of a relation state.
func asksFor(text, relation string) bool {
	m := kindAsked.FindStringSubmatch(text)
	return m != nil && kgtext.SharesWord(m[1], kgtext.VerbaliseRelation(relation))
}

// canBeAsked reports whether a name can be what a question asks for, by its form. A text in its place may be an order.
func canBeAsked(text, name string) bool {
	switch {
	case kgtext.IsText(name):
		return false
	case kgtext.AskedNumber(text) != "":
		return kgtext.IsNumbered(name)
	case kgtext.AsksWho(text), kgtext.AsksPlace(text):
		return !kgtext.IsValue(name) && !kgtext.IsFlag(name)
	}
	return true
}
