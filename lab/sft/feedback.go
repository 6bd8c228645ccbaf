package sft

import (
	"fmt"
	"os"

	"github.com/triplemesh/triplemesh/lab/dataset"
	labfeedback "github.com/triplemesh/triplemesh/lab/feedback"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

// readFeedback reads questions on a knowledge graph from exported feedback, with what the runs
// answered as candidates and what callers said of it as verdicts: Ger's feedback training (§3.4) with
// the word of people in the evaluator's place. Questions of which an answer is neither right nor
// wrong are left out and counted: what is not known would be taught as wrong.
func readFeedback(path, kg string) (questions []dataset.Question, marked map[string]recordedRun, partly int,
	err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, 0, fmt.Errorf("read feedback: %w", err)
	}
	defer file.Close()
	marks, err := labfeedback.Read(file)
	if err != nil {
		return nil, nil, 0, fmt.Errorf("read feedback %s: %w", path, err)
	}
	set := labfeedback.Collect(marks, kg)
	marked = map[string]recordedRun{}
	for _, q := range set.Questions {
		if !q.Complete {
			partly++
			continue
		}
		questions = append(questions, q.Question)
		marked[q.ID] = judgedRun(q)
	}
	if len(questions) == 0 {
		return nil, nil, 0, fmt.Errorf("read feedback %s: of %d questions to the knowledge graph %s none has every "+
			"answer marked right or wrong, and one right; mark more answers", path, len(set.Questions), kg)
	}
	return questions, marked, partly, nil
}

// judgedRun returns the answers that a run gave, with callers' verdicts on them.
func judgedRun(q labfeedback.Question) recordedRun {
	r := recordedRun{question: q.Question.Question, candidates: dataset.Distinct(q.Given),
		verdicts: map[string]*graphv1.AnswerVerdict{}}
	g := newGold(q.Question)
	right, wrong := g.split(r.candidates)
	for _, name := range r.candidates {
		correct, certainty := g.contains(name), float32(0)
		if correct {
			certainty = 1
		}
		r.verdicts[name] = &graphv1.AnswerVerdict{Answer: name, Correct: correct, Probability: &certainty}
	}
	lacks := g.missing(q.Answers, right)
	r.verdict = &graphv1.QuestionVerdict{Correct: len(wrong) == 0, Incomplete: len(lacks) > 0,
		Reason: reason(right, wrong, lacks)}
	return r
}
