package method

import (
	"context"

	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
)

// PGAKV is pseudo-graph generation and atomic knowledge verification: the
// model drafts the facts a question needs, the knowledge graph grounds them,
// the draft is corrected triple by triple, and the answer is written from what
// is left (PG&AKV §III).
type PGAKV struct{ Stages }

// Info implements Method.
func (PGAKV) Info() *orchestratorv1.Method {
	return &orchestratorv1.Method{
		Name:        "pg-akv",
		Description: "Drafts the facts as a pseudo-graph, grounds and corrects them by the knowledge graph, answers from what is left.",
		Calls:       "2 (verification by align), 3 (by edits or rewrite)",
		NeedsKg:     true,
		Stages: []orchestratorv1.Stage{
			orchestratorv1.Stage_STAGE_PSEUDO_GRAPH,
			orchestratorv1.Stage_STAGE_GROUND_GRAPH,
			orchestratorv1.Stage_STAGE_VERIFY,
			orchestratorv1.Stage_STAGE_ANSWER,
		},
	}
}

// Answer implements Method.
func (m PGAKV) Answer(ctx context.Context, q *question.Question) error {
	g := &orchestratorv1.PgAkvGraphs{}
	q.Update(func(r *orchestratorv1.Run) { r.Graphs = &orchestratorv1.Run_PgAkv{PgAkv: g} })

	if err := m.generate(ctx, q, g); err != nil && !question.OutOfBudget(err) {
		return err // nothing is known yet that could be answered with
	}
	if err := m.ground(ctx, q, g); err != nil {
		return err
	}
	if err := m.verify(ctx, q, g); err != nil {
		return m.settle(q, g, err)
	}
	if err := m.answer(ctx, q, g); err != nil {
		return m.settle(q, g, err)
	}
	return nil
}

// generate makes G_p (§III-A).
func (m PGAKV) generate(ctx context.Context, q *question.Question, g *orchestratorv1.PgAkvGraphs) error {
	return q.Stage(ctx, orchestratorv1.Stage_STAGE_PSEUDO_GRAPH, func(ctx context.Context) (question.Spent, error) {
		limits, err := q.Limits()
		if err != nil {
			return nil, err
		}
		resp, err := m.Generator.GeneratePseudoGraph(ctx, &generatorv1.GeneratePseudoGraphRequest{
			Question: q.Text(), Limits: limits,
		})
		if err != nil {
			return nil, err
		}
		q.Update(func(*orchestratorv1.Run) {
			g.PseudoGraph, g.Cypher, g.Diagnostics = resp.GetPseudoGraph(), resp.GetCypher(), resp.GetDiagnostics()
		})
		return resp, nil
	})
}

// ground makes G_t and G_g (§III-B, semantic query and both prunings).
func (m PGAKV) ground(ctx context.Context, q *question.Question, g *orchestratorv1.PgAkvGraphs) error {
	return q.Stage(ctx, orchestratorv1.Stage_STAGE_GROUND_GRAPH, func(ctx context.Context) (question.Spent, error) {
		resp, err := m.Retriever.GroundGraph(ctx, &retrieverv1.GroundGraphRequest{
			Kg: q.KG(), Question: q.Text(), PseudoGraph: g.GetPseudoGraph(),
			Options: q.Request().GetOptions().GetGrounding(),
		})
		if err != nil {
			return nil, err
		}
		q.Update(func(*orchestratorv1.Run) {
			g.Hits, g.GroundGraph, g.Dropped = resp.GetHits(), resp.GetGroundGraph(), resp.GetDropped()
		})
		return question.Free, nil
	})
}

// verify makes G_f (§III-B, pseudo-graph verification).
func (m PGAKV) verify(ctx context.Context, q *question.Question, g *orchestratorv1.PgAkvGraphs) error {
	return q.Stage(ctx, orchestratorv1.Stage_STAGE_VERIFY, func(ctx context.Context) (question.Spent, error) {
		mode := q.Request().GetOptions().GetVerification()
		limits, err := q.Limits()
		if err != nil { // alignment costs nothing
			mode = verifierv1.VerificationMode_VERIFICATION_MODE_ALIGN
		}
		resp, err := m.Verifier.Verify(ctx, &verifierv1.VerifyRequest{
			Question: q.Text(), PseudoGraph: g.GetPseudoGraph(), GroundGraph: g.GetGroundGraph(),
			Mode: mode, Limits: limits,
		})
		if err != nil {
			return nil, err
		}
		q.Update(func(*orchestratorv1.Run) {
			g.FixedGraph, g.Edits, g.Verification = resp.GetFixedGraph(), resp.GetEdits(), resp.GetMode()
		})
		return resp, nil
	})
}

// answer writes the answer from G_f (§III-C); where the knowledge graph had
// nothing to say, from the model's own knowledge.
func (m PGAKV) answer(ctx context.Context, q *question.Question, g *orchestratorv1.PgAkvGraphs) error {
	req := &generatorv1.GenerateAnswerRequest{
		Question: q.Text(), Style: generatorv1.AnswerStyle_ANSWER_STYLE_FROM_GRAPH, FixedGraph: g.GetFixedGraph(),
	}
	if len(g.GetFixedGraph().GetTriples()) == 0 {
		req.Style = generatorv1.AnswerStyle_ANSWER_STYLE_DIRECT
	}
	return m.Stages.answer(ctx, q, req, supported(g.GetFixedGraph()))
}

// settle answers with what there is when a late stage failed: the evidence
// nearest to the question.
func (m PGAKV) settle(q *question.Question, g *orchestratorv1.PgAkvGraphs, err error) error {
	best := nearest(g.GetGroundGraph())
	if best == nil || !question.Survivable(err) {
		return err
	}
	partial(q, []*orchestratorv1.Answer{{Answer: best.GetObject(), Evidence: []*graphv1.Triple{best}}}, err)
	return nil
}

// supported are the triples of a fixed graph that evidence supports.
func supported(fixed *graphv1.FixedGraph) []*graphv1.Triple {
	var triples []*graphv1.Triple
	for _, t := range fixed.GetTriples() {
		if t.GetStatus() == graphv1.TripleStatus_TRIPLE_STATUS_SUPPORTED {
			triples = append(triples, t.GetTriple())
		}
	}
	return triples
}

// nearest is the evidence nearest to the question; nil where there is none.
func nearest(ground *graphv1.GroundGraph) *graphv1.Triple {
	var best *graphv1.ScoredTriple
	for _, s := range ground.GetSubjects() {
		for _, t := range s.GetTriples() {
			if best == nil || t.GetQuestionScore() > best.GetQuestionScore() {
				best = t
			}
		}
	}
	return best.GetTriple()
}
