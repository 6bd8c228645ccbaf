package method

import (
	"context"
	"strings"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
)

// answer lets the generator write the answer, and grounds it in the evidence.
func (s Stages) answer(ctx context.Context, q *question.Question, req *generatorv1.GenerateAnswerRequest,
	e evidence) error {
	return modelStage(ctx, q, orchestratorv1.Stage_STAGE_ANSWER,
		func(ctx context.Context, limits *llmv1.Limits) (question.Cost, error) {
			req.Limits, req.Form = limits, answerForm(q)
			resp, err := s.generateAnswer(ctx, q, req)
			if err != nil {
				return nil, err
			}
			if resp.GetForm() == graphv1.AnswerForm_ANSWER_FORM_TEXT {
				concludeText(q, resp.GetText(), e.triples())
			} else {
				answers := e.support(resp.GetAnswers())
				conclude(q, signText(resp.GetText(), resp.GetAnswers(), answers), answers, len(e.triples()) > 0)
			}
			q.Update(func(r *orchestratorv1.Run) { r.AnswerProbability = resp.Probability })
			return resp, nil
		})
}

// signText gives the numbers of a text in braces the sign that they have as answers: names are what the model wrote of
// these.
func signText(text string, names []string, answers []*orchestratorv1.Answer) string {
	for i, a := range answers {
		if strings.HasPrefix(a.GetAnswer(), "-") && !strings.HasPrefix(names[i], "-") {
			text = strings.ReplaceAll(text, "{"+names[i]+"}", "{-"+names[i]+"}")
		}
	}
	return text
}

// answerFromPaths answers from reasoning paths (ToG, RoG), or from memory if there are none.
func (s Stages) answerFromPaths(ctx context.Context, q *question.Question, paths []*graphv1.ReasoningPath) error {
	if len(paths) == 0 {
		return s.answerFromMemory(ctx, q)
	}
	return s.answer(ctx, q, &generatorv1.GenerateAnswerRequest{
		Question: q.Text(), Style: generatorv1.AnswerStyle_ANSWER_STYLE_FROM_PATHS, Paths: paths,
	}, pathEvidence(paths))
}

// answerFromMemory answers from the model's own knowledge. If a knowledge graph was read, the text
// is held until it can be preceded by the statement that the graph does not say.
func (s Stages) answerFromMemory(ctx context.Context, q *question.Question) error {
	return s.answerWithoutEvidence(ctx, q, generatorv1.AnswerStyle_ANSWER_STYLE_DIRECT)
}

// answerWithoutEvidence is answerFromMemory in a style.
func (s Stages) answerWithoutEvidence(ctx context.Context, q *question.Question, style generatorv1.AnswerStyle) error {
	if q.KG() != nil {
		q.Hold()
	}
	return s.answer(ctx, q, &generatorv1.GenerateAnswerRequest{Question: q.Text(), Style: style}, tripleEvidence(nil))
}

func answerForm(q *question.Question) graphv1.AnswerForm {
	return q.Request().GetOptions().GetAnswerForm()
}

// conclude writes the answers and their grounding to the run.
func conclude(q *question.Question, text string, answers []*orchestratorv1.Answer, hasEvidence bool) {
	status, reason := groundingOf(answers, hasEvidence)
	q.Update(func(r *orchestratorv1.Run) {
		r.Text, r.Answers, r.Grounding, r.GroundingReason = kgtext.RemoveBraces(text), answers, status, reason
	})
}

// concludeText writes an answer without answer entities to the run.
func concludeText(q *question.Question, text string, evidence []*graphv1.Triple) {
	status, reason := textGrounding(q.Text(), text, evidence)
	q.Update(func(r *orchestratorv1.Run) {
		r.Text, r.Answers, r.Grounding, r.GroundingReason = kgtext.RemoveBraces(text), nil, status, reason
	})
}

// concludePartial writes the answers found before a stage failed to the run.
func concludePartial(q *question.Question, answers []*orchestratorv1.Answer, cause error) {
	conclude(q, JoinNames(answers), answers, true)
	markPartial(q, cause)
}

func markPartial(q *question.Question, cause error) {
	q.Update(func(r *orchestratorv1.Run) {
		r.Partial = true
		r.GroundingReason += "; the run ended early: " + question.FailureReason(cause)
	})
}

// settleOnTriple answers with the triple nearest to the question after a stage failed with err. It
// returns err if there is no triple or the error is not recoverable.
func settleOnTriple(ctx context.Context, q *question.Question, nearest *graphv1.Triple, err error) error {
	if nearest == nil || !question.Recoverable(ctx, err) {
		return err
	}
	concludePartial(q, []*orchestratorv1.Answer{{Answer: nearest.GetObject(), Id: nearest.GetObjectId(),
		Evidence: []*graphv1.Triple{nearest}}}, err)
	return nil
}

// settleOnEnds answers with the ends of the best relation path after a stage failed with err. It
// returns err if there is no path or the error is not recoverable.
func settleOnEnds(ctx context.Context, q *question.Question, paths []*graphv1.ReasoningPath, err error) error {
	groups := kgtext.GroupPaths(paths)
	if len(groups) == 0 || !question.Recoverable(ctx, err) {
		return err
	}
	concludePartial(q, answersOnPaths(groups[0].Ends, paths), err)
	return nil
}
