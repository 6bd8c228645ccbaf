package stagetest

import (
	"context"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
)

// Film is the question that the script answers by pg-akv, rag, io, cot and sc.
const Film = "who directed the quiet harbour"

// Director is its answer in the knowledge graph; the draft has another.
const Director = "Erik Halvorsen"

// Usage is what every scripted call of a model costs.
func Usage() *llmv1.Usage {
	return &llmv1.Usage{Calls: 1, PromptTokens: 10, CompletionTokens: 5}
}

// Triple is a fact.
func Triple(subject, relation, object string) *graphv1.Triple {
	return &graphv1.Triple{Subject: subject, Relation: relation, Object: object}
}

// scriptFilm scripts the knowledge graphs "wikidata", whose snapshot 3 is
// active, and "idle", which has none active, and what pg-akv, rag, io, cot and sc
// call. Answers from paths are those of the rivers.
func scriptFilm(m *Mesh) {
	draft, evidence := Triple("The Quiet Harbour", "director", "Lars Holm"),
		Triple("The Quiet Harbour", "director", Director)
	Script(m, func(_ context.Context, req *retrieverv1.ListKnowledgeGraphsRequest) (
		*retrieverv1.ListKnowledgeGraphsResponse, error) {
		resp := &retrieverv1.ListKnowledgeGraphsResponse{}
		for _, info := range []*retrieverv1.SnapshotInfo{
			{Kg: &graphv1.KnowledgeGraphRef{Name: "wikidata", Snapshot: 2}},
			{Kg: &graphv1.KnowledgeGraphRef{Name: "wikidata", Snapshot: 3}, Active: true},
			{Kg: &graphv1.KnowledgeGraphRef{Name: "idle", Snapshot: 1}},
		} {
			if req.GetKgName() == "" || req.GetKgName() == info.GetKg().GetName() {
				resp.Snapshots = append(resp.Snapshots, info)
			}
		}
		if len(resp.GetSnapshots()) == 0 {
			return nil, status.Errorf(codes.NotFound, "there is no knowledge graph %q", req.GetKgName())
		}
		return resp, nil
	})
	Script(m, func(context.Context, *generatorv1.GeneratePseudoGraphRequest) (*generatorv1.GeneratePseudoGraphResponse,
		error) {
		return &generatorv1.GeneratePseudoGraphResponse{
			PseudoGraph: &graphv1.PseudoGraph{Triples: []*graphv1.Triple{draft}}, Cypher: "CREATE …", Usage: Usage(),
		}, nil
	})
	Script(m, func(_ context.Context, req *retrieverv1.GroundGraphRequest) (*retrieverv1.GroundGraphResponse, error) {
		scored := &graphv1.ScoredTriple{Triple: evidence, Score: .9, QuestionScore: .8}
		return &retrieverv1.GroundGraphResponse{
			Hits: []*graphv1.ScoredTriple{scored},
			GroundGraph: &graphv1.GroundGraph{Subjects: []*graphv1.SubjectEvidence{
				{Subject: evidence.GetSubject(), Confidence: .9, Hits: 1, Triples: []*graphv1.ScoredTriple{
					{Triple: Triple("The Quiet Harbour", "genre", "drama"), QuestionScore: .3}, scored,
				}},
			}},
			Kg: req.GetKg(),
		}, nil
	})
	Script(m, func(_ context.Context, req *retrieverv1.SearchTriplesRequest) (*retrieverv1.SearchTriplesResponse,
		error) {
		return &retrieverv1.SearchTriplesResponse{Kg: req.GetKg(),
			Results: []*retrieverv1.TripleHits{{Triples: []*graphv1.ScoredTriple{
				{Triple: evidence, Score: .9}, {Triple: Triple("The Quiet Harbour", "genre", "drama"), Score: .6},
			}}}}, nil
	})
	Script(m, func(_ context.Context, req *verifierv1.VerifyRequest) (*verifierv1.VerifyResponse, error) {
		resp := &verifierv1.VerifyResponse{
			ReadingShare: 0.85,
			FixedGraph: &graphv1.FixedGraph{Triples: []*graphv1.FixedTriple{{Triple: evidence,
				Status: graphv1.TripleStatus_TRIPLE_STATUS_SUPPORTED}}},
			Edits: []*graphv1.Edit{{Kind: graphv1.EditKind_EDIT_KIND_REPLACE, Before: draft, After: evidence}},
			Mode:  req.GetMode(), Usage: Usage(),
		}
		if req.GetMode() == verifierv1.VerificationMode_VERIFICATION_MODE_ALIGN {
			resp.Usage = nil
		}
		return resp, nil
	})
	scriptQuery(m, evidence)
	Script(m, func(_ context.Context, req *generatorv1.GenerateAnswerRequest) (*generatorv1.GenerateAnswerResponse,
		error) {
		return answerTo(req), nil
	})
	Script(m, func(_ context.Context, req *generatorv1.GenerateAnswerStreamRequest) (
		*generatorv1.GenerateAnswerResponse,
		error) {
		return answerTo(req.GetRequest()), nil
	})
}

// scriptQuery scripts a plan for the director of the film, and its table.
func scriptQuery(m *Mesh, evidence *graphv1.Triple) {
	plan := func(relation string) *graphv1.QueryPlan {
		return &graphv1.QueryPlan{
			Clauses: []*graphv1.QueryClause{{Clause: &graphv1.QueryClause_Match{Match: &graphv1.QueryPattern{
				Start: &graphv1.QueryTerm{Term: &graphv1.QueryTerm_Entity{Entity: evidence.GetSubject()}},
				Steps: []*graphv1.RelationStep{{Relation: relation}},
				End:   &graphv1.QueryTerm{Term: &graphv1.QueryTerm_Variable{Variable: "who"}},
			}}}},
			Result: &graphv1.QueryResult{Variable: "who"},
		}
	}
	Script(m, func(context.Context, *generatorv1.GenerateQueryPlanRequest) (*generatorv1.GenerateQueryPlanResponse,
		error) {
		return &generatorv1.GenerateQueryPlanResponse{Plan: plan("directed by"), Draft: "Thing(…)", Usage: Usage()}, nil
	})
	Script(m, func(_ context.Context, req *retrieverv1.ExploreQueryPlanRequest) (*retrieverv1.ExploreQueryPlanResponse,
		error) {
		return &retrieverv1.ExploreQueryPlanResponse{Kg: req.GetKg()}, nil
	})
	Script(m, func(context.Context, *verifierv1.AlignQueryPlanRequest) (*verifierv1.AlignQueryPlanResponse, error) {
		return &verifierv1.AlignQueryPlanResponse{Plan: plan(evidence.GetRelation()), Confidence: .9,
			Edits: []*graphv1.PlanEdit{{Kind: graphv1.EditKind_EDIT_KIND_REPLACE, Before: "directed by",
				After: evidence.GetRelation()}}}, nil
	})
	Script(m, func(_ context.Context, req *retrieverv1.ExecuteQueryRequest) (*retrieverv1.ExecuteQueryResponse, error) {
		return &retrieverv1.ExecuteQueryResponse{Kg: req.GetKg(), Cypher: "MATCH …", Table: &graphv1.QueryTable{
			Columns: []string{"who"}, Total: 1, Rows: []*graphv1.QueryRow{{
				Cells: []*graphv1.Entity{{Id: "Q1", Name: Director}}, Triples: []*graphv1.Triple{evidence}}}}}, nil
	})
}

func answerTo(req *generatorv1.GenerateAnswerRequest) *generatorv1.GenerateAnswerResponse {
	if req.GetStyle() == generatorv1.AnswerStyle_ANSWER_STYLE_FROM_PATHS {
		return &generatorv1.GenerateAnswerResponse{Text: "{Tessen} and {Orla}", Answers: []string{"Tessen", "Orla"},
			Usage: Usage()}
	}
	return &generatorv1.GenerateAnswerResponse{Text: "It was {" + Director + "}.", Answers: []string{Director},
		Usage: Usage()}
}
