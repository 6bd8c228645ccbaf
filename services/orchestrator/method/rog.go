package method

import (
	"context"
	"slices"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
)

// RoG is reasoning on graphs: it plans relation paths, follows them and answers from the reasoning
// paths (Luo et al., ICLR 2024). The planner of the paper is trained on the relations of the graph;
// for other models each planned relation is replaced by the nearest that exists. A plan does not
// give the direction of a relation, so both are tried.
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
	if err := m.generatePaths(ctx, q, g); err != nil {
		return err
	}
	if err := m.answerFromPaths(ctx, q, g.GetReasoningPaths()); err != nil {
		return settleOnEnds(ctx, q, g.GetReasoningPaths(), err)
	}
	return nil
}

// generatePaths plans relation paths, grounds them in relations that exist, and follows them.
func (m RoG) generatePaths(ctx context.Context, q *question.Question, g *orchestratorv1.RogGraphs) error {
	topics := entityNames(g.GetTopicEntities())
	return multiCallStage(ctx, q, orchestratorv1.Stage_STAGE_PATHS, func(ctx context.Context, b *stageBudget) error {
		if len(topics) == 0 {
			return nil
		}
		planned, err := m.plan(ctx, q, topics, b)
		if err != nil {
			return err
		}
		q.Update(func(*orchestratorv1.Run) { g.PlannedPaths = planned })
		existing, err := m.ground(ctx, q, planned)
		if err != nil {
			return err
		}
		found, walks, err := m.followBothWays(ctx, q, topics, existing, b)
		if err != nil {
			return err
		}
		q.Update(func(*orchestratorv1.Run) { g.RelationPaths, g.ReasoningPaths = found, walks })
		return nil
	})
}

// plan asks the model for relation paths, unless the caller gives them.
func (m RoG) plan(ctx context.Context, q *question.Question, topics []string,
	b *stageBudget) ([]*graphv1.RelationPath, error) {
	if given := q.Request().GetRelationPaths(); len(given) > 0 {
		return given, nil
	}
	resp, err := callModel(b, func(limits *llmv1.Limits) (*generatorv1.GenerateRelationPathsResponse, error) {
		return m.Generator.GenerateRelationPaths(ctx, &generatorv1.GenerateRelationPathsRequest{
			Question: q.Text(), TopicEntities: topics, Limits: limits,
		})
	})
	return resp.GetPaths(), err
}

// maxQueries is the maximum number of queries in one SearchRelations request.
const maxQueries = 256

// ground replaces planned relations by relations that exist.
func (m RoG) ground(ctx context.Context, q *question.Question,
	planned []*graphv1.RelationPath) ([]*graphv1.RelationPath, error) {
	var names []string
	for _, p := range planned {
		for _, s := range p.GetSteps() {
			names = append(names, s.GetRelation())
		}
	}
	slices.Sort(names)
	existing := map[string]string{}
	for chunk := range slices.Chunk(slices.Compact(names), maxQueries) {
		req := &retrieverv1.SearchRelationsRequest{Kg: q.KG()}
		for _, name := range chunk {
			req.Queries = append(req.Queries,
				kgtext.VerbaliseRelationInContext(name)) // the form in which relations are encoded
		}
		resp, err := m.Retriever.SearchRelations(ctx, req)
		if err != nil {
			return nil, err
		}
		for i, found := range resp.GetResults()[:min(len(resp.GetResults()), len(chunk))] {
			existing[chunk[i]] = nearestRelation(chunk[i], found.GetRelations())
		}
	}
	var grounded []*graphv1.RelationPath
	for _, p := range planned {
		path := &graphv1.RelationPath{Score: p.Score, TopicEntities: p.GetTopicEntities(), KgName: p.GetKgName()}
		for _, s := range p.GetSteps() {
			path.Steps = append(path.Steps, &graphv1.RelationStep{Relation: existing[s.GetRelation()],
				Inverse: s.GetInverse()})
		}
		grounded = append(grounded, path)
	}
	return grounded, nil
}

// nearestRelation returns the relation of that name, else the nearest in meaning, else the name
// itself, which has no walks.
func nearestRelation(name string, found []*retrieverv1.ScoredRelation) string {
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
