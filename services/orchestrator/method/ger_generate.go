package method

import (
	"context"

	"github.com/triplemesh/triplemesh/internal/llm"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
)

// paths plans relation paths, grounds the plan in paths that exist, and
// follows them (§3.2). Paths that the caller gives need no plan.
func (m Ger) paths(ctx context.Context, q *question.Question, g *orchestratorv1.GerGraphs) error {
	topics := entities(g.GetTopicEntities())
	return q.Stage(ctx, orchestratorv1.Stage_STAGE_PATHS, func(ctx context.Context) (question.Spent, error) {
		if len(topics) == 0 {
			return question.Free, nil
		}
		spent := newSpending(q)
		if given := q.Request().GetRelationPaths(); len(given) > 0 {
			led, walks, err := m.followBothWays(ctx, q, topics, given, spent)
			if err != nil {
				return nil, err
			}
			q.Update(func(*orchestratorv1.Run) { g.RelationPaths, g.ReasoningPaths = led, walks })
			return spent, nil
		}
		proposed, err := m.propose(ctx, q, topics, spent)
		if err != nil {
			return nil, err
		}
		existing, err := m.existing(ctx, q, topics, proposed, spent)
		if err != nil {
			return nil, err
		}
		q.Update(func(*orchestratorv1.Run) { g.ProposedPaths, g.RelationPaths = proposed, existing })
		if len(existing) == 0 {
			return spent, nil
		}
		followed, err := m.Retriever.FollowPaths(ctx, &retrieverv1.FollowPathsRequest{
			Kg: q.KG(), TopicEntities: topics, Paths: existing, Question: q.Text(),
		})
		if err != nil {
			return nil, err
		}
		q.Update(func(*orchestratorv1.Run) { g.ReasoningPaths = followed.GetPaths() })
		return spent, nil
	})
}

// propose asks the model for relation paths in its own words. They only help
// to rank those that exist, so a model that cannot be had is done without.
func (m Ger) propose(ctx context.Context, q *question.Question, topics []string, spent *spending) ([]*graphv1.RelationPath, error) {
	limits, err := spent.limits()
	if err == nil {
		var resp *generatorv1.GenerateRelationPathsResponse
		resp, err = m.Generator.GenerateRelationPaths(ctx, &generatorv1.GenerateRelationPathsRequest{
			Question: q.Text(), TopicEntities: topics, Limits: limits,
		})
		if err == nil {
			spent.add(resp)
			return resp.GetPaths(), nil
		}
	}
	if !question.Survivable(ctx, err) {
		return nil, err
	}
	spent.warn(llm.WarnUnavailable, "the model proposed no relation paths, so the question alone ranks them: "+question.Why(err))
	return nil, nil
}

// existing are the paths around the topic entities that fit the question and
// the proposal best, chosen among by the model where it is asked to.
func (m Ger) existing(ctx context.Context, q *question.Question, topics []string, proposed []*graphv1.RelationPath, spent *spending) ([]*graphv1.RelationPath, error) {
	limit := m.cfg.MaxPaths
	if m.cfg.Choose {
		limit *= 2
	}
	suggested, err := m.Retriever.SuggestPaths(ctx, &retrieverv1.SuggestPathsRequest{
		Kg: q.KG(), Question: q.Text(), TopicEntities: topics, Proposed: proposed,
		MaxHops: q.Request().GetOptions().GetMaxHops(), Limit: limit, MaxEnds: m.cfg.MaxEnds,
	})
	if err != nil {
		return nil, err
	}
	if !m.cfg.Choose || len(suggested.GetPaths()) <= 1 {
		return suggested.GetPaths(), nil
	}
	limits, err := spent.limits()
	if err == nil {
		var chosen *generatorv1.GenerateRelationPathsResponse
		chosen, err = m.Generator.GenerateRelationPaths(ctx, &generatorv1.GenerateRelationPathsRequest{
			Question: q.Text(), TopicEntities: topics, Existing: suggested.GetPaths(), MaxPaths: m.cfg.MaxPaths, Limits: limits,
		})
		if err == nil {
			spent.add(chosen)
			return chosen.GetPaths(), nil
		}
	}
	if !question.Survivable(ctx, err) {
		return nil, err
	}
	spent.warn(llm.WarnUnavailable, "the model chose no relation paths, so the best ranked ones were followed: "+question.Why(err))
	return suggested.GetPaths()[:min(len(suggested.GetPaths()), int(m.cfg.MaxPaths))], nil
}

// candidates reads candidate answers off the reasoning paths (§3.2).
func (m Ger) candidates(ctx context.Context, q *question.Question, g *orchestratorv1.GerGraphs) error {
	return q.Stage(ctx, orchestratorv1.Stage_STAGE_CANDIDATES, func(ctx context.Context) (question.Spent, error) {
		limits, err := q.Limits()
		if err != nil {
			return nil, err
		}
		resp, err := m.Generator.GenerateCandidateAnswers(ctx, &generatorv1.GenerateCandidateAnswersRequest{
			Question: q.Text(), Paths: g.GetReasoningPaths(), Limits: limits,
		})
		if err != nil {
			return nil, err
		}
		q.Update(func(*orchestratorv1.Run) { g.Candidates = resp.GetCandidates() })
		return resp, nil
	})
}
