package method

import (
	"context"
	"fmt"
	"slices"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
)

// Auto chooses between PG&AKV, Ger and Query for each question, without a model call: by the words that
// ask for something to be computed, the topic entities, the length of the best relation path around
// them, and the budget.
type Auto struct {
	Stages
	ger Ger
}

const (
	// gerHops is the length of the best path from which Ger is chosen.
	gerHops = 2
	// autoHops is the maximum length of a path.
	autoHops = 3
	// gerCalls is the minimum budget for Ger: a plan, candidates, and verdicts on the set and on some
	// candidates.
	gerCalls = 6
	// querySure is the alignment from which on a computed answer is kept, if a fact could answer too.
	querySure = 0.8
)

// Info implements Method.
func (m Auto) Info() *orchestratorv1.Method {
	info := &orchestratorv1.Method{
		Name: "auto",
		Description: "Chooses query for questions that ask for something to be computed, ger for those that join " +
			"several " +
			"facts, pg-akv for all others.",
		Calls:   "those of the method chosen: 2 to 3, or 3 + one per candidate",
		NeedsKg: true,
		Stages:  []orchestratorv1.Stage{orchestratorv1.Stage_STAGE_CHOOSE},
	}
	for _, chosen := range []Method{PGAKV{m.Stages}, m.ger, Query{m.Stages}} {
		info.Stages = append(info.Stages, chosen.Info().GetStages()...)
	}
	return info
}

// Answer implements Method.
func (m Auto) Answer(ctx context.Context, q *question.Question) error {
	g := &orchestratorv1.AutoGraphs{}
	q.Update(func(r *orchestratorv1.Run) { r.Graphs = &orchestratorv1.Run_Auto{Auto: g} })

	if err := m.choose(ctx, q, g); err != nil {
		return err
	}
	if err := m.checkUntil(q, g.GetMethod()); err != nil {
		return err
	}
	if g.GetMethod() == (Query{}).Info().GetName() {
		done, err := m.compute(ctx, q, g)
		if done || err != nil {
			return err
		}
	}
	if g.GetMethod() == m.ger.Info().GetName() {
		ger := &orchestratorv1.GerGraphs{}
		q.Update(func(*orchestratorv1.Run) { g.Ger = ger })
		return m.ger.run(ctx, q, ger)
	}
	pgakv := &orchestratorv1.PgAkvGraphs{}
	q.Update(func(*orchestratorv1.Run) { g.PgAkv = pgakv })
	return PGAKV{m.Stages}.run(ctx, q, pgakv)
}

// compute runs Query. It reports false if PG&AKV should answer instead: the question only may ask for
// something to be computed, and the plan does not fit the knowledge graph well.
func (m Auto) compute(ctx context.Context, q *question.Question, g *orchestratorv1.AutoGraphs) (bool, error) {
	query := &orchestratorv1.QueryGraphs{}
	q.Update(func(*orchestratorv1.Run) { g.Query = query })
	err := Query{m.Stages}.run(ctx, q, query)
	if err != nil && !question.Recoverable(ctx, err) {
		return false, err
	}
	sure := err == nil && query.GetTable() != nil && query.GetTable().GetReason() == "" &&
		query.GetAlignment() >= querySure
	if err == nil && (sure || kgtext.AsksOperation(q.Text()) == kgtext.MustCompute) {
		return true, nil
	}
	q.Update(func(r *orchestratorv1.Run) {
		g.Method, g.Query = PGAKV{}.Info().GetName(), nil
		g.Reason += "; the plan does not fit the knowledge graph, so pg-akv answers"
		r.Answers, r.Text, r.GroundingReason = nil, "", ""
		r.Grounding = orchestratorv1.Grounding_GROUNDING_UNSPECIFIED
	})
	return false, nil
}

// choose chooses the method. A retriever error does not fail the stage: PG&AKV needs no topic entity.
func (m Auto) choose(ctx context.Context, q *question.Question, g *orchestratorv1.AutoGraphs) error {
	return q.Stage(ctx, orchestratorv1.Stage_STAGE_CHOOSE, func(ctx context.Context) (question.Cost, error) {
		method, reason := PGAKV{}.Info().GetName(), ""
		if kgtext.AsksOperation(q.Text()) != kgtext.NoOperation && len(q.OtherKGs()) == 0 {
			method, reason = Query{}.Info().GetName(), "the question asks for something to be computed"
		} else if calls := q.Request().GetLimits().GetBudget().GetMaxCalls(); calls > 0 && calls < gerCalls {
			reason = fmt.Sprintf("the budget of %d calls is too small for ger", calls)
		} else {
			best, err := m.bestPath(ctx, q)
			switch {
			case err != nil && !question.Recoverable(ctx, err):
				return nil, err
			case err != nil:
				reason = "relation paths could not be looked at: " + question.FailureReason(err)
			case best == nil:
				reason = "no relation path leads from an entity that the question names"
			case best.GetHops() >= gerHops:
				method = m.ger.Info().GetName()
				reason = fmt.Sprintf("the relation path that fits the question best joins %d facts", best.GetHops())
			default:
				reason = "the relation path that fits the question best is a single fact"
			}
		}
		q.Update(func(*orchestratorv1.Run) { g.Method, g.Reason = method, reason })
		return question.NoCost, nil
	})
}

// checkUntil returns ErrStopped if the caller asked to stop after a stage that the chosen method does
// not have.
func (m Auto) checkUntil(q *question.Question, method string) error {
	until := q.Request().GetOptions().GetUntil()
	if until == orchestratorv1.Stage_STAGE_UNSPECIFIED {
		return nil
	}
	for _, chosen := range []Method{PGAKV{m.Stages}, m.ger, Query{m.Stages}} {
		if chosen.Info().GetName() == method && slices.Contains(chosen.Info().GetStages(), until) {
			return nil
		}
	}
	return question.ErrStopped
}

// bestPath returns the relation path that fits the question best; nil if there is none.
func (m Auto) bestPath(ctx context.Context, q *question.Question) (*graphv1.RelationPath, error) {
	links, err := m.topicEntities(ctx, q)
	if err != nil {
		return nil, err
	}
	topics := entityNames(links)
	if len(topics) == 0 {
		return nil, nil
	}
	suggested, err := m.Retriever.SuggestPaths(ctx, &retrieverv1.SuggestPathsRequest{
		Kg: q.KG(), Question: q.Text(), TopicEntities: topics, MaxHops: autoHops, Limit: 1,
	})
	if err != nil || len(suggested.GetPaths()) == 0 {
		return nil, err
	}
	return suggested.GetPaths()[0], nil
}
