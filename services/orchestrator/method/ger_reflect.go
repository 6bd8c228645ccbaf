package method

import (
	"context"
	"slices"

	"github.com/triplemesh/triplemesh/internal/verbalise"
	evaluatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/evaluator/v1"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	reflectorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/reflector/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/grounding"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
)

// reflect settles the final answers with the verdicts of both levels (§3.4).
func (m Ger) reflect(ctx context.Context, q *question.Question, g *orchestratorv1.GerGraphs) error {
	return q.Stage(ctx, orchestratorv1.Stage_STAGE_REFLECT, func(ctx context.Context) (question.Spent, error) {
		mode := q.Request().GetOptions().GetReflection()
		limits, err := q.Limits()
		if err != nil { // weighing costs nothing
			mode = reflectorv1.ReflectionMode_REFLECTION_MODE_WEIGH
		}
		resp, err := m.Reflector.Reflect(ctx, &reflectorv1.ReflectRequest{
			Question: q.Text(), Candidates: g.GetCandidates(), Paths: g.GetReasoningPaths(),
			QuestionVerdict: g.GetQuestionVerdict(), AnswerVerdicts: g.GetAnswerVerdicts(),
			Mode: mode, Limits: limits,
		})
		if err != nil {
			return nil, err
		}
		q.Update(func(*orchestratorv1.Run) { g.Reflections, g.Reflection = resp.GetReflections(), resp.GetMode() })
		answers := onPaths(resp.GetAnswers(), g.GetReasoningPaths())
		conclude(q, grounding.Text(answers), answers, true)
		return resp, nil
	})
}

// generateAgain lets the generator write the candidates again with the verdicts
// at hand; they are the answers (§4.3.2, w/ generation).
func (m Ger) generateAgain(ctx context.Context, q *question.Question, g *orchestratorv1.GerGraphs) error {
	return q.Stage(ctx, orchestratorv1.Stage_STAGE_REFLECT, func(ctx context.Context) (question.Spent, error) {
		limits, err := q.Limits()
		if err != nil {
			return nil, err
		}
		resp, err := m.Generator.GenerateCandidateAnswers(ctx, &generatorv1.GenerateCandidateAnswersRequest{
			Question: q.Text(), Paths: g.GetReasoningPaths(), Limits: limits,
			Feedback: &generatorv1.Feedback{Question: g.GetQuestionVerdict(), Answers: g.GetAnswerVerdicts()},
		})
		if err != nil {
			return nil, err
		}
		q.Update(func(*orchestratorv1.Run) { g.Reflections = compared(g.GetCandidates(), resp.GetCandidates()) })
		m.conclude(q, g, answersOf(resp.GetCandidates()), "the generator gave no candidate when it saw the verdicts")
		return resp, nil
	})
}

// compared is what came of candidates that were written again.
func compared(before, after []*graphv1.CandidateAnswer) []*reflectorv1.Reflection {
	var all []*reflectorv1.Reflection
	names, were := answersOf(after), answersOf(before)
	for _, c := range before {
		decision := reflectorv1.Decision_DECISION_DROP
		if slices.Contains(names, c.GetAnswer()) {
			decision = reflectorv1.Decision_DECISION_KEEP
		}
		all = append(all, &reflectorv1.Reflection{Answer: c.GetAnswer(), Decision: decision, Paths: c.GetPaths()})
	}
	for _, c := range after {
		if !slices.Contains(were, c.GetAnswer()) {
			all = append(all, &reflectorv1.Reflection{Answer: c.GetAnswer(), Decision: reflectorv1.Decision_DECISION_ADD, Paths: c.GetPaths()})
		}
	}
	return all
}

// acceptAll takes the candidates as the answers.
func (m Ger) acceptAll(_ context.Context, q *question.Question, g *orchestratorv1.GerGraphs) error {
	m.conclude(q, g, answersOf(g.GetCandidates()), "no candidate could be read off the reasoning paths")
	return nil
}

// acceptRight takes the candidates that were judged right as the answers
// (§4.3.2, w/o reflection).
func (m Ger) acceptRight(_ context.Context, q *question.Question, g *orchestratorv1.GerGraphs) error {
	m.conclude(q, g, right(g.GetAnswerVerdicts()), "no candidate was judged right")
	return nil
}

// conclude writes the answers into the run; none says why there is none.
func (m Ger) conclude(q *question.Question, g *orchestratorv1.GerGraphs, names []string, none string) {
	answers := onPaths(names, g.GetReasoningPaths())
	conclude(q, grounding.Text(answers), answers, true)
	if len(answers) == 0 {
		q.Update(func(r *orchestratorv1.Run) { r.GroundingReason = none })
	}
}

// settle answers with what there is when a late stage failed.
func (m Ger) settle(ctx context.Context, q *question.Question, g *orchestratorv1.GerGraphs, err error) error {
	names := best(g)
	if len(names) == 0 || !question.Survivable(ctx, err) {
		return err
	}
	partial(q, onPaths(names, g.GetReasoningPaths()), err)
	return nil
}

// best are the candidates judged right, or all where none was, or, before
// there are any, the ends of the best relation path.
func best(g *orchestratorv1.GerGraphs) []string {
	judged, all := right(g.GetAnswerVerdicts()), answersOf(g.GetCandidates())
	switch groups := verbalise.Group(g.GetReasoningPaths()); {
	case len(judged) > 0:
		return judged
	case len(all) > 0 || len(groups) == 0:
		return all
	default:
		return groups[0].Ends
	}
}

// right are the answers judged right.
func right(verdicts []*evaluatorv1.AnswerVerdict) []string {
	var names []string
	for _, v := range verdicts {
		if v.GetCorrect() {
			names = append(names, v.GetAnswer())
		}
	}
	return names
}

func answersOf(candidates []*graphv1.CandidateAnswer) []string {
	names := make([]string, len(candidates))
	for i, c := range candidates {
		names[i] = c.GetAnswer()
	}
	return names
}
