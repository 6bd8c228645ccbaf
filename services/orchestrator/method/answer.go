package method

import (
	"context"

	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/grounding"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
)

// evidence is what an answer may rest on.
type evidence interface {
	// answers gives each name the triples that say so.
	answers(names []string) []*orchestratorv1.Answer
	// facts are all triples there are.
	facts() []*graphv1.Triple
}

// known are triples that may name an answer; nil where there are none.
type known []*graphv1.Triple

func (k known) answers(names []string) []*orchestratorv1.Answer { return grounding.Answers(names, k) }
func (k known) facts() []*graphv1.Triple                        { return k }

// answer lets the generator write the answer and finds what it rests on among
// the evidence.
func (s Stages) answer(ctx context.Context, q *question.Question, req *generatorv1.GenerateAnswerRequest, on evidence) error {
	return q.Stage(ctx, orchestratorv1.Stage_STAGE_ANSWER, func(ctx context.Context) (question.Spent, error) {
		limits, err := q.Limits()
		if err != nil {
			return nil, err
		}
		req.Limits, req.Form = limits, form(q)
		resp, err := s.generateAnswer(ctx, q, req)
		if err != nil {
			return nil, err
		}
		if resp.GetForm() == generatorv1.AnswerForm_ANSWER_FORM_TEXT {
			concludeProse(q, resp.GetText(), on.facts())
		} else {
			conclude(q, resp.GetText(), on.answers(resp.GetAnswers()), len(on.facts()) > 0)
		}
		q.Update(func(r *orchestratorv1.Run) { r.AnswerProbability = resp.Probability })
		return resp, nil
	})
}

// fromPaths writes the answer from reasoning paths, as ToG and RoG do; without
// any, from the model's own knowledge.
func (s Stages) fromPaths(ctx context.Context, q *question.Question, paths []*graphv1.ReasoningPath) error {
	if len(paths) == 0 {
		return s.fromMemory(ctx, q)
	}
	return s.answer(ctx, q, &generatorv1.GenerateAnswerRequest{
		Question: q.Text(), Style: generatorv1.AnswerStyle_ANSWER_STYLE_FROM_PATHS, Paths: paths,
	}, walked(paths))
}

// fromMemory lets the model answer from its own knowledge.
func (s Stages) fromMemory(ctx context.Context, q *question.Question) error {
	return s.answer(ctx, q, &generatorv1.GenerateAnswerRequest{
		Question: q.Text(), Style: generatorv1.AnswerStyle_ANSWER_STYLE_DIRECT,
	}, known(nil))
}

// form is what the caller wants the answer to look like.
func form(q *question.Question) generatorv1.AnswerForm {
	return q.Request().GetOptions().GetAnswerForm()
}

// conclude writes the outcome into the run.
func conclude(q *question.Question, text string, answers []*orchestratorv1.Answer, evidence bool) {
	status, reason := grounding.Status(answers, evidence)
	q.Update(func(r *orchestratorv1.Run) {
		r.Text, r.Answers, r.Grounding, r.GroundingReason = text, answers, status, reason
	})
}

// concludeProse writes an answer without answer entities into the run.
func concludeProse(q *question.Question, text string, facts []*graphv1.Triple) {
	status, reason := grounding.Prose(q.Text(), text, facts)
	q.Update(func(r *orchestratorv1.Run) {
		r.Text, r.Answers, r.Grounding, r.GroundingReason = text, nil, status, reason
	})
}

// partial answers with what there is after a stage failed.
func partial(q *question.Question, answers []*orchestratorv1.Answer, cause error) {
	conclude(q, grounding.Text(answers), answers, true)
	early(q, cause)
}

// early marks the run as ended before its end.
func early(q *question.Question, cause error) {
	q.Update(func(r *orchestratorv1.Run) {
		r.Partial = true
		r.GroundingReason += "; the run ended early: " + question.Why(cause)
	})
}
