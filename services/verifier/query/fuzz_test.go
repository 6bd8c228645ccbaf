package query_test

import (
	"testing"

	"google.golang.org/protobuf/proto"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
	"github.com/triplemesh/triplemesh/services/verifier/query"
)

// Whatever was drafted and found, the result is a plan with a confidence or a reason.
func FuzzAlign(f *testing.F) {
	seed, err := proto.Marshal(&verifierv1.AlignQueryPlanRequest{
		Question: "which film did Mara Vell direct first",
		Plan: &graphv1.QueryPlan{Clauses: []*graphv1.QueryClause{match(variable("film"), "type", entity("film")),
			match(variable("film"), "directed", entity("Mara Vell")), match(variable("film"), "year", variable("year")),
			rank("year")}, Result: &graphv1.QueryResult{Variable: "film"}},
		Terms: []*graphv1.TermCandidates{{Name: "Mara Vell", Links: []*graphv1.EntityLink{link("Mara Vell", exact,
			1)}}},
		Patterns: []*graphv1.PatternCandidates{
			{Clause: 1, Candidates: []*graphv1.RelationCandidate{candidate("directed_by", .8, .5)}},
			{Clause: 2, Candidates: []*graphv1.RelationCandidate{candidate("release_year", .8, .5, numbers)}},
		},
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Fuzz(func(t *testing.T, data []byte) {
		req := &verifierv1.AlignQueryPlanRequest{}
		if proto.Unmarshal(data, req) != nil {
			return
		}
		got := query.New(query.DefaultConfig()).Align(req.GetQuestion(), req.GetPlan(), req.GetTerms(),
			req.GetPatterns())
		if got.Plan == nil && got.Reason == "" || got.Plan != nil && got.Reason != "" && got.Confidence > 0.7 ||
			got.Confidence < 0 || got.Confidence > 1 {
			t.Errorf("%v: got %+v", req, got)
		}
	})
}
