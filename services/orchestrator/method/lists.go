package method

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
)

// Lists that a model which is not known to read well read off a ground graph.

// settleList drops what else was read beside what the question says, and adds the others of the ground graph of which
// it is said: of who visited a place all who did. Models that are not known to read well read one of several lines, or
// too many.
func settleList(q *question.Question, ground *graphv1.GroundGraph) {
	run := q.Snapshot()
	if ReadsWell(run) {
		return
	}
	answers := dropUnsaid(q.Text(), run.GetAnswers())
	if said := findSaid(q.Text(), answers, ground); len(said) > 0 {
		answers = said
	}
	if kgtext.Condition(q.Text()) == "" {
		answers = completeList(q.Text(), answers, ground)
	}
	if !sameNames(answerNames(answers), answerNames(run.GetAnswers())) {
		conclude(q, JoinNames(answers), answers, true)
		q.Replace(JoinNames(answers))
	}
}

// dropUnsaid drops answers whose triples the question has no word of, if it has one of those of another answer: an
// album is no member of a band, nor a name when something was.
func dropUnsaid(text string, answers []*orchestratorv1.Answer) []*orchestratorv1.Answer {
	hasNumber := func(a *orchestratorv1.Answer) bool { return strings.ContainsFunc(a.GetAnswer(), unicode.IsDigit) }
	if kgtext.AskedNumber(text) != "" && slices.ContainsFunc(answers, hasNumber) {
		lacksNumber := func(a *orchestratorv1.Answer) bool { return !hasNumber(a) }
		return slices.DeleteFunc(slices.Clone(answers), lacksNumber)
	}
	all := answers
	goesOn := func(a *orchestratorv1.Answer) bool { return goesOn(text, a, all) }
	answers = slices.DeleteFunc(slices.Clone(answers), goesOn)
	hasSaid := func(a *orchestratorv1.Answer) bool { return isSaid(text, a) }
	if !slices.ContainsFunc(answers, hasSaid) {
		return answers
	}
	isUnsaid := func(a *orchestratorv1.Answer) bool { return !hasSaid(a) || isOpposite(a, answers[0]) }
	return slices.DeleteFunc(slices.Clone(answers), isUnsaid)
}

// goesOn reports whether facts say an answer that go on from what says another one, by a relation that the question has
// no word of: of who coaches a team the coach, and not from where that one is.
func goesOn(text string, answer *orchestratorv1.Answer, all []*orchestratorv1.Answer) bool {
	isFurther := func(t *graphv1.Triple) bool {
		at := strings.LastIndex(t.GetRelation(), kgtext.Joint)
		if at < 0 || kgtext.IsSaid(t.GetRelation()[at+len(kgtext.Joint):], text) {
			return false
		}
		isBefore := func(o *graphv1.Triple) bool {
			return o.GetSubject() == t.GetSubject() && o.GetRelation() == t.GetRelation()[:at]
		}
		return slices.ContainsFunc(all, func(a *orchestratorv1.Answer) bool {
			return slices.ContainsFunc(a.GetEvidence(), isBefore)
		})
	}
	isNot := func(t *graphv1.Triple) bool { return !isFurther(t) }
	return len(answer.GetEvidence()) > 0 && !slices.ContainsFunc(answer.GetEvidence(), isNot)
}

// isOpposite reports whether one fact says an answer, by the same relation as the only one of another answer and the
// other way round: whose advisor somebody is, beside who is theirs.
func isOpposite(answer, other *orchestratorv1.Answer) bool {
	if len(answer.GetEvidence()) != 1 || len(other.GetEvidence()) != 1 {
		return false
	}
	a, b := answer.GetEvidence()[0], other.GetEvidence()[0]
	return a.GetRelation() == b.GetRelation() && !kgtext.IsSymmetric(a.GetRelation()) &&
		(a.GetSubject() == answer.GetAnswer() && a.GetObject() == b.GetSubject() ||
			a.GetObject() == answer.GetAnswer() && a.GetSubject() == b.GetObject())
}

// asksAll is a question for all that something does: "what does A supply".
var asksAll = regexp.MustCompile(`(?i)^(?:what|which \pL+s) (?:do|does|did|are|were|have|has|had) `)

// completeList returns answers with the others of which the same is said.
func completeList(text string, answers []*orchestratorv1.Answer,
	ground *graphv1.GroundGraph) []*orchestratorv1.Answer {
	if len(answers) == 0 || !kgtext.AsksWho(text) && !asksAll.MatchString(text) {
		return answers
	}
	said := relationTo(text, answers[0], ground)
	if said != nil && !kgtext.AsksWho(text) && !kgtext.IsSaid(said.GetRelation(), text) {
		said = nil
	}
	isListed := map[string]bool{}
	for _, a := range answers {
		isListed[kgtext.Fold(a.GetAnswer())] = true
	}
	complete := slices.Clone(answers)
	add := func(name string, t *graphv1.Triple) {
		if folded := kgtext.Fold(name); !isListed[folded] {
			isListed[folded] = true
			complete = append(complete, tripleEvidence{t}.support([]string{name})...)
		}
	}
	isInRole, from := saysRole(text, answers, ground), relationFrom(text, answers[0])
	for _, s := range ground.GetSubjects() {
		for _, scored := range s.GetTriples() {
			t := scored.GetTriple()
			switch {
			case said != nil && t.GetRelation() == said.GetRelation() && t.GetObject() == said.GetObject():
				add(t.GetSubject(), t)
			case isInRole(t), from != nil && t.GetRelation() == from.GetRelation() &&
				t.GetSubject() == from.GetSubject():
				add(t.GetObject(), t)
			}
		}
	}
	return complete
}

var (
	// asksSeveral is a question for more than one.
	asksSeveral = regexp.MustCompile(`(?i)^who (?:are|were)\b`)
	// asksSex is one for women or for men alone.
	asksSex = regexp.MustCompile(`(?i)\b(?:mother|father|daughter|son|sister|brother|wife|wive|husband|actresse?)s?\b`)
)

// saysRole returns whether a triple says of what the question names who else has the role that the question asks for
// and an answer has: of the parents the father, where the answer is the mother.
func saysRole(text string, answers []*orchestratorv1.Answer, ground *graphv1.GroundGraph) func(*graphv1.Triple) bool {
	isAbout := func(t *graphv1.Triple) bool {
		return kgtext.Mentions(text, t.GetSubject()) && !strings.Contains(t.GetRelation(), kgtext.Joint) &&
			kgtext.SharesRole(t.GetRelation(), text)
	}
	isAnswer := func(t *graphv1.Triple) bool {
		return isAbout(t) && slices.ContainsFunc(answers, func(a *orchestratorv1.Answer) bool {
			return kgtext.Fold(a.GetAnswer()) == kgtext.Fold(t.GetObject())
		})
	}
	isScoredAnswer := func(t *graphv1.ScoredTriple) bool { return isAnswer(t.GetTriple()) }
	has := func(s *graphv1.SubjectEvidence) bool { return slices.ContainsFunc(s.GetTriples(), isScoredAnswer) }
	if !asksSeveral.MatchString(text) || asksSex.MatchString(text) || !slices.ContainsFunc(ground.GetSubjects(), has) {
		return func(*graphv1.Triple) bool { return false }
	}
	return isAbout
}

// relationFrom returns the triple by which what a question names does to an answer what is asked for, of a question for
// all of that; nil if there is none.
func relationFrom(text string, answer *orchestratorv1.Answer) *graphv1.Triple {
	if !asksAll.MatchString(text) {
		return nil
	}
	at := slices.IndexFunc(answer.GetEvidence(), func(t *graphv1.Triple) bool {
		return kgtext.Mentions(text, t.GetSubject()) && kgtext.Fold(t.GetObject()) == kgtext.Fold(answer.GetAnswer()) &&
			kgtext.IsSaid(t.GetRelation(), text)
	})
	if at < 0 {
		return nil
	}
	return answer.GetEvidence()[at]
}

// relationTo returns the triple by which an answer is its subject and has to do with the one thing that a question
// names, of several the one whose relation the question says best; nil if that thing says so itself, as a department
// its head, or if there are two.
func relationTo(text string, answer *orchestratorv1.Answer, ground *graphv1.GroundGraph) *graphv1.Triple {
	var best *graphv1.ScoredTriple
	name := kgtext.Fold(answer.GetAnswer())
	for _, s := range ground.GetSubjects() {
		for _, scored := range s.GetTriples() {
			t := scored.GetTriple()
			switch {
			case kgtext.Fold(t.GetObject()) == name && kgtext.Mentions(text, t.GetSubject()):
				return nil
			case kgtext.Fold(t.GetSubject()) != name || kgtext.SharedWords(t.GetObject(), text) < 1:
			case best != nil && best.GetTriple().GetObject() != t.GetObject():
				return nil
			case best == nil || scored.GetRelationScore() > best.GetRelationScore():
				best = scored
			}
		}
	}
	return best.GetTriple()
}
