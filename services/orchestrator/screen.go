package orchestrator

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/method"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
	"github.com/triplemesh/triplemesh/services/orchestrator/sources"
)

// What to do with questions in a language that the labels of their knowledge graphs are not in.
const (
	// abstainUncovered answers that the question is to be asked in another language.
	abstainUncovered = "abstain"
	// answerUncovered answers them, and counts no triple as saying the answer: for models and encoders
	// of many languages.
	answerUncovered = "answer"
)

const (
	// sampledRelations and sampledTriples are the sizes of the samples of labels near a question.
	sampledRelations = 50
	sampledTriples   = 20
)

// findUncoveredLanguage returns the language of a question that is not English and that none of its
// knowledge graphs seems to have labels in. It calls the retriever only for questions that do not seem
// to be English; a knowledge graph that cannot be sampled counts as covering the language.
func (s *Service) findUncoveredLanguage(ctx context.Context, q *question.Question) (kgtext.Language, bool) {
	language, foreign := kgtext.DetectLanguage(q.Text())
	if !foreign {
		return kgtext.Language{}, false
	}
	for _, kg := range append([]*graphv1.KnowledgeGraphRef{q.KG()}, q.OtherKGs()...) {
		relations, names, err := s.sampleLabels(ctx, kg, q.Text())
		if err != nil || language.IsCoveredBy(relations, names) {
			return kgtext.Language{}, false
		}
	}
	return language, true
}

// sampleLabels returns names of relations and of entities near a text.
func (s *Service) sampleLabels(ctx context.Context, kg *graphv1.KnowledgeGraphRef,
	text string) (relations, names []string, err error) {
	found, err := s.Stages.Retriever.SearchRelations(ctx,
		&retrieverv1.SearchRelationsRequest{Kg: kg, Queries: []string{text}, Limit: sampledRelations})
	if err != nil {
		return nil, nil, err
	}
	for _, hits := range found.GetResults() {
		for _, r := range hits.GetRelations() {
			relations = append(relations, r.GetRelation())
		}
	}
	near, err := s.Stages.Retriever.SearchTriples(ctx,
		&retrieverv1.SearchTriplesRequest{Kg: kg, Queries: []string{text}, Limit: sampledTriples})
	if err != nil {
		return nil, nil, err
	}
	for _, hits := range near.GetResults() {
		for _, t := range hits.GetTriples() {
			names = append(names, t.GetTriple().GetSubject(), t.GetTriple().GetObject())
		}
	}
	return relations, names, nil
}

// screening is what is wrong with a question before it is answered.
type screening struct {
	// refusal says why the question is not answered; empty if it is.
	refusal string
	// doubt says why triples that name the answers may not say what was asked; empty if they may.
	doubt string
}

// screen looks for what a method cannot answer, or cannot answer well: languages that are not
// covered, instructions, several questions at once.
func (s *Service) screen(ctx context.Context, q *question.Question) screening {
	if kgtext.IsInstruction(q.Text()) {
		return screening{refusal: "the text is an instruction, and asks for no fact: ask a question"}
	}
	var found screening
	if language, uncovered := s.findUncoveredLanguage(ctx, q); uncovered {
		found.doubt = fmt.Sprintf("the question seems to be in %s, and the labels of %s are not", language.Name,
			describeSources(q.Snapshot()))
		if !s.AnswerUncovered {
			return screening{refusal: found.doubt + ": ask in the language of the labels"}
		}
	}
	if parts := kgtext.SplitQuestions(q.Text()); parts != nil && found.doubt == "" {
		found.doubt = fmt.Sprintf("the text asks %d questions at once, and the answers do not say which they are to: "+
			"ask one at a time", len(parts))
	}
	return found
}

// refuse makes a run say why its question is not answered.
func refuse(run *orchestratorv1.Run, reason string) {
	run.Grounding, run.GroundingReason = orchestratorv1.Grounding_GROUNDING_ABSTAINED, reason
	run.Text = "No answer: " + reason + "."
}

// doubt makes a run say beside its answers why their evidence may mean something else.
func doubt(run *orchestratorv1.Run, reason string) {
	switch run.GetGrounding() {
	case orchestratorv1.Grounding_GROUNDING_GROUNDED, orchestratorv1.Grounding_GROUNDING_PARTIAL:
		run.Grounding = orchestratorv1.Grounding_GROUNDING_RELATED
	}
	if run.GetGroundingReason() != "" {
		reason = "; " + reason
	}
	run.GroundingReason += reason
}

// hardlyAnswers is the confidence below which answers that may say something else than was asked are withheld on graphs
// that a ranker knows. Of 120 answers of a reader that errs nowhere 13 were right although their words spoke against
// them, all with .61 and more; of 45 to questions that the graph does not answer 22 had less than .2.
const hardlyAnswers = 0.2

// contradict withholds answers whose evidence says something else than was asked: what is nearest to that is no
// answer. It doubts those that rest on no triple, and those that are likely, unless a weak reader read them off facts
// that no ranker knows: what speaks for these is the words.
func contradict(run *orchestratorv1.Run, reason string) {
	byWords := run.GetPgAkv() != nil && !method.IsRanked(run) && !method.ReadsWell(run)
	if run.GetGrounding() == orchestratorv1.Grounding_GROUNDING_UNGROUNDED ||
		!byWords && run.GetConfidence() >= hardlyAnswers {
		doubt(run, reason)
		return
	}
	withholdMisfit(run, reason)
}

// withholdMisfit withholds answers to something else than was asked: the knowledge graph may hold what was.
func withholdMisfit(run *orchestratorv1.Run, reason string) {
	withhold(run, reason)
	run.Text = "No answer was found in " + describeSources(run) + "."
}

// doubtNames doubts answers whose evidence is about nothing that the question names, and withholds them if it is about
// somebody who shares a part of the name that it spells out: the knowledge graph holds nothing of that name.
func doubtNames(run *orchestratorv1.Run, text string) {
	if len(run.GetAnswers()) == 0 {
		return
	}
	first, about := run.GetAnswers()[0], []string{}
	for _, t := range first.GetEvidence() {
		for _, name := range []string{t.GetSubject(), t.GetObject()} {
			if name != first.GetAnswer() {
				about = append(about, name)
			}
		}
	}
	if plan := run.GetQuery().GetPlan(); plan != nil {
		about = append(about, kgtext.PlanNames(plan)...)
	} else if kgtext.NamesNone(text, about) {
		doubt(run, "they are about "+about[0]+", and the question names nothing")
		return
	}
	if kgtext.ConfusesNames(text, about) || kgtext.UnknownName(text, about) != "" {
		contradict(run, "the triples are about "+about[0]+", whose name is not the one in the question")
	}
}

// doubtPath doubts answers if the likeliest path to the first of them joins a fact that the question says
// nothing of, and withholds them if it says another role than it asks for: what somebody's spouse believes in is not
// said of them, nor is their spouse their mother.
func doubtPath(run *orchestratorv1.Run, text string) {
	if len(run.GetAnswers()) == 0 {
		return
	}
	if run.GetQuery() != nil {
		doubtPlan(run, text)
		return
	}
	answer := run.GetAnswers()[0].GetAnswer()
	groups := kgtext.GroupPaths(append(run.GetPgAkv().GetReasoningPaths(), run.GetGer().GetReasoningPaths()...))
	ground := run.GetPgAkv().GetGroundGraph()
	var joined, unfit *graphv1.Triple
	best := kgtext.FindBestGroup(groups, answer)
	if best == nil {
		joined, unfit = kgtext.FindUnasked(ground, text, answer), kgtext.FindUnfit(ground, text, answer)
		best = pathOf(run.GetAnswers()[0], text)
	}
	opposite := findOpposite(run, groups, text)
	switch {
	case joined != nil:
		doubtSteps(run, fmt.Sprintf("%s has what is asked for over \u201c%s\u201d alone, and the question does not "+
			"speak of each of these steps", joined.GetSubject(), joined.GetRelation()))
	case unfit != nil:
		doubt(run, fmt.Sprintf("the triples say \u201c%s\u201d of %s, which hardly fits the question",
			unfit.GetRelation(), unfit.GetSubject()))
	case best == nil:
	case best.IsUnasked():
		doubtSteps(run, fmt.Sprintf("they follow \u201c%s\u201d, and the question does not speak of each of these "+
			"steps", best.Label()))
	case best.OtherRole(text) != "":
		contradict(run, fmt.Sprintf("the triples say who or what is the %s, and the question asks for another role",
			best.OtherRole(text)))
	case len(best.Steps) == 1 && kgtext.AsksBeyond(text, best.TopicEntity, best.Steps[0]) != "":
		doubtBeyond(run, kgtext.AsksBeyond(text, best.TopicEntity, best.Steps[0]), best.TopicEntity)
	case best.AsksAgain(text):
		doubt(run, fmt.Sprintf("they follow \u201c%s\u201d once, and the question asks the same of what that leads to",
			best.Label()))
	case opposite != nil:
		doubt(run, fmt.Sprintf("\u201c%s\u201d is said of %s both ways, and the question seems to ask for the "+
			"other one", opposite.Steps[0].GetRelation(), opposite.TopicEntity))
	case best.IsTurned(text), kgtext.TurnsRole(text, best.Steps[len(best.Steps)-1]):
		doubt(run, fmt.Sprintf("they follow \u201c%s\u201d, and the question asks the other way round", best.Label()))
	}
}

// doubtSteps doubts answers over facts that the question does not speak of, and withholds them if their confidence is
// too low besides.
func doubtSteps(run *orchestratorv1.Run, reason string) {
	if run.GetGrounding() == orchestratorv1.Grounding_GROUNDING_RELATED {
		contradict(run, reason)
		return
	}
	doubt(run, reason)
}

// doubtPlan doubts what a plan of one fact computes if the question asks for something of what that leads to.
func doubtPlan(run *orchestratorv1.Run, text string) {
	var only *graphv1.QueryPattern
	for _, c := range run.GetQuery().GetPlan().GetClauses() {
		if c.GetMatch() != nil && only != nil {
			return
		}
		only = cmp.Or(only, c.GetMatch())
	}
	names := kgtext.PlanNames(run.GetQuery().GetPlan())
	if only == nil || len(only.GetSteps()) > 1 || len(names) != 1 {
		return
	}
	if noun := kgtext.AsksBeyond(text, names[0], only.GetSteps()[0]); noun != "" {
		doubtBeyond(run, noun, names[0])
	}
}

// doubtBeyond doubts answers that one fact says, of what the question asks for of a thing that it describes.
func doubtBeyond(run *orchestratorv1.Run, noun, topic string) {
	doubt(run, fmt.Sprintf("the question asks for something of the %s that it describes, which one fact about %s "+
		"does not say", noun, topic))
}

// findOpposite returns the likeliest path to an answer, or else the fact that says it, if the question asks for the
// other direction; nil if that is so of no answer.
func findOpposite(run *orchestratorv1.Run, groups []*kgtext.PathGroup, text string) *kgtext.PathGroup {
	for _, a := range run.GetAnswers() {
		path := cmp.Or(kgtext.FindBestGroup(groups, a.GetAnswer()), pathOf(a, text))
		if path != nil && kgtext.FindOpposite(run.GetPgAkv().GetGroundGraph(), text, path) != nil {
			return path
		}
	}
	return nil
}

// pathOf returns the fact that says an answer of what the question names, of several one that the question says, as a
// path; nil if there is none.
func pathOf(answer *orchestratorv1.Answer, text string) *kgtext.PathGroup {
	isSaid := func(t *graphv1.Triple) bool { return kgtext.IsSaid(t.GetRelation(), text) }
	evidence := answer.GetEvidence()
	if at := slices.IndexFunc(evidence, isSaid); at > 0 {
		evidence = append([]*graphv1.Triple{evidence[at]}, evidence...)
	}
	for _, t := range evidence {
		path := kgtext.PathTo(t, answer.GetAnswer())
		if kgtext.Mentions(text, path.GetEntities()[0]) {
			return kgtext.GroupPaths([]*graphv1.ReasoningPath{path})[0]
		}
	}
	return nil
}

// doubtConditions doubts answers that were read off facts if the question picks some of them by a
// condition that nothing in their evidence states: no triple says which film is the latest.
func doubtConditions(run *orchestratorv1.Run, text string) {
	if run.GetQuery() != nil || len(run.GetAnswers()) == 0 || method.StatesCondition(run.GetAnswers(), text) {
		return
	}
	doubt(run, fmt.Sprintf("the triples do not say to which of them \u201c%s\u201d applies", kgtext.Condition(text)))
}

// doubtNumber withholds answers to a question for a number or a date if none of them has a number: where
// somebody was born does not say when.
func doubtNumber(run *orchestratorv1.Run, text string) {
	asked := kgtext.AskedNumber(text)
	if asked == "" || len(run.GetAnswers()) == 0 || slices.ContainsFunc(run.GetAnswers(),
		func(a *orchestratorv1.Answer) bool { return kgtext.IsNumbered(a.GetAnswer()) }) {
		return
	}
	contradict(run, fmt.Sprintf("the question asks \u201c%s\u201d, and the triples say no number", asked))
}

// doubtName withholds a date or a number as the answer to a question for who or for things, and a language or a place
// as one to who: when something was discovered does not say by whom, and how many awards there are not which. So it
// does a date for a place, and doubts what is so for what was so before.
func doubtName(run *orchestratorv1.Run, text string) {
	if len(run.GetAnswers()) == 0 {
		return
	}
	first := run.GetAnswers()[0]
	if kgtext.AsksPlace(text) {
		doubtPlace(run, first)
	}
	isFormer := func(t *graphv1.Triple) bool { return kgtext.SaysFormer(t.GetRelation()) }
	if kgtext.SaysFormer(text) && len(first.GetEvidence()) > 0 && !slices.ContainsFunc(first.GetEvidence(), isFormer) {
		doubt(run, "the question asks for what was so before, and the triples do not say that it was")
	}
	if !kgtext.AsksWho(text) && !kgtext.AsksThings(text) {
		return
	}
	isSubject := func(t *graphv1.Triple) bool { return t.GetSubject() == first.GetAnswer() } // the film 300
	isNoOne := func(t *graphv1.Triple) bool {
		return t.GetObject() == first.GetAnswer() && kgtext.LeadsToNoOne(t.GetRelation())
	}
	asksWho := kgtext.AsksWho(text)
	isNoName := kgtext.IsValue(first.GetAnswer()) || asksWho && slices.ContainsFunc(first.GetEvidence(), isNoOne)
	if isNoName && !slices.ContainsFunc(first.GetEvidence(), isSubject) ||
		asksWho && rowForm.MatchString(first.GetAnswer()) {
		contradict(run, "the question asks for a name, and the triples say none")
	}
}

// rowForm is a row of a table that only a number tells apart: "loan 3".
var rowForm = regexp.MustCompile(`^\p{Ll}[\p{Ll} ]* \d+$`)

// doubtRelation withholds what facts say by another relation than the kind that a question asks for, where what it is
// about has one of that name: which hotel a review is about is not its rating.
func doubtRelation(run *orchestratorv1.Run, text string) {
	kinds := kgtext.AskedKinds(text)
	if len(kinds) == 0 || len(run.GetAnswers()) == 0 {
		return
	}
	isKind := func(t *graphv1.Triple) bool {
		return slices.ContainsFunc(kinds, func(kind string) bool {
			return kgtext.SameNoun(kgtext.Fold(kgtext.VerbaliseRelation(t.GetRelation())), kind)
		})
	}
	for _, t := range run.GetAnswers()[0].GetEvidence() {
		isSaid := !kgtext.IsValue(t.GetObject()) && kgtext.IsSaid(t.GetRelation(), text) // the city where one was born
		if isKind(t) || isSaid || t.GetObject() != run.GetAnswers()[0].GetAnswer() ||
			!kgtext.Mentions(text, t.GetSubject()) {
			return
		}
		saysKind := func(other *graphv1.ScoredTriple) bool {
			return other.GetTriple().GetSubject() == t.GetSubject() && isKind(other.GetTriple())
		}
		if slices.ContainsFunc(run.GetPgAkv().GetGroundGraph().GetSubjects(), func(s *graphv1.SubjectEvidence) bool {
			return slices.ContainsFunc(s.GetTriples(), saysKind)
		}) {
			contradict(run, fmt.Sprintf("the triples say the %s of %s, and the question asks for its %s",
				kgtext.VerbaliseRelation(t.GetRelation()), t.GetSubject(), kinds[0]))
			return
		}
	}
}

// doubtPlace withholds a date, and by whom something was done, as the answer to a question for a place.
func doubtPlace(run *orchestratorv1.Run, first *orchestratorv1.Answer) {
	if _, isDate := kgtext.ParseDate(first.GetAnswer()); isDate {
		contradict(run, "the question asks for a place, and the triples say a date")
		return
	}
	isAgent := func(t *graphv1.Triple) bool {
		_, isPassive := kgtext.PassiveVerb(t.GetRelation())
		return isPassive && t.GetObject() == first.GetAnswer()
	}
	if slices.ContainsFunc(first.GetEvidence(), isAgent) {
		contradict(run, "the question asks for a place, and the triples say by whom")
	}
}

// asksBoth names two things that an answer must have to do with both.
var (
	asksBoth   = regexp.MustCompile(`\b[Bb]oth ` + capitalised + ` and ` + capitalised)
	asksShared = regexp.MustCompile(`\b(?:do|did) ` + capitalised + ` and ` + capitalised +
		` (?:share|have in common|both)\b`)
)

// capitalised is a name in capitals.
const capitalised = `(\p{Lu}[\p{L}.'’-]*(?: (?:of )?\p{Lu}[\p{L}.'’-]*)*)`

// doubtBoth doubts answers if the evidence of one is about one of two names only that the question asks about both of.
func doubtBoth(run *orchestratorv1.Run, text string) {
	m := asksBoth.FindStringSubmatch(text)
	if m == nil {
		m = asksShared.FindStringSubmatch(text)
	}
	if m == nil || run.GetQuery() != nil {
		return
	}
	for _, answer := range run.GetAnswers() {
		var said []string
		for _, t := range answer.GetEvidence() {
			said = append(said, t.GetSubject(), t.GetRelation(), t.GetObject())
		}
		for _, name := range m[1:] {
			if !kgtext.Mentions(strings.Join(said, " "), name) {
				doubt(run, fmt.Sprintf("the triples of %s say nothing of %s", answer.GetAnswer(), name))
				return
			}
		}
	}
}

// asksSame is a question for what has something in common with a name: "who has the same mentor as A".
var asksSame = regexp.MustCompile(`(?i)\bsame\b.*\bas\b`)

// doubtShared doubts an answer that one fact says to a question for what two have in common.
func doubtShared(run *orchestratorv1.Run, text string) {
	if run.GetQuery() == nil && asksSame.MatchString(text) && len(run.GetAnswers()) > 0 && !kgtext.IsYesNo(text) &&
		len(run.GetAnswers()[0].GetEvidence()) < 2 {
		doubt(run, "one triple does not say what two have in common")
	}
}

// doubtDate doubts answers at a date if no triple of their evidence has a validity.
func doubtDate(run *orchestratorv1.Run, at string) {
	if at == "" || len(run.GetAnswers()) == 0 || slices.ContainsFunc(run.GetAnswers()[0].GetEvidence(),
		func(t *graphv1.Triple) bool { return t.GetValidity() != nil }) {
		return
	}
	doubt(run, "no triple says when it holds, so that "+at+" chose nothing")
}

// findDoubtful returns the first answer of an assessed run if it was read off facts that may not say what was asked, or
// looked up by a plan in place of these; nil if it was not.
func findDoubtful(run *orchestratorv1.Run, q *question.Question) *orchestratorv1.Answer {
	isLookup := q.Alternative().GetPgAkv() != nil && looksUp(run.GetQuery().GetPlan())
	if run.GetPgAkv() == nil && !isLookup || run.GetPartial() || !isWhole(q) || len(run.GetAnswers()) == 0 ||
		run.GetGrounding() != orchestratorv1.Grounding_GROUNDING_RELATED {
		return nil
	}
	return run.GetAnswers()[0]
}

// looksUp reports whether a plan computes nothing, and asks for what a name has by one fact. Of what has a name, which
// the model reads less well, it does not.
func looksUp(plan *graphv1.QueryPlan) bool {
	facts := 0
	for _, c := range plan.GetClauses() {
		switch p := c.GetMatch(); {
		case p == nil && c.GetValues() == nil:
			return false
		case p != nil && !kgtext.IsType(kgtext.DescribeRelation(p)):
			if facts++; p.GetEnd().GetVariable() != plan.GetResult().GetVariable() || p.GetSteps()[0].GetInverse() {
				return false
			}
		}
	}
	return facts == 1 && plan.GetResult().GetFunction() == graphv1.QueryFunction_QUERY_FUNCTION_UNSPECIFIED
}

// findMissingNames returns the names that a question spells out if its answers rest on a knowledge graph
// and nothing of what was found there shares a word with any of them, nor is linked to them by another
// name. A linker that fails finds none missing. Yes or no is about what the question claims, not about the
// names in it: that a film has another director says nothing of the one who was asked about.
func (s *Service) findMissingNames(ctx context.Context, q *question.Question) []string {
	if len(q.Request().GetTopicEntities()) > 0 || kgtext.IsYesNo(q.Text()) ||
		len(kgtext.MissingNames(q.Text(), nil)) == 0 {
		return nil
	}
	var found []string
	q.Update(func(run *orchestratorv1.Run) {
		if len(run.GetAnswers()) == 0 || run.GetGrounding() == orchestratorv1.Grounding_GROUNDING_UNGROUNDED {
			return
		}
		for _, t := range sources.Evidence(run) {
			found = append(found, t.GetSubject(), t.GetSubjectId(), t.GetObject(), t.GetObjectId())
		}
	})
	missing := kgtext.MissingNames(q.Text(), found)
	if len(found) == 0 || len(missing) == 0 {
		return nil
	}
	linked, err := s.Stages.Retriever.LinkEntities(ctx, &retrieverv1.LinkEntitiesRequest{Kg: q.KG(), Text: q.Text()})
	if err != nil {
		return nil
	}
	for _, l := range linked.GetLinks() {
		if slices.Contains(found, l.GetEntity()) && len(kgtext.MissingNames(q.Text(), []string{l.GetMention()})) == 0 {
			return nil
		}
	}
	return missing
}
