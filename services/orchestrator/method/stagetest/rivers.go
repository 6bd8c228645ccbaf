package stagetest

import (
	"context"

	"google.golang.org/protobuf/proto"

	evaluatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/evaluator/v1"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	reflectorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/reflector/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

// Rivers is the question that the script answers by ger and rog: with Tessen
// and Orla.
const Rivers = "what rivers flow through velmora"

// relation is a relation path of one hop from Velmora.
func relation(name string) *graphv1.RelationPath {
	return &graphv1.RelationPath{Steps: []*graphv1.RelationStep{{Relation: name}}, TopicEntities: []string{"Velmora"}}
}

// Walk is a reasoning path of one hop from Velmora.
func Walk(relation, to string) *graphv1.ReasoningPath {
	return &graphv1.ReasoningPath{Entities: []string{"Velmora", to},
		Steps: []*graphv1.RelationStep{{Relation: relation}}}
}

// scriptRivers scripts what ger and rog call: paths lead to two rivers and a
// town, the town and one river are candidates, and reflection puts that right.
// The model's own words for a relation are nearest to "river"; with verdicts at
// hand it writes the right candidates.
func scriptRivers(m *Mesh) {
	Script(m, func(context.Context, *reflectorv1.GetReflectionModeRequest) (*reflectorv1.GetReflectionModeResponse,
		error) {
		return &reflectorv1.GetReflectionModeResponse{Mode: reflectorv1.ReflectionMode_REFLECTION_MODE_MODEL}, nil
	})
	walks := []*graphv1.ReasoningPath{Walk("river", "Tessen"), Walk("river", "Orla"), Walk("twin", "Harn")}
	Script(m, func(_ context.Context, r *retrieverv1.BatchGetEntitiesRequest) (*retrieverv1.BatchGetEntitiesResponse,
		error) {
		resp := &retrieverv1.BatchGetEntitiesResponse{Entities: map[string]*graphv1.Entity{}, Kg: r.GetKg()}
		for _, name := range r.GetEntities() {
			resp.Entities[name] = &graphv1.Entity{Id: name, Name: name}
		}
		return resp, nil
	})
	Script(m, func(context.Context, *retrieverv1.LinkEntitiesRequest) (*retrieverv1.LinkEntitiesResponse, error) {
		link := &graphv1.EntityLink{Entity: "Velmora", Mention: "velmora",
			Match: graphv1.LinkMatch_LINK_MATCH_NORMALISED, Score: .9}
		return &retrieverv1.LinkEntitiesResponse{Links: []*graphv1.EntityLink{link, link}}, nil
	})
	Script(m, func(_ context.Context, req *generatorv1.GenerateRelationPathsRequest) (
		*generatorv1.GenerateRelationPathsResponse, error) {
		resp := &generatorv1.GenerateRelationPathsResponse{Paths: []*graphv1.RelationPath{relation("flows through")},
			Usage: Usage()}
		if existing := req.GetExisting(); len(existing) > 0 {
			resp.Paths = existing[:1]
		}
		return resp, nil
	})
	Script(m, func(context.Context, *retrieverv1.SuggestPathsRequest) (*retrieverv1.SuggestPathsResponse, error) {
		return &retrieverv1.SuggestPathsResponse{Paths: []*graphv1.RelationPath{relation("river"), relation("twin")}},
			nil
	})
	Script(m, func(_ context.Context, req *retrieverv1.SearchRelationsRequest) (*retrieverv1.SearchRelationsResponse,
		error) {
		resp := &retrieverv1.SearchRelationsResponse{}
		for range req.GetQueries() {
			resp.Results = append(resp.Results,
				&retrieverv1.RelationHits{Relations: []*retrieverv1.ScoredRelation{{Relation: "river", Score: .8},
					{Relation: "twin", Score: .4}}})
		}
		return resp, nil
	})
	Script(m, func(_ context.Context, req *retrieverv1.FollowPathsRequest) (*retrieverv1.FollowPathsResponse, error) {
		resp := &retrieverv1.FollowPathsResponse{}
		for _, p := range req.GetPaths() {
			for _, w := range walks {
				if proto.Equal(w.GetSteps()[0], p.GetSteps()[0]) && len(p.GetSteps()) == 1 {
					resp.Paths = append(resp.Paths, w)
				}
			}
		}
		return resp, nil
	})
	Script(m, func(_ context.Context, req *generatorv1.GenerateCandidateAnswersRequest) (
		*generatorv1.GenerateCandidateAnswersResponse, error) {
		if req.GetFeedback() != nil {
			return &generatorv1.GenerateCandidateAnswersResponse{Candidates: []*graphv1.CandidateAnswer{
				{Answer: "Tessen", Paths: walks[:1]}, {Answer: "Orla", Paths: walks[1:2]},
			}, Usage: Usage()}, nil
		}
		return &generatorv1.GenerateCandidateAnswersResponse{Candidates: []*graphv1.CandidateAnswer{
			{Answer: "Harn", Paths: walks[2:]}, {Answer: "Tessen", Paths: walks[:1]},
		}, Usage: Usage()}, nil
	})
	Script(m, func(context.Context, *evaluatorv1.EvaluateQuestionRequest) (*evaluatorv1.EvaluateQuestionResponse,
		error) {
		return &evaluatorv1.EvaluateQuestionResponse{Verdict: &graphv1.QuestionVerdict{Incomplete: true,
			Reason: "Orla is missing"}, Usage: Usage()}, nil
	})
	Script(m, func(_ context.Context, req *evaluatorv1.EvaluateAnswersRequest) (*evaluatorv1.EvaluateAnswersResponse,
		error) {
		resp := &evaluatorv1.EvaluateAnswersResponse{Usage: Usage()}
		for _, c := range req.GetCandidates() {
			resp.Verdicts = append(resp.Verdicts, &graphv1.AnswerVerdict{Answer: c.GetAnswer(),
				Correct: c.GetAnswer() == "Tessen" || c.GetAnswer() == Director})
		}
		return resp, nil
	})
	Script(m, func(_ context.Context, req *reflectorv1.ReflectRequest) (*reflectorv1.ReflectResponse, error) {
		usage := Usage()
		if req.GetMode() == reflectorv1.ReflectionMode_REFLECTION_MODE_WEIGH {
			usage = nil // it asks no model
		}
		return &reflectorv1.ReflectResponse{Answers: []string{"Tessen", "Orla"}, Reflections: []*reflectorv1.Reflection{
			{Answer: "Harn", Decision: reflectorv1.Decision_DECISION_DROP},
			{Answer: "Tessen", Decision: reflectorv1.Decision_DECISION_KEEP},
			{Answer: "Orla", Decision: reflectorv1.Decision_DECISION_ADD},
		}, Usage: usage, ReadingShare: 0.2}, nil
	})
}
