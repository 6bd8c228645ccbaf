package method

import (
	"context"
	"slices"

	"github.com/triplemesh/triplemesh/internal/verbalise"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
)

// RoG is reasoning on graphs: relation paths are planned, followed, and
// answered from (Luo et al., ICLR 2024). Its planner knows the relations by
// training; one that does not has each relation replaced by the nearest that
// exists. A plan does not say in which direction a relation goes, so both are
// tried.
type RoG struct{ Stages }

// Info implements Method.
func (RoG) Info() *orchestratorv1.Method {
	return &orchestratorv1.Method{
		Name:        "rog",
		Description: "Plans relation paths, follows them in relations that exist, answers from the reasoning paths.",
		Calls:       "2, or 1 where the relation paths are given",
		NeedsKg:     true,
		Stages: []orchestratorv1.Stage{
			orchestratorv1.Stage_STAGE_LINK,
			orchestratorv1.Stage_STAGE_PATHS,
			orchestratorv1.Stage_STAGE_ANSWER,
		},
	}
}

// Answer implements Method.
func (m RoG) Answer(ctx context.Context, q *question.Question) error {
	g := &orchestratorv1.RogGraphs{}
	q.Update(func(r *orchestratorv1.Run) { r.Graphs = &orchestratorv1.Run_Rog{Rog: g} })

	if err := m.link(ctx, q, func(links []*graphv1.EntityLink) { g.TopicEntities = links }); err != nil {
		return err
	}
	if err := m.paths(ctx, q, g); err != nil {
		return err
	}
	if err := m.fromPaths(ctx, q, g.GetReasoningPaths()); err != nil {
		return settleOnEnds(ctx, q, g.GetReasoningPaths(), err)
	}
	return nil
}

// paths plans relation paths, grounds them in relations that exist, and follows
// them.
func (m RoG) paths(ctx context.Context, q *question.Question, g *orchestratorv1.RogGraphs) error {
	topics := entities(g.GetTopicEntities())
	return q.Stage(ctx, orchestratorv1.Stage_STAGE_PATHS, func(ctx context.Context) (question.Spent, error) {
		if len(topics) == 0 {
			return question.Free, nil
		}
		spent := newSpending(q)
		planned, err := m.plan(ctx, q, topics, spent)
		if err != nil {
			return nil, err
		}
		q.Update(func(*orchestratorv1.Run) { g.PlannedPaths = planned })
		existing, err := m.ground(ctx, q, planned)
		if err != nil {
			return nil, err
		}
		led, walks, err := m.followBothWays(ctx, q, topics, existing, spent)
		if err != nil {
			return nil, err
		}
		q.Update(func(*orchestratorv1.Run) { g.RelationPaths, g.ReasoningPaths = led, walks })
		return spent, nil
	})
}

// plan asks the model for relation paths, unless the caller gives them.
func (m RoG) plan(ctx context.Context, q *question.Question, topics []string, spent *spending) ([]*graphv1.RelationPath, error) {
	if given := q.Request().GetRelationPaths(); len(given) > 0 {
		return given, nil
	}
	limits, err := spent.limits()
	if err != nil {
		return nil, err
	}
	resp, err := m.Generator.GenerateRelationPaths(ctx, &generatorv1.GenerateRelationPathsRequest{
		Question: q.Text(), TopicEntities: topics, Limits: limits,
	})
	if err != nil {
		return nil, err
	}
	spent.add(resp)
	return resp.GetPaths(), nil
}

// maxQueries is how many texts the retriever searches by at once.
const maxQueries = 256

// ground puts relations that exist in the place of planned ones.
func (m RoG) ground(ctx context.Context, q *question.Question, planned []*graphv1.RelationPath) ([]*graphv1.RelationPath, error) {
	var names []string
	for _, p := range planned {
		for _, s := range p.GetSteps() {
			names = append(names, s.GetRelation())
		}
	}
	slices.Sort(names)
	existing := map[string]string{}
	for some := range slices.Chunk(slices.Compact(names), maxQueries) {
		req := &retrieverv1.SearchRelationsRequest{Kg: q.KG()}
		for _, name := range some {
			req.Queries = append(req.Queries, verbalise.RelationInContext(name)) // as relations are encoded
		}
		resp, err := m.Retriever.SearchRelations(ctx, req)
		if err != nil {
			return nil, err
		}
		for i, found := range resp.GetResults()[:min(len(resp.GetResults()), len(some))] {
			existing[some[i]] = nearestTo(some[i], found.GetRelations())
		}
	}
	var grounded []*graphv1.RelationPath
	for _, p := range planned {
		path := &graphv1.RelationPath{Score: p.GetScore(), TopicEntities: p.GetTopicEntities(), Kg: p.GetKg()}
		for _, s := range p.GetSteps() {
			path.Steps = append(path.Steps, &graphv1.RelationStep{Relation: existing[s.GetRelation()], Inverse: s.GetInverse()})
		}
		grounded = append(grounded, path)
	}
	return grounded, nil
}

// nearestTo is the relation of that name where there is one, else the one
// nearest in meaning, else the name itself: it leads nowhere.
func nearestTo(name string, found []*retrieverv1.ScoredRelation) string {
	for _, r := range found {
		if r.GetRelation() == name {
			return name
		}
	}
	if len(found) == 0 {
		return name
	}
	return found[0].GetRelation()
}
