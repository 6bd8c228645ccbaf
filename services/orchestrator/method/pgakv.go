package method

import (
	"context"
	"slices"

	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	reflectorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/reflector/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
)

// PGAKV is pseudo-graph generation and atomic knowledge verification: the model drafts the facts
// that a question needs, the knowledge graph grounds them, the draft is corrected triple by triple,
// and the answer is written from the corrected graph (PG&AKV §III).
type PGAKV struct{ Stages }

// pgakvVariants are PG&AKV and its ablations (§IV-E): the stages to skip, and the graph to answer
// from.
var pgakvVariants = variants[struct {
	skip []orchestratorv1.Stage
	from func(*orchestratorv1.PgAkvGraphs) *graphv1.FixedGraph
}]{
	orchestratorv1.Ablation_ABLATION_UNSPECIFIED: {nil, (*orchestratorv1.PgAkvGraphs).GetFixedGraph},
	orchestratorv1.Ablation_ABLATION_FROM_PSEUDO_GRAPH: {
		[]orchestratorv1.Stage{orchestratorv1.Stage_STAGE_GROUND_GRAPH, orchestratorv1.Stage_STAGE_VERIFY},
		func(g *orchestratorv1.PgAkvGraphs) *graphv1.FixedGraph {
			return newFixedGraph(g.GetPseudoGraph().GetTriples(), graphv1.TripleStatus_TRIPLE_STATUS_UNVERIFIED)
		},
	},
	orchestratorv1.Ablation_ABLATION_FROM_GROUND_GRAPH: {
		[]orchestratorv1.Stage{orchestratorv1.Stage_STAGE_VERIFY},
		func(g *orchestratorv1.PgAkvGraphs) *graphv1.FixedGraph {
			return newFixedGraph(ascendingTriples(g.GetGroundGraph()), graphv1.TripleStatus_TRIPLE_STATUS_SUPPORTED)
		},
	},
	orchestratorv1.Ablation_ABLATION_NO_PSEUDO_GRAPH: {
		[]orchestratorv1.Stage{orchestratorv1.Stage_STAGE_PSEUDO_GRAPH}, (*orchestratorv1.PgAkvGraphs).GetFixedGraph,
	},
}

// Info implements Method.
func (PGAKV) Info() *orchestratorv1.Method {
	return &orchestratorv1.Method{
		Name: "pg-akv",
		Description: "Drafts the facts as a pseudo-graph, grounds and corrects them by the knowledge graph, answers " +
			"from what is left.",
		Calls:   "2 (verification by align), 3 (by edits or rewrite)",
		NeedsKg: true,
		Stages: []orchestratorv1.Stage{
			orchestratorv1.Stage_STAGE_PSEUDO_GRAPH,
			orchestratorv1.Stage_STAGE_GROUND_GRAPH,
			orchestratorv1.Stage_STAGE_VERIFY,
			orchestratorv1.Stage_STAGE_ANSWER,
		},
		Ablations: pgakvVariants.ablations(),
	}
}

// SkippedStages implements Ablatable.
func (PGAKV) SkippedStages(ablation orchestratorv1.Ablation) []orchestratorv1.Stage {
	return pgakvVariants[ablation].skip
}

// Answer implements Method.
func (m PGAKV) Answer(ctx context.Context, q *question.Question) error {
	g := &orchestratorv1.PgAkvGraphs{}
	q.Update(func(r *orchestratorv1.Run) { r.Graphs = &orchestratorv1.Run_PgAkv{PgAkv: g} })
	return m.run(ctx, q, g, pgakvVariants.requested(q).skip...)
}

// run takes a question through the stages but some to skip. If a stage after retrieval fails, PG&AKV answers with
// the triple nearest to the question.
func (m PGAKV) run(ctx context.Context, q *question.Question, g *orchestratorv1.PgAkvGraphs,
	skip ...orchestratorv1.Stage) error {
	for _, step := range []struct {
		stage orchestratorv1.Stage
		run   func(context.Context, *question.Question, *orchestratorv1.PgAkvGraphs) error
	}{
		{orchestratorv1.Stage_STAGE_PSEUDO_GRAPH, m.generate},
		{orchestratorv1.Stage_STAGE_GROUND_GRAPH, m.ground},
		{orchestratorv1.Stage_STAGE_VERIFY, m.verify},
		{orchestratorv1.Stage_STAGE_ANSWER, m.answer},
	} {
		if slices.Contains(skip, step.stage) {
			continue
		}
		if err := step.run(ctx, q, g); err != nil {
			return settleOnTriple(ctx, q, nearestTriple(g.GetGroundGraph()), err)
		}
	}
	return nil
}

// generate drafts G_p (§III-A). If the budget does not cover it, the question alone is grounded.
func (m PGAKV) generate(ctx context.Context, q *question.Question, g *orchestratorv1.PgAkvGraphs) error {
	err := modelStage(ctx, q, orchestratorv1.Stage_STAGE_PSEUDO_GRAPH,
		func(ctx context.Context, limits *llmv1.Limits) (question.Cost, error) {
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

// ground retrieves G_t and prunes it to G_g (§III-B, semantic query and both prunings).
func (m PGAKV) ground(ctx context.Context, q *question.Question, g *orchestratorv1.PgAkvGraphs) error {
	return q.Stage(ctx, orchestratorv1.Stage_STAGE_GROUND_GRAPH, func(ctx context.Context) (question.Cost, error) {
		resp, err := m.Retriever.GroundGraph(ctx, &retrieverv1.GroundGraphRequest{
			Kg: q.KG(), Question: q.Text(), PseudoGraph: g.GetPseudoGraph(),
			Options: q.Request().GetOptions().GetGrounding(),
		})
		if err != nil {
			return nil, err
		}
		q.Update(func(*orchestratorv1.Run) {
			g.Hits, g.GroundGraph, g.Dropped = resp.GetHits(), resp.GetGroundGraph(), resp.GetDropped()
			g.ReasoningPaths = resp.GetPaths()
		})
		return question.NoCost, nil
	})
}

// verify corrects G_p by G_g to G_f (§III-B, pseudo-graph verification).
func (m PGAKV) verify(ctx context.Context, q *question.Question, g *orchestratorv1.PgAkvGraphs) error {
	return q.Stage(ctx, orchestratorv1.Stage_STAGE_VERIFY, func(ctx context.Context) (question.Cost, error) {
		if len(g.GetPseudoGraph().GetTriples()) == 0 && len(g.GetGroundGraph().GetSubjects()) == 0 {
			return question.NoCost, nil
		}
		mode := q.Request().GetOptions().GetVerification()
		limits, err := q.Limits()
		if err != nil { // out of budget: alignment needs no model
			mode = verifierv1.VerificationMode_VERIFICATION_MODE_ALIGN
		}
		resp, err := m.Verifier.Verify(ctx, &verifierv1.VerifyRequest{
			Question: q.Text(), PseudoGraph: g.GetPseudoGraph(), GroundGraph: g.GetGroundGraph(),
			Mode: mode, Form: answerForm(q), Limits: limits,
		})
		if err != nil {
			return nil, err
		}
		q.Update(func(*orchestratorv1.Run) {
			g.FixedGraph, g.Edits, g.Verification = resp.GetFixedGraph(), resp.GetEdits(), resp.GetMode()
			g.ReadingShare = resp.GetReadingShare()
		})
		return resp, nil
	})
}

// answer answers from G_f (§III-C), or from memory if G_f is empty. Where the retriever ranked the
// relation paths, the answers are settled by these and by what the model read.
func (m PGAKV) answer(ctx context.Context, q *question.Question, g *orchestratorv1.PgAkvGraphs) error {
	graph := pgakvVariants.requested(q).from(g)
	if len(graph.GetTriples()) == 0 {
		return m.answerFromMemory(ctx, q)
	}
	ranked := len(g.GetReasoningPaths()) > 0 && answerForm(q) != graphv1.AnswerForm_ANSWER_FORM_TEXT &&
		q.Request().GetOptions().GetAblation() != orchestratorv1.Ablation_ABLATION_FROM_PSEUDO_GRAPH
	if ranked {
		q.Hold()
	}
	err := m.Stages.answer(ctx, q, &generatorv1.GenerateAnswerRequest{
		Question: q.Text(), Style: generatorv1.AnswerStyle_ANSWER_STYLE_FROM_GRAPH, FixedGraph: graph,
	}, supportedTriples(graph))
	switch {
	case err != nil:
		return err
	case ranked:
		return m.settle(ctx, q, g)
	}
	if q.Request().GetOptions().GetAblation() == orchestratorv1.Ablation_ABLATION_UNSPECIFIED {
		settleList(q, g.GetGroundGraph())
	}
	return nil
}

// settle chooses the answers with the highest expected F1 by the ranked paths and by what the model
// read off G_f. A reading that no path leads to stays.
func (m PGAKV) settle(ctx context.Context, q *question.Question, g *orchestratorv1.PgAkvGraphs) error {
	run := q.Snapshot()
	if len(run.GetAnswers()) == 0 { // a text, or nothing
		return nil
	}
	read := make([]*graphv1.CandidateAnswer, len(run.GetAnswers()))
	for i, a := range run.GetAnswers() {
		read[i] = &graphv1.CandidateAnswer{Answer: a.GetAnswer(), AnswerId: a.GetId()}
	}
	resp, err := m.Reflector.Reflect(ctx, &reflectorv1.ReflectRequest{
		Question: q.Text(), Candidates: read, Paths: g.GetReasoningPaths(),
		Mode: reflectorv1.ReflectionMode_REFLECTION_MODE_WEIGH,
	})
	if question.Recoverable(ctx, err) {
		return nil // the reading stands
	}
	if err != nil {
		return err
	}
	q.Update(func(*orchestratorv1.Run) { g.Reflections = resp.GetReflections() })
	if sameNames(resp.GetAnswers(), candidateNames(read)) {
		return nil
	}
	paths := pathEvidence(g.GetReasoningPaths())
	answers := supportOnPaths(resp.GetAnswers(), paths,
		append(supportedTriples(g.GetFixedGraph()), paths.triples()...))
	conclude(q, JoinNames(answers), answers, true)
	q.Replace(JoinNames(answers))
	return nil
}

// sameNames reports whether two lists have the same names in any order.
func sameNames(a, b []string) bool {
	has := map[string]bool{}
	for _, name := range a {
		has[answerKey(name)] = true
	}
	for _, name := range b {
		if !has[answerKey(name)] {
			return false
		}
	}
	return len(a) == len(b)
}
