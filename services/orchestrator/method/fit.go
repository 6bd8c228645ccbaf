package method

import (
	"context"
	"slices"
	"strings"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	evaluatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/evaluator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
)

// leastFit is the probability of yes below which triples are taken to say something else than was asked. Of 79 answers
// about graphs that no ranker knows, all 26 right ones had .72 or more, and 38 of the 53 others less
// (docs/adr/0031-grounded.md).
const leastFit = 0.7

// JudgeFit asks the model whether the triples of an answer answer the question (Ger §3.3, answer-level evaluation). It
// reports true where a ranker knows the graph, which says it better, of joined facts, which a small model does not
// judge well, and if the model says neither yes nor no or cannot be asked.
func (s Stages) JudgeFit(ctx context.Context, q *question.Question, answer *orchestratorv1.Answer) (fits bool,
	err error) {
	isJoined := func(t *graphv1.Triple) bool { return strings.Contains(t.GetRelation(), kgtext.Joint) }
	if IsRanked(q.Snapshot()) || IsRanked(q.Alternative()) || slices.ContainsFunc(answer.GetEvidence(), isJoined) {
		return true, nil
	}
	candidate := &graphv1.CandidateAnswer{Answer: answer.GetAnswer()}
	for _, t := range answer.GetEvidence() {
		if kgtext.IsType(t.GetRelation()) && len(answer.GetEvidence()) > 1 {
			continue // of what a plan looks up
		}
		candidate.Paths = append(candidate.Paths, kgtext.PathTo(t, answer.GetAnswer()))
	}
	fits = true
	err = modelStage(ctx, q, orchestratorv1.Stage_STAGE_EVALUATE_ANSWERS,
		func(ctx context.Context, limits *llmv1.Limits) (question.Cost, error) {
			resp, err := s.Evaluator.EvaluateAnswers(ctx, &evaluatorv1.EvaluateAnswersRequest{
				Question:   kgtext.NameIDs(q.Text(), answer.GetEvidence()),
				Candidates: []*graphv1.CandidateAnswer{candidate}, ByRelation: true, Limits: limits,
			})
			if err != nil {
				return nil, err
			}
			for _, v := range resp.GetVerdicts() {
				fits = v.GetUnknown() || v.GetCorrect() && (v.Probability == nil || v.GetProbability() >= leastFit)
			}
			return resp, nil
		})
	if question.Recoverable(ctx, err) {
		return true, nil
	}
	return fits, err
}

// ReadsWell reports whether the model of a run of PG&AKV is known to read well.
func ReadsWell(run *orchestratorv1.Run) bool { return run.GetPgAkv().GetReadingShare() > readsWell }

// IsRanked reports whether a ranker knows the graph of a run of PG&AKV.
func IsRanked(run *orchestratorv1.Run) bool {
	return slices.ContainsFunc(run.GetPgAkv().GetReasoningPaths(), func(p *graphv1.ReasoningPath) bool {
		return p.Probability != nil
	})
}
