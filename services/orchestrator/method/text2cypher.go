package method

import (
	"context"
	"fmt"
	"strings"

	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
)

// Text2Cypher is the baseline of query: the model sees relationships of the knowledge graph and writes
// Cypher in their names, which is computed as it stands. It differs from query in that nothing is aligned
// to what the entities of the question have.
type Text2Cypher struct{ Stages }

const (
	// schemaRelations is how many relations nearest to the question the model is shown.
	schemaRelations = 24
	// schemaTriples is how many triples nearest to the question are read for examples of them.
	schemaTriples = 64
)

// Info implements Method.
func (Text2Cypher) Info() *orchestratorv1.Method {
	return &orchestratorv1.Method{
		Name:        "text2cypher",
		Description: "Shows the model a sampled schema and computes the Cypher that it writes, as it stands.",
		Calls:       "1",
		NeedsKg:     true,
		Stages: []orchestratorv1.Stage{
			orchestratorv1.Stage_STAGE_SEARCH,
			orchestratorv1.Stage_STAGE_PLAN,
			orchestratorv1.Stage_STAGE_EXECUTE,
		},
	}
}

// Answer implements Method.
func (m Text2Cypher) Answer(ctx context.Context, q *question.Question) error {
	g := &orchestratorv1.QueryGraphs{}
	q.Update(func(r *orchestratorv1.Run) { r.Graphs = &orchestratorv1.Run_Query{Query: g} })
	schema, err := m.sample(ctx, q)
	if err != nil {
		return err
	}
	reason, err := m.plan(ctx, q, g, schema)
	if err == nil && reason == "" {
		reason, err = Query(m).execute(ctx, q, g)
	}
	if err != nil {
		return err
	}
	if reason != "" {
		Query(m).refuse(q, reason)
		return nil
	}
	Query(m).conclude(q, g)
	return nil
}

// sample returns a line for each relation near the question, with a triple of it where one is near.
func (m Text2Cypher) sample(ctx context.Context, q *question.Question) ([]string, error) {
	var schema []string
	err := q.Stage(ctx, orchestratorv1.Stage_STAGE_SEARCH, func(ctx context.Context) (question.Cost, error) {
		triples, err := m.Retriever.SearchTriples(ctx, &retrieverv1.SearchTriplesRequest{
			Kg: q.KG(), Queries: []string{q.Text()}, Limit: schemaTriples,
		})
		if err != nil {
			return nil, err
		}
		relations, err := m.Retriever.SearchRelations(ctx, &retrieverv1.SearchRelationsRequest{
			Kg: q.KG(), Queries: []string{q.Text()}, Limit: schemaRelations,
		})
		if err != nil {
			return nil, err
		}
		schema = describeSchema(relations, triples)
		return question.NoCost, nil
	})
	return schema, err
}

func describeSchema(relations *retrieverv1.SearchRelationsResponse,
	triples *retrieverv1.SearchTriplesResponse) []string {
	var schema []string
	shown := map[string]bool{}
	add := func(subject, relation, object string) {
		if !shown[relation] {
			shown[relation] = true
			schema = append(schema, fmt.Sprintf("(%s)-[:`%s`]->(%s)", subject,
				strings.ReplaceAll(relation, "`", "``"), object))
		}
	}
	for _, hits := range triples.GetResults() {
		for _, hit := range hits.GetTriples() {
			t := hit.GetTriple()
			add(fmt.Sprintf("%q", t.GetSubject()), t.GetRelation(), fmt.Sprintf("%q", t.GetObject()))
		}
	}
	for _, hits := range relations.GetResults() {
		for _, hit := range hits.GetRelations() {
			add("", hit.GetRelation(), "")
		}
	}
	return schema
}

// plan lets the model write Cypher.
func (m Text2Cypher) plan(ctx context.Context, q *question.Question, g *orchestratorv1.QueryGraphs,
	schema []string) (string, error) {
	reason := ""
	err := modelStage(ctx, q, orchestratorv1.Stage_STAGE_PLAN,
		func(ctx context.Context, limits *llmv1.Limits) (question.Cost, error) {
			resp, err := m.Generator.GenerateQueryPlan(ctx, &generatorv1.GenerateQueryPlanRequest{
				Question: q.Text(), Limits: limits, Schema: schema,
			})
			if err != nil {
				return nil, err
			}
			if len(resp.GetPlan().GetClauses()) == 0 {
				reason = "the model wrote no Cypher that can be read"
			}
			q.Update(func(*orchestratorv1.Run) {
				g.Draft, g.DraftedPlan, g.Plan = resp.GetDraft(), resp.GetPlan(), resp.GetPlan()
				g.Alignment = unaligned
			})
			return resp, nil
		})
	return reason, err
}

// unaligned is the confidence in a plan that nothing was compared with.
const unaligned = 0.5
