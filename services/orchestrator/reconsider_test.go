package orchestrator_test

import (
	"context"
	"slices"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	evaluatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/evaluator/v1"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	reflectorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/reflector/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/method/stagetest"
)

// aligns lets the verifier align a plan with a confidence and a reason to doubt it.
func aligns(mesh *stagetest.Mesh, confidence float32, doubt string) {
	stagetest.Script(mesh, func(_ context.Context, req *verifierv1.AlignQueryPlanRequest) (
		*verifierv1.AlignQueryPlanResponse, error) {
		return &verifierv1.AlignQueryPlanResponse{Plan: req.GetPlan(), Confidence: confidence, Reason: doubt}, nil
	})
}

// alignsRank is aligns with a plan that ranks.
func alignsRank(mesh *stagetest.Mesh, confidence float32) {
	stagetest.Script(mesh, func(_ context.Context, req *verifierv1.AlignQueryPlanRequest) (
		*verifierv1.AlignQueryPlanResponse, error) {
		plan := proto.CloneOf(req.GetPlan())
		plan.Clauses = append(plan.Clauses, &graphv1.QueryClause{Clause: &graphv1.QueryClause_Rank{
			Rank: &graphv1.QueryRank{Variable: "who"}}})
		return &verifierv1.AlignQueryPlanResponse{Plan: plan, Confidence: confidence, Reason: "another relation"}, nil
	})
}

// readsWell makes the model one that reads most facts right.
func readsWell(mesh *stagetest.Mesh) {
	stagetest.Script(mesh, func(context.Context, *verifierv1.VerifyRequest) (*verifierv1.VerifyResponse, error) {
		return &verifierv1.VerifyResponse{FixedGraph: &graphv1.FixedGraph{}, ReadingShare: .9}, nil
	})
}

// readsBadly makes the model one that reads few facts right.
func readsBadly(mesh *stagetest.Mesh) {
	stagetest.Script(mesh, func(context.Context, *verifierv1.VerifyRequest) (*verifierv1.VerifyResponse, error) {
		return &verifierv1.VerifyResponse{ReadingShare: .2, FixedGraph: &graphv1.FixedGraph{
			Triples: []*graphv1.FixedTriple{{Status: graphv1.TripleStatus_TRIPLE_STATUS_SUPPORTED,
				Triple: stagetest.Triple("The Quiet Harbour", "director", stagetest.Director)}}}}, nil
	})
}

// ranks lets every search find a path to the director, with a probability.
func ranks(mesh *stagetest.Mesh, probability float32) {
	path := &graphv1.ReasoningPath{Entities: []string{"The Quiet Harbour", stagetest.Director},
		Steps: []*graphv1.RelationStep{{Relation: "director"}}, Probability: proto.Float32(probability)}
	stagetest.Script(mesh, func(context.Context, *retrieverv1.GroundGraphRequest) (*retrieverv1.GroundGraphResponse,
		error) {
		return &retrieverv1.GroundGraphResponse{Paths: []*graphv1.ReasoningPath{path},
			GroundGraph: &graphv1.GroundGraph{Subjects: []*graphv1.SubjectEvidence{{Subject: "The Quiet Harbour"}}},
		}, nil
	})
	stagetest.Script(mesh, func(_ context.Context, req *reflectorv1.ReflectRequest) (*reflectorv1.ReflectResponse,
		error) {
		resp := &reflectorv1.ReflectResponse{}
		for _, c := range req.GetCandidates() {
			resp.Answers = append(resp.Answers, c.GetAnswer())
		}
		return resp, nil
	})
}

func TestAPlanAnswersWhatFactsDoNotSurelySay(t *testing.T) {
	const oslo, director = "{Oslo}", "{" + stagetest.Director + "}"
	const own = "The knowledge graph wikidata does not say. The model's own answer: Oslo"
	for _, c := range []struct {
		name     string
		question string // the film's if empty
		writes   string // by the model from facts
		sure     float32
		script   func(*stagetest.Mesh)
		change   func(*orchestratorv1.AskRequest)
		want     string
		planned  bool
		restarts int
	}{
		{name: "no triple names what the model wrote", writes: oslo, want: stagetest.Director, planned: true,
			restarts: 1},
		{name: "nothing was found", writes: oslo, script: scriptEmptyGraph, want: stagetest.Director, planned: true},
		{name: "nothing was found, and the plan may ask for something else", writes: oslo,
			script: func(m *stagetest.Mesh) {
				scriptEmptyGraph(m)
				aligns(m, .5, "another relation")
			}, want: stagetest.Director, planned: true},
		{name: "a model that reads well knows more than a plan that may ask for something else", writes: oslo,
			script: func(m *stagetest.Mesh) {
				scriptEmptyGraph(m)
				aligns(m, .5, "another relation")
				readsWell(m)
			}, want: own},
		{name: "but not more than a plan that fits", writes: oslo, script: func(m *stagetest.Mesh) {
			scriptEmptyGraph(m)
			readsWell(m)
		}, want: stagetest.Director, planned: true},
		{name: "the triples may not say what was asked", writes: director, sure: .99, want: stagetest.Director,
			planned: true, restarts: 1},
		{name: "a plan says no more than triples that do not fit the words",
			question: "When was The Quiet Harbour made?", writes: director, want: stagetest.Director},
		{name: "and a weak reader nothing by these", script: readsBadly, question: "When was The Quiet Harbour made?",
			writes: director, want: "No answer was found in the knowledge graph wikidata.", restarts: 1},
		{name: "triples come before a plan that may ask for something else", writes: director, sure: .99,
			script: func(m *stagetest.Mesh) { aligns(m, .9, "another relation") }, want: stagetest.Director},
		{name: "and before one that hardly fits", writes: director, sure: .99,
			script: func(m *stagetest.Mesh) { aligns(m, .7, "") }, want: stagetest.Director},
		{name: "triples that are sure need no plan", writes: director, want: stagetest.Director},
		{name: "a plan without a row is no answer", writes: oslo, script: func(m *stagetest.Mesh) {
			stagetest.Script(m, func(context.Context, *retrieverv1.ExecuteQueryRequest) (
				*retrieverv1.ExecuteQueryResponse, error) {
				return &retrieverv1.ExecuteQueryResponse{Table: &graphv1.QueryTable{Reason: "nothing"}}, nil
			})
		}, want: own, restarts: 1},
		{name: "a generator that fails leaves the facts", writes: oslo, script: func(m *stagetest.Mesh) {
			stagetest.Script(m, func(context.Context, *generatorv1.GenerateQueryPlanRequest) (
				*generatorv1.GenerateQueryPlanResponse, error) {
				return nil, status.Error(codes.Unavailable, "down")
			})
		}, want: own, restarts: 1},
		{name: "a plan that ranks answers what triples do not say which it is of", writes: director,
			question: "who directed the longest film, The Quiet Harbour", script: func(m *stagetest.Mesh) {
				alignsRank(m, .5)
				readsBadly(m)
			}, want: stagetest.Director, planned: true, restarts: 1},
		{name: "unless the model reads well", writes: director,
			question: "who directed the longest film, The Quiet Harbour", script: func(m *stagetest.Mesh) {
				alignsRank(m, .5)
			}, want: stagetest.Director},
		{name: "paths that a ranker knows come before a plan", writes: director, sure: .99,
			script: func(m *stagetest.Mesh) { ranks(m, .6) }, want: stagetest.Director},
		{name: "a budget has no room for it", writes: oslo, change: func(req *orchestratorv1.AskRequest) {
			req.Limits = &llmv1.Limits{Budget: &llmv1.Budget{MaxCalls: 3}}
		}, want: own, restarts: 1},
		{name: "a plan reads one knowledge graph", writes: oslo, script: twoGraphs,
			change: func(req *orchestratorv1.AskRequest) {
				req.OtherKgs = []*graphv1.KnowledgeGraphRef{{Name: "films"}}
			}, want: "The knowledge graphs wikidata and films do not say. The model's own answer: Oslo", restarts: 1},
		{name: "pg-akv plans nothing", writes: oslo, change: func(req *orchestratorv1.AskRequest) {
			req.Method = "pg-akv"
		}, want: own, restarts: 1},
		{name: "a plan that was made before is not made again", question: "which directors made The Quiet Harbour",
			writes: oslo, script: func(m *stagetest.Mesh) { aligns(m, .75, "") }, want: stagetest.Director,
			planned: true, restarts: 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			mesh := stagetest.New(t)
			scriptOwnAnswer(mesh, c.writes, graphv1.AnswerForm_ANSWER_FORM_ENTITIES)
			if c.script != nil {
				c.script(mesh)
			}
			cfg := testConfig(t, mesh)
			if c.sure > 0 {
				cfg.Confidence.Grounded = c.sure
			}
			req := film("auto")
			if c.question != "" {
				req.Question = c.question
			}
			if c.change != nil {
				c.change(req)
			}
			got, err := listen(t, serveWith(t, cfg), req)
			if err != nil {
				t.Fatal(err)
			}
			run := got.last
			if run.GetText() != c.want || got.text != c.want || got.restarts != c.restarts {
				t.Errorf("streamed %q with %d restarts, then %q", got.text, got.restarts, run.GetText())
			}
			if (run.GetQuery() != nil) != c.planned || (run.GetChoice().GetMethod() == "query") != c.planned {
				t.Errorf("chose %v, with graphs %v", run.GetChoice(), run.GetGraphs())
			}
			plans := slices.DeleteFunc(mesh.Calls(), func(call string) bool { return call != "GenerateQueryPlan" })
			if len(plans) > 1 {
				t.Errorf("%d plans were made", len(plans))
			}
		})
	}
}

func TestWhatAPlanLooksUpInPlaceOfFactsIsPutToTheModel(t *testing.T) {
	for _, c := range []struct {
		name   string
		script func(*stagetest.Mesh)
		asked  bool
	}{
		{"which says no", func(m *stagetest.Mesh) { aligns(m, .5, "another relation") }, true},
		{"also of what fits its words, and is not sure", func(m *stagetest.Mesh) { aligns(m, .75, "") }, true},
		{"but not what a plan computes", func(m *stagetest.Mesh) { alignsRank(m, .5) }, false},
		{"nor what is sure", func(m *stagetest.Mesh) { aligns(m, .9, "") }, false},
		{"nor on a graph that a ranker knows", func(m *stagetest.Mesh) {
			ranks(m, .75)
			aligns(m, .75, "")
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			mesh := stagetest.New(t)
			scriptOwnAnswer(mesh, "{Oslo}", graphv1.AnswerForm_ANSWER_FORM_ENTITIES)
			scriptEmptyGraph(mesh)
			c.script(mesh)
			stagetest.Script(mesh, func(context.Context, *evaluatorv1.EvaluateAnswersRequest) (
				*evaluatorv1.EvaluateAnswersResponse, error) {
				return &evaluatorv1.EvaluateAnswersResponse{Verdicts: []*graphv1.AnswerVerdict{{}}}, nil
			})
			got, err := listen(t, serveWith(t, testConfig(t, mesh)), film("auto"))
			if err != nil {
				t.Fatal(err)
			}
			if asked := slices.Contains(mesh.Calls(), "EvaluateAnswers"); asked != c.asked ||
				asked != (len(got.last.GetWithheld()) > 0) {
				t.Errorf("asked the model: %v, withheld %v", asked, got.last.GetWithheld())
			}
		})
	}
}
