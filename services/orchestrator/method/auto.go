package method

import (
	"context"
	"fmt"
	"slices"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
)

// Auto chooses between PG&AKV and Ger for each question, without a model call:
// by the topic entities, by how many facts the best relation path around them
// joins, and by the budget.
type Auto struct {
	Stages
	ger Ger
}

const (
	// severalFacts is how many facts the best path joins where Ger is chosen: it
	// follows paths, PG&AKV checks facts.
	severalFacts = 2
	// autoHops is the longest path looked for.
	autoHops = 3
	// gerCalls is what Ger needs to be worth beginning: a plan, candidates, and a
	// verdict on the set and on some of them.
	gerCalls = 6
)

// Info implements Method.
func (m Auto) Info() *orchestratorv1.Method {
	info := &orchestratorv1.Method{
		Name:        "auto",
		Description: "Chooses ger for questions that join several facts, pg-akv for all others.",
		Calls:       "those of the method chosen: 2 to 3, or 3 + one per candidate",
		NeedsKg:     true,
		Stages:      []orchestratorv1.Stage{orchestratorv1.Stage_STAGE_CHOOSE},
	}
	for _, chosen := range []Method{PGAKV{m.Stages}, m.ger} {
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
	if err := m.reaches(q, g.GetMethod()); err != nil {
		return err
	}
	if g.GetMethod() == m.ger.Info().GetName() {
		ger := &orchestratorv1.GerGraphs{}
		q.Update(func(*orchestratorv1.Run) { g.Ger = ger })
		return m.ger.through(ctx, q, ger)
	}
	pgakv := &orchestratorv1.PgAkvGraphs{}
	q.Update(func(*orchestratorv1.Run) { g.PgAkv = pgakv })
	return PGAKV{m.Stages}.through(ctx, q, pgakv)
}

// choose settles the method. A retriever that cannot tell is no reason to fail:
// PG&AKV needs no topic entity.
func (m Auto) choose(ctx context.Context, q *question.Question, g *orchestratorv1.AutoGraphs) error {
	return q.Stage(ctx, orchestratorv1.Stage_STAGE_CHOOSE, func(ctx context.Context) (question.Spent, error) {
		method, reason := PGAKV{}.Info().GetName(), ""
		if calls := q.Request().GetLimits().GetBudget().GetMaxCalls(); calls > 0 && calls < gerCalls {
			reason = fmt.Sprintf("the budget of %d calls is too small for ger", calls)
		} else {
			best, err := m.best(ctx, q)
			switch {
			case err != nil && !question.Survivable(ctx, err):
				return nil, err
			case err != nil:
				reason = "relation paths could not be looked at: " + question.Why(err)
			case best == nil:
				reason = "no relation path leads from an entity that the question names"
			case best.GetHops() >= severalFacts:
				method = m.ger.Info().GetName()
				reason = fmt.Sprintf("the relation path that fits the question best joins %d facts", best.GetHops())
			default:
				reason = "the relation path that fits the question best is a single fact"
			}
		}
		q.Update(func(*orchestratorv1.Run) { g.Method, g.Reason = method, reason })
		return question.Free, nil
	})
}

// reaches ends a question whose caller wants to stop after a stage that the
// method chosen does not have.
func (m Auto) reaches(q *question.Question, method string) error {
	until := q.Request().GetOptions().GetUntil()
	if until == orchestratorv1.Stage_STAGE_UNSPECIFIED {
		return nil
	}
	for _, chosen := range []Method{PGAKV{m.Stages}, m.ger} {
		if chosen.Info().GetName() == method && slices.Contains(chosen.Info().GetStages(), until) {
			return nil
		}
	}
	return question.ErrUntil
}

// best is the relation path that fits the question best; nil where there is
// none.
func (m Auto) best(ctx context.Context, q *question.Question) (*graphv1.RelationPath, error) {
	topics := q.Request().GetTopicEntities()
	if len(topics) == 0 {
		linked, err := m.Retriever.LinkEntities(ctx, &retrieverv1.LinkEntitiesRequest{Kg: q.KG(), Text: q.Text()})
		if err != nil {
			return nil, err
		}
		topics = entities(linked.GetLinks())
	}
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
