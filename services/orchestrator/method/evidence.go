package method

import (
	"fmt"
	"slices"
	"strings"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
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

// JoinNames lists answers as a text.
func JoinNames(answers []*orchestratorv1.Answer) string {
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
