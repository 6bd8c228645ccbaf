package orchestrator_test

import (
	"context"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/method/stagetest"
)

func TestYesNoQuestionsAreAnsweredByVerdicts(t *testing.T) {
	const (
		supported    = verifierv1.Verdict_VERDICT_SUPPORTED
		contradicted = verifierv1.Verdict_VERDICT_CONTRADICTED
		notInKG      = verifierv1.Verdict_VERDICT_NOT_IN_KG
		grounded     = orchestratorv1.Grounding_GROUNDING_GROUNDED
		related      = orchestratorv1.Grounding_GROUNDING_RELATED
		abstained    = orchestratorv1.Grounding_GROUNDING_ABSTAINED
	)
	// Its draft names what the question does not.
	const other = "Did anyone direct The Quiet Harbour?"
	fact := stagetest.Triple("The Quiet Harbour", "director", stagetest.Director)
	type claim struct {
		verdict verifierv1.Verdict
		listed  bool
		negated bool
	}
	for name, c := range map[string]struct {
		question string
		method   string
		claims   []claim
		failing  bool
		// unread says that the model reads nothing.
		unread bool
		// form says that the claim is not read by the model.
		form     bool
		answer   string
		want     orchestratorv1.Grounding
		evidence int
	}{
		"what the knowledge graph says is yes": {claims: []claim{{verdict: supported, listed: true}}, answer: "Yes",
			want: grounded, evidence: 1},
		"what it rules out is no": {claims: []claim{{verdict: contradicted, listed: true}}, answer: "No",
			want:     grounded,
			evidence: 1},
		"where it lists others the answer is no, as far as the list goes": {claims: []claim{{verdict: notInKG,
			listed: true}}, answer: "No", want: related, evidence: 1},
		"of what it does not hold it says nothing": {claims: []claim{{verdict: notInKG}}, want: abstained},
		"all of several claims must be supported": {claims: []claim{{verdict: supported, listed: true},
			{verdict: supported, listed: true}}, answer: "Yes", want: grounded, evidence: 2},
		"one that is contradicted decides": {claims: []claim{{verdict: supported, listed: true}, {verdict: notInKG},
			{verdict: contradicted, listed: true}}, answer: "No", want: grounded, evidence: 1},
		"one that is not held leaves it open": {claims: []claim{{verdict: supported, listed: true}, {verdict: notInKG}},
			want: abstained},
		"a negative question asks for the fact itself": {claims: []claim{{contradicted, true, true}}, answer: "Yes",
			want: grounded, evidence: 1},
		"ger and rag judge alike": {method: "ger", claims: []claim{{verdict: contradicted, listed: true}}, answer: "No",
			want: grounded, evidence: 1},
		"a claim is read off its form without the model": {question: "Is Lars Holm the director of The Quiet Harbour?",
			form: true, claims: []claim{{verdict: supported, listed: true}}, answer: "Yes",
			want: grounded, evidence: 1},
		"so it is off two names in any wording": {question: "Did Lars Holm ever direct The Quiet Harbour?",
			form: true, claims: []claim{{verdict: contradicted, listed: true}}, answer: "No",
			want: grounded, evidence: 1},
		"of which it denies the fact by the model": {method: "pg-akv",
			question: "Is it true that Lars Holm did not direct The Quiet Harbour?",
			claims:   []claim{{contradicted, true, true}}, answer: "Yes", want: grounded, evidence: 1},
		"a kind is read where the model reads nothing": {question: "is Lars Holm a director", unread: true,
			claims: []claim{{verdict: supported, listed: true}}, answer: "Yes", want: grounded, evidence: 1},
		"but of a name that is none": {question: "is the friend of Lars Holm a director", unread: true,
			claims: []claim{{verdict: supported, listed: true}}, want: abstained},
		"a question without a claim is not answered by an entity": {question: other, want: abstained},
		"one whose claims fail to be read is answered by its method": {question: other, failing: true,
			answer: stagetest.Director, want: grounded, evidence: 1},
		"io reads no knowledge graph": {method: "io", claims: []claim{{verdict: contradicted, listed: true}},
			answer: stagetest.Director, want: orchestratorv1.Grounding_GROUNDING_UNGROUNDED},
		"other questions are answered by their method": {question: stagetest.Film,
			claims: []claim{{verdict: contradicted}},
			answer: stagetest.Director, want: grounded, evidence: 1},
	} {
		t.Run(name, func(t *testing.T) {
			mesh := stagetest.New(t)
			stagetest.Script(mesh, func(context.Context, *generatorv1.ExtractClaimsRequest) (
				*generatorv1.ExtractClaimsResponse, error) {
				if c.failing {
					return nil, status.Error(codes.Unavailable, "the model is down")
				}
				resp := &generatorv1.ExtractClaimsResponse{Usage: stagetest.Usage()}
				for _, cl := range c.claims {
					if c.unread {
						break
					}
					resp.Claims = append(resp.Claims, &generatorv1.ExtractedClaim{Triple: fact, Negated: cl.negated})
				}
				return resp, nil
			})
			stagetest.Script(mesh, func(_ context.Context, req *verifierv1.JudgeClaimsRequest) (
				*verifierv1.JudgeClaimsResponse, error) {
				resp := &verifierv1.JudgeClaimsResponse{}
				for i := range req.GetClaims() {
					j := &verifierv1.Judgement{Verdict: c.claims[i].verdict, Confidence: .7, Reason: "so it is"}
					if c.claims[i].listed {
						j.Evidence = []*graphv1.ScoredTriple{{Triple: fact}}
					}
					resp.Judgements = append(resp.Judgements, j)
				}
				return resp, nil
			})
			req := &orchestratorv1.AskRequest{Question: c.question, Method: c.method,
				Kg: &graphv1.KnowledgeGraphRef{Name: "wikidata"}}
			if req.Question == "" {
				req.Question = "did lars holm direct the quiet harbour?"
			}
			resp, err := serve(t, mesh).Ask(t.Context(), req)
			if err != nil {
				t.Fatal(err)
			}
			run := resp.GetRun()
			answer, evidence := "", 0
			for _, a := range run.GetAnswers() {
				answer, evidence = answer+a.GetAnswer(), evidence+len(a.GetEvidence())
			}
			if answer != c.answer || run.GetGrounding() != c.want || evidence != c.evidence || run.GetText() == "" ||
				run.GetGroundingReason() == "" {
				t.Errorf("answered %q by %d triples, %v: %q (%s); want %q by %d, %v", answer, evidence,
					run.GetGrounding(), run.GetText(), run.GetGroundingReason(), c.answer, c.evidence, c.want)
			}
			if answer == "Yes" || answer == "No" {
				calls := uint32(1)
				if c.form {
					calls = 0
				}
				if run.GetConfidence() != .7 || run.GetUsage().GetCalls() != calls {
					t.Errorf("confidence %g after %d calls", run.GetConfidence(), run.GetUsage().GetCalls())
				}
			}
		})
	}
}

func TestWhatNoTripleSaysIsComputedByAuto(t *testing.T) {
	const lower = "did lars holm direct ada stam?"
	for name, c := range map[string]struct {
		method, text, value string
		cells               []string
		calls               uint64
		answer              string
		reason              string
	}{
		"yes is an answer":                     {"auto", lower, "yes", nil, 0, "yes", "computed from 1 row"},
		"not of a name that the plan lacks":    {"auto", "Did Lars Holm direct Ada Stam?", "yes", nil, 0, "", "holds"},
		"no is none, as the graph may lack it": {"auto", lower, "no", nil, 0, "", "holds"},
		"unless a triple says no":              {"auto", lower, "", []string{"no"}, 0, "no", "computed from 1 row"},
		"one that says something else is none": {"auto", lower, "", []string{"Ada Stam"}, 0, "", "holds"},
		"nor are yes and no":                   {"auto", lower, "", []string{"yes", "no"}, 0, "", "holds"},
		"nor is one without a plan":            {"auto", lower, "yes", nil, 1, "", "holds"},
		"pg-akv computes nothing":              {"pg-akv", lower, "yes", nil, 0, "", "holds"},
	} {
		t.Run(name, func(t *testing.T) {
			mesh := stagetest.New(t)
			stagetest.Script(mesh, func(context.Context, *generatorv1.ExtractClaimsRequest) (
				*generatorv1.ExtractClaimsResponse, error) {
				claim := &generatorv1.ExtractedClaim{Triple: stagetest.Triple("Lars Holm", "directed", "Ada Stam")}
				return &generatorv1.ExtractClaimsResponse{Usage: stagetest.Usage(),
					Claims: []*generatorv1.ExtractedClaim{claim}}, nil
			})
			stagetest.Script(mesh, func(_ context.Context, req *verifierv1.JudgeClaimsRequest) (
				*verifierv1.JudgeClaimsResponse, error) {
				return &verifierv1.JudgeClaimsResponse{Judgements: []*verifierv1.Judgement{{
					Verdict: verifierv1.Verdict_VERDICT_NOT_IN_KG, Reason: "the knowledge graph holds Lars Holm"}}}, nil
			})
			stagetest.Script(mesh, func(context.Context, *retrieverv1.ExecuteQueryRequest) (
				*retrieverv1.ExecuteQueryResponse, error) {
				table := &graphv1.QueryTable{Value: c.value, Total: 1}
				for _, cell := range c.cells {
					table.Rows = append(table.Rows, &graphv1.QueryRow{Cells: []*graphv1.Entity{{Name: cell}}})
				}
				return &retrieverv1.ExecuteQueryResponse{Table: table}, nil
			})
			resp, err := serve(t, mesh).Ask(t.Context(), &orchestratorv1.AskRequest{Question: c.text, Method: c.method,
				Kg:     &graphv1.KnowledgeGraphRef{Name: "wikidata"},
				Limits: &llmv1.Limits{Budget: &llmv1.Budget{MaxCalls: uint32(c.calls)}}})
			if err != nil {
				t.Fatal(err)
			}
			run, answer := resp.GetRun(), ""
			for _, a := range run.GetAnswers() {
				answer = a.GetAnswer()
			}
			if answer != c.answer || !strings.Contains(run.GetGroundingReason(), c.reason) ||
				(run.GetQuery() != nil) != (c.answer != "") {
				t.Errorf("answered %q: %q, %v", answer, run.GetGroundingReason(), run.GetGrounding())
			}
		})
	}
}
