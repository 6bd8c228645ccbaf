package method

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
	"github.com/triplemesh/triplemesh/services/orchestrator/sources"
)

const (
	// maxTriples is the maximum number of triples of a fixed graph.
	maxTriples = 4096
	// maxEvidencePaths is the maximum number of reasoning paths shown as evidence of one answer.
	maxEvidencePaths = 3
)

// evidence supports answers.
type evidence interface {
	// support returns an answer for each name, with the triples that name it.
	support(names []string) []*orchestratorv1.Answer
	// triples returns all triples.
	triples() []*graphv1.Triple
}

// tripleEvidence are triples; nil is no evidence.
type tripleEvidence []*graphv1.Triple

func (e tripleEvidence) triples() []*graphv1.Triple { return e }

// support returns the triples with the name as subject or object, else those with an object that it stands for.
func (e tripleEvidence) support(names []string) []*orchestratorv1.Answer {
	answers := make([]*orchestratorv1.Answer, len(names))
	for i, name := range names {
		answers[i] = &orchestratorv1.Answer{Answer: name}
		key := kgtext.Fold(name)
		if key == "" {
			continue
		}
		for _, t := range e {
			switch key {
			case kgtext.Fold(t.GetObject()):
				addEvidence(answers[i], t, t.GetObjectId())
			case kgtext.Fold(t.GetSubject()):
				addEvidence(answers[i], t, t.GetSubjectId())
			}
		}
		if len(answers[i].GetEvidence()) == 0 {
			for _, t := range e {
				if kgtext.StandsFor(name, t.GetObject()) {
					addEvidence(answers[i], t, t.GetObjectId())
				}
			}
		}
		respell(answers[i])
	}
	return answers
}

// respell gives a number and a name without what qualifies it as all its evidence does: -3.35 for 3.35, with its unit.
// A date stays as the model writes it.
func respell(a *orchestratorv1.Answer) {
	_, isNumber := kgtext.ParseQuantity(a.GetAnswer())
	spelled := ""
	for _, t := range a.GetEvidence() {
		object := t.GetObject()
		isSame := kgtext.Fold(object) == kgtext.Fold(a.GetAnswer())
		if spelled != "" && object != spelled || isSame && !isNumber ||
			!isSame && !kgtext.StandsFor(a.GetAnswer(), object) {
			return
		}
		spelled = object
	}
	if _, isDate := kgtext.ParseDate(spelled); spelled != "" && !isDate {
		a.Answer = spelled
	}
}

// addEvidence adds a triple that names an answer by an id; the first id counts.
func addEvidence(a *orchestratorv1.Answer, t *graphv1.Triple, id string) {
	a.Evidence = append(a.Evidence, t)
	if a.Id == "" {
		a.Id = id
	}
}

// pathEvidence are reasoning paths.
type pathEvidence []*graphv1.ReasoningPath

// support returns the paths that end in the name, else the triples of all paths that name it.
func (e pathEvidence) support(names []string) []*orchestratorv1.Answer {
	return supportOnPaths(names, e, e.triples())
}

// supportOnPaths returns an answer for each name, with the triples of the paths that end in it, else
// those of others that name it.
func supportOnPaths(names []string, paths []*graphv1.ReasoningPath, others tripleEvidence) []*orchestratorv1.Answer {
	answers := answersOnPaths(names, paths)
	for i, a := range answers {
		if len(a.GetEvidence()) == 0 {
			answers[i] = others.support([]string{a.GetAnswer()})[0]
		}
	}
	return answers
}

func (e pathEvidence) triples() []*graphv1.Triple {
	var triples []*graphv1.Triple
	seen := map[[4]string]bool{}
	for _, p := range e {
		triples = appendNew(triples, seen, sources.PathTriples(p))
	}
	return triples
}

// answersOnPaths returns an answer for each name, with the distinct triples of the first reasoning
// paths that end in it.
func answersOnPaths(names []string, paths []*graphv1.ReasoningPath) []*orchestratorv1.Answer {
	byEnd := map[string][]*graphv1.ReasoningPath{}
	for _, p := range paths {
		end := answerKey(kgtext.PathEnd(p))
		byEnd[end] = append(byEnd[end], p)
	}
	answers := make([]*orchestratorv1.Answer, len(names))
	for i, name := range names {
		answers[i] = &orchestratorv1.Answer{Answer: name}
		own := byEnd[answerKey(name)]
		seen := map[[4]string]bool{}
		for _, p := range own[:min(len(own), maxEvidencePaths)] {
			if answers[i].Id == "" {
				answers[i].Id = kgtext.PathEndID(p)
			}
			answers[i].Evidence = appendNew(answers[i].Evidence, seen, sources.PathTriples(p))
		}
	}
	return answers
}

func appendNew(triples []*graphv1.Triple, seen map[[4]string]bool, more []*graphv1.Triple) []*graphv1.Triple {
	for _, t := range more {
		key := [4]string{t.GetSubject(), t.GetRelation(), t.GetObject(), t.GetKgName()}
		if !seen[key] {
			seen[key] = true
			triples = append(triples, t)
		}
	}
	return triples
}

// answerKey is equal for spellings of one name. A name of punctuation only is its own key.
func answerKey(name string) string {
	if key := kgtext.Fold(name); key != "" {
		return key
	}
	return name
}

// Graphs to answer from.

// newFixedGraph returns a graph of triples with one status. The last triples stand nearest to the
// question in the prompt, so these are kept if there are too many.
func newFixedGraph(triples []*graphv1.Triple, status graphv1.TripleStatus) *graphv1.FixedGraph {
	graph := &graphv1.FixedGraph{}
	for _, t := range triples[max(0, len(triples)-maxTriples):] {
		graph.Triples = append(graph.Triples, &graphv1.FixedTriple{Triple: t, Status: status})
	}
	return graph
}

func supportedTriples(fixed *graphv1.FixedGraph) tripleEvidence {
	var triples tripleEvidence
	for _, t := range fixed.GetTriples() {
		if t.GetStatus() == graphv1.TripleStatus_TRIPLE_STATUS_SUPPORTED {
			triples = append(triples, t.GetTriple())
		}
	}
	return triples
}

// ascendingTriples returns the triples of a ground graph from the least to the best supported
// subject, and of each subject from the worst to the best triple.
func ascendingTriples(ground *graphv1.GroundGraph) []*graphv1.Triple {
	var triples []*graphv1.Triple
	for _, s := range slices.Backward(ground.GetSubjects()) {
		for _, t := range slices.Backward(s.GetTriples()) {
			triples = append(triples, t.GetTriple())
		}
	}
	return triples
}

// nearestTriple returns the triple of a ground graph nearest to the question; nil if there is none.
func nearestTriple(ground *graphv1.GroundGraph) *graphv1.Triple {
	var best *graphv1.ScoredTriple
	for _, s := range ground.GetSubjects() {
		for _, t := range s.GetTriples() {
			if best == nil || t.GetQuestionScore() > best.GetQuestionScore() {
				best = t
			}
		}
	}
	return best.GetTriple()
}

// Grounding.

// NoAnswer is the reason of a run without an answer that a model wrote something for.
const NoAnswer = "no answer could be read off what the model wrote"

// groundingOf returns the grounding of the answers together, and the reason. hasEvidence reports
// whether the knowledge graph returned any triple.
func groundingOf(answers []*orchestratorv1.Answer, hasEvidence bool) (orchestratorv1.Grounding, string) {
	var supported int
	for _, a := range answers {
		if len(a.GetEvidence()) > 0 {
			supported++
		}
	}
	switch {
	case len(answers) == 0:
		return orchestratorv1.Grounding_GROUNDING_ABSTAINED, NoAnswer
	case supported == len(answers):
		return orchestratorv1.Grounding_GROUNDING_GROUNDED, "triples of the knowledge graph name every answer"
	case supported > 0:
		return orchestratorv1.Grounding_GROUNDING_PARTIAL,
			fmt.Sprintf("triples of the knowledge graph name %d of %d answers", supported, len(answers))
	case hasEvidence:
		return orchestratorv1.Grounding_GROUNDING_UNGROUNDED,
			"no triple that was found names an answer: it is the model's own knowledge"
	}
	return orchestratorv1.Grounding_GROUNDING_UNGROUNDED,
		"no triple of a knowledge graph went into it: the answer is the model's own knowledge"
}

// textGrounding returns the grounding of a text without answer entities, and the reason. A triple
// supports a sentence that names one of its ends, if the other end is named in that sentence, before
// it, or in the question.
func textGrounding(question, text string, evidence []*graphv1.Triple) (orchestratorv1.Grounding, string) {
	if kgtext.Fold(text) == "" {
		return orchestratorv1.Grounding_GROUNDING_ABSTAINED, "the model wrote nothing"
	}
	ends := make([][2]string, 0, len(evidence))
	for _, t := range evidence {
		subject, object := kgtext.Fold(t.GetSubject()), kgtext.Fold(t.GetObject())
		if subject != "" && object != "" {
			ends = append(ends, [2]string{subject, object})
		}
	}
	soFar, all, supported := kgtext.FoldWords(question), 0, 0
	for text := range strings.FieldsFuncSeq(sentenceEnds.Replace(text), func(r rune) bool { return r == '\n' }) {
		if kgtext.Fold(text) == "" {
			continue
		}
		sentence := kgtext.FoldWords(text)
		all++
		soFar += sentence
		if slices.ContainsFunc(ends, func(e [2]string) bool {
			return sentence.Mention(e[0]) && soFar.Mention(e[1]) || sentence.Mention(e[1]) && soFar.Mention(e[0])
		}) {
			supported++
		}
	}
	switch {
	case supported == all:
		return orchestratorv1.Grounding_GROUNDING_GROUNDED,
			"every sentence names what a triple of the knowledge graph joins"
	case supported > 0:
		return orchestratorv1.Grounding_GROUNDING_PARTIAL,
			fmt.Sprintf("%d of %d sentences name what a triple of the knowledge graph joins", supported, all)
	}
	return groundingOf([]*orchestratorv1.Answer{{}}, len(evidence) > 0)
}

var sentenceEnds = strings.NewReplacer(". ", "\n", "? ", "\n", "! ", "\n")

// joinNames lists answers as a text.
func joinNames(answers []*orchestratorv1.Answer) string {
	return strings.Join(answerNames(answers), ", ")
}

// answerNames returns the names of answers.
func answerNames(answers []*orchestratorv1.Answer) []string {
	names := make([]string, len(answers))
	for i, a := range answers {
		names[i] = a.GetAnswer()
	}
	return names
}

// completeList adds to who has to do with what the question names the others of the ground graph who have: of who
// visited a place all who did. Models that are not known to read well read one of several lines.
func completeList(q *question.Question, ground *graphv1.GroundGraph) {
	run := q.Snapshot()
	answers := run.GetAnswers()
	if len(answers) == 0 || !kgtext.AsksWho(q.Text()) || kgtext.Condition(q.Text()) != "" ||
		run.GetPgAkv().GetReadingShare() > readsWell {
		return
	}
	said := relationTo(q.Text(), answers[0], ground)
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
	isInRole := saysRole(q.Text(), answers, ground)
	for _, s := range ground.GetSubjects() {
		for _, scored := range s.GetTriples() {
			t := scored.GetTriple()
			switch {
			case said != nil && t.GetRelation() == said.GetRelation() && t.GetObject() == said.GetObject():
				add(t.GetSubject(), t)
			case isInRole(t):
				add(t.GetObject(), t)
			}
		}
	}
	if len(complete) > len(answers) {
		conclude(q, joinNames(complete), complete, true)
		q.Replace(joinNames(complete))
	}
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
		return kgtext.Mentions(text, t.GetSubject()) && !strings.Contains(t.GetRelation(), " / ") &&
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
