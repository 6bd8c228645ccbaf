package method

import (
	"context"
	"slices"

	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
)

// ragHits is the number of triples that RAG answers from: as many as PG&AKV retrieves for each
// pseudo-triple (§III-B), so that the two differ in the query only.
const ragHits = 10

// RAG is retrieval-augmented generation: it answers from the triples nearest to the question
// (PG&AKV §IV-C).
type RAG struct{ Stages }

// Info implements Method.
func (RAG) Info() *orchestratorv1.Method {
	return &orchestratorv1.Method{
		Name:        "rag",
		Description: "Searches the triples nearest to the question and answers from them.",
		Calls:       "1",
		NeedsKg:     true,
		Stages: []orchestratorv1.Stage{
			orchestratorv1.Stage_STAGE_SEARCH,
			orchestratorv1.Stage_STAGE_ANSWER,
		},
	}
}

// Answer implements Method.
func (m RAG) Answer(ctx context.Context, q *question.Question) error {
	g := &orchestratorv1.RagGraphs{}
	q.Update(func(r *orchestratorv1.Run) { r.Graphs = &orchestratorv1.Run_Rag{Rag: g} })

	if err := m.search(ctx, q, g); err != nil {
		return err
	}
	if len(g.GetHits()) == 0 {
		return m.answerFromMemory(ctx, q)
	}
	if err := m.answer(ctx, q, g); err != nil {
		return settleOnTriple(ctx, q, g.GetHits()[0].GetTriple(), err)
	}
	return nil
}

// search finds the triples nearest to the question.
func (m RAG) search(ctx context.Context, q *question.Question, g *orchestratorv1.RagGraphs) error {
	return q.Stage(ctx, orchestratorv1.Stage_STAGE_SEARCH, func(ctx context.Context) (question.Cost, error) {
		req := &retrieverv1.SearchTriplesRequest{
			Kg: q.KG(), Queries: []string{q.Text()}, Limit: ragHits,
			Filter: q.Request().GetOptions().GetGrounding().GetFilter(),
		}
		if o := q.Request().GetOptions().GetGrounding(); o != nil && o.TopK != nil {
			req.Limit = o.GetTopK()
		}
		resp, err := m.Retriever.SearchTriples(ctx, req)
		if err != nil {
			return nil, err
		}
		if len(resp.GetResults()) > 0 {
			q.Update(func(*orchestratorv1.Run) { g.Hits = resp.GetResults()[0].GetTriples() })
		}
		return question.NoCost, nil
	})
}

// answer answers from the triples. The best triple comes last, next to the question.
func (m RAG) answer(ctx context.Context, q *question.Question, g *orchestratorv1.RagGraphs) error {
	var triples []*graphv1.Triple
	for _, hit := range slices.Backward(g.GetHits()) {
		triples = append(triples, hit.GetTriple())
	}
	return m.Stages.answer(ctx, q, &generatorv1.GenerateAnswerRequest{
		Question: q.Text(), Style: generatorv1.AnswerStyle_ANSWER_STYLE_FROM_GRAPH,
		FixedGraph: newFixedGraph(triples, graphv1.TripleStatus_TRIPLE_STATUS_SUPPORTED),
	}, tripleEvidence(triples))
}
