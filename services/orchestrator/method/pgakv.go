package method

import (
	"context"
	"slices"

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

// pgakvVariants are PG&AKV and its ablations (§IV-E): the stages left out, and
// the graph that the answer is written from.
var pgakvVariants = variants[struct {
	without []orchestratorv1.Stage
	from    func(*orchestratorv1.PgAkvGraphs) *graphv1.FixedGraph
}]{
	orchestratorv1.Ablation_ABLATION_UNSPECIFIED: {nil, (*orchestratorv1.PgAkvGraphs).GetFixedGraph},
	orchestratorv1.Ablation_ABLATION_FROM_PSEUDO_GRAPH: {
		[]orchestratorv1.Stage{orchestratorv1.Stage_STAGE_GROUND_GRAPH, orchestratorv1.Stage_STAGE_VERIFY},
		func(g *orchestratorv1.PgAkvGraphs) *graphv1.FixedGraph {
			return graphOf(g.GetPseudoGraph().GetTriples(), graphv1.TripleStatus_TRIPLE_STATUS_UNVERIFIED)
		},
	},
	orchestratorv1.Ablation_ABLATION_FROM_GROUND_GRAPH: {
		[]orchestratorv1.Stage{orchestratorv1.Stage_STAGE_VERIFY},
		func(g *orchestratorv1.PgAkvGraphs) *graphv1.FixedGraph {
			return graphOf(lastFirst(g.GetGroundGraph()), graphv1.TripleStatus_TRIPLE_STATUS_SUPPORTED)
		},
	},
}

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
		Ablations: pgakvVariants.names(),
	}
}

// Without implements Ablated.
func (PGAKV) Without(ablation orchestratorv1.Ablation) []orchestratorv1.Stage {
	return pgakvVariants[ablation].without
}

// Answer implements Method.
func (m PGAKV) Answer(ctx context.Context, q *question.Question) error {
	g := &orchestratorv1.PgAkvGraphs{}
	q.Update(func(r *orchestratorv1.Run) { r.Graphs = &orchestratorv1.Run_PgAkv{PgAkv: g} })
	return m.through(ctx, q, g)
}

// through takes a question through the stages.
func (m PGAKV) through(ctx context.Context, q *question.Question, g *orchestratorv1.PgAkvGraphs) error {
	for _, s := range []step[*orchestratorv1.PgAkvGraphs]{
		{orchestratorv1.Stage_STAGE_PSEUDO_GRAPH, m.generate},
		{orchestratorv1.Stage_STAGE_GROUND_GRAPH, m.ground},
		{orchestratorv1.Stage_STAGE_VERIFY, m.verify},
		{orchestratorv1.Stage_STAGE_ANSWER, m.answer},
	} {
		if slices.Contains(pgakvVariants.of(q).without, s.stage) {
			continue
		}
		if err := s.do(ctx, q, g); err != nil {
			return settleOn(ctx, q, nearest(g.GetGroundGraph()), err)
		}
	}
	return nil
}

// generate makes G_p (§III-A). Where the budget has no room for it, the
// question alone is grounded.
func (m PGAKV) generate(ctx context.Context, q *question.Question, g *orchestratorv1.PgAkvGraphs) error {
	err := q.Stage(ctx, orchestratorv1.Stage_STAGE_PSEUDO_GRAPH, func(ctx context.Context) (question.Spent, error) {
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
	if question.OutOfBudget(err) {
		return nil
	}
	return err
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
			Mode: mode, Form: form(q), Limits: limits,
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
	from := pgakvVariants.of(q).from(g)
	if len(from.GetTriples()) == 0 {
		return m.fromMemory(ctx, q)
	}
	return m.Stages.answer(ctx, q, &generatorv1.GenerateAnswerRequest{
		Question: q.Text(), Style: generatorv1.AnswerStyle_ANSWER_STYLE_FROM_GRAPH, FixedGraph: from,
	}, supported(from))
}
