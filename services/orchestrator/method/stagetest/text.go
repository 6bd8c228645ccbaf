package stagetest

import (
	"context"
	"strings"
	"unicode/utf8"

	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
)

// scriptText scripts what a check calls: each sentence "S is R O." is the claim
// S | R | O; what is said of Lars Holm is contradicted by Director, all else
// about The Quiet Harbour is supported, and the rest is not in the knowledge
// graph.
func scriptText(m *Mesh) {
	Script(m, func(_ context.Context, req *generatorv1.ExtractClaimsRequest) (*generatorv1.ExtractClaimsResponse,
		error) {
		resp := &generatorv1.ExtractClaimsResponse{Usage: Usage()}
		text := strings.TrimSuffix(req.GetText(), ".")
		subject, said, ok := strings.Cut(text, " is ")
		relation, object, more := strings.Cut(said, " ")
		if !ok || !more {
			return resp, nil
		}
		span := func(before, words string) *graphv1.TextSpan {
			start := utf8.RuneCountInString(before)
			return &graphv1.TextSpan{Start: uint32(start), End: uint32(start + utf8.RuneCountInString(words))}
		}
		resp.Claims = []*generatorv1.ExtractedClaim{{
			Triple: Triple(subject, relation, object), Span: span("", text),
			SubjectSpan: span("", subject), ObjectSpan: span(strings.TrimSuffix(text, object), object),
		}}
		return resp, nil
	})
	Script(m, func(_ context.Context, req *verifierv1.JudgeClaimsRequest) (*verifierv1.JudgeClaimsResponse, error) {
		resp := &verifierv1.JudgeClaimsResponse{}
		for _, c := range req.GetClaims() {
			j := &verifierv1.Judgement{Verdict: verifierv1.Verdict_VERDICT_NOT_IN_KG, Confidence: .9,
				Reason: "it is not there"}
			if c.GetTriple().GetSubject() == "The Quiet Harbour" {
				j.Verdict, j.Reason = verifierv1.Verdict_VERDICT_SUPPORTED, "it says the same"
				j.Evidence = []*graphv1.ScoredTriple{{Triple: Triple("The Quiet Harbour", "director", Director),
					Score: .9}}
			}
			if c.GetTriple().GetObject() == "Lars Holm" {
				j.Verdict, j.Reason, j.Correction = verifierv1.Verdict_VERDICT_CONTRADICTED, "it has another", Director
			}
			resp.Judgements = append(resp.Judgements, j)
		}
		return resp, nil
	})
}
