package orchestrator_test

import (
	"context"
	"slices"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	evaluatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/evaluator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/method/stagetest"
)

func TestDoubtedFactsThatTheModelTakesForAnswersToSomethingElseAreWithheld(t *testing.T) {
	const withheld, related = orchestratorv1.Grounding_GROUNDING_ABSTAINED, orchestratorv1.Grounding_GROUNDING_RELATED
	const surely = .99
	for _, c := range []struct {
		name    string
		least   float32 // confidence of grounded answers
		verdict *graphv1.AnswerVerdict
		script  func(*stagetest.Mesh)
		calls   uint32 // that may be made, 0 for any number
		want    orchestratorv1.Grounding
		asked   bool
	}{
		{name: "hardly yes", least: surely, verdict: &graphv1.AnswerVerdict{Correct: true,
			Probability: proto.Float32(.6)}, want: withheld, asked: true},
		{name: "yes", least: surely, verdict: &graphv1.AnswerVerdict{Correct: true,
			Probability: proto.Float32(.8)}, want: related, asked: true},
		{name: "no, without a probability", least: surely, verdict: &graphv1.AnswerVerdict{}, want: withheld,
			asked: true},
		{name: "yes, without a probability", least: surely, verdict: &graphv1.AnswerVerdict{Correct: true},
			want: related, asked: true},
		{name: "neither yes nor no", least: surely, verdict: &graphv1.AnswerVerdict{Unknown: true}, want: related,
			asked: true},
		{name: "the model is down", least: surely, want: related, asked: true},
		{name: "no call is left", least: surely, verdict: &graphv1.AnswerVerdict{}, calls: 3, want: related},
		{name: "facts that are sure are not asked about", verdict: &graphv1.AnswerVerdict{},
			want: orchestratorv1.Grounding_GROUNDING_GROUNDED},
		{name: "nor joined ones", least: surely, verdict: &graphv1.AnswerVerdict{}, script: func(m *stagetest.Mesh) {
			joined := stagetest.Triple("The Quiet Harbour", "sequel"+kgtext.Joint+"director", stagetest.Director)
			stagetest.Script(m, func(context.Context, *verifierv1.VerifyRequest) (*verifierv1.VerifyResponse, error) {
				return &verifierv1.VerifyResponse{FixedGraph: &graphv1.FixedGraph{Triples: []*graphv1.FixedTriple{
					{Triple: joined, Status: graphv1.TripleStatus_TRIPLE_STATUS_SUPPORTED}}}}, nil
			})
		}, want: related},
		{name: "nor what a ranker knows", least: surely, verdict: &graphv1.AnswerVerdict{},
			script: func(m *stagetest.Mesh) { ranks(m, .6) }, want: related},
	} {
		t.Run(c.name, func(t *testing.T) {
			mesh := stagetest.New(t)
			scriptOwnAnswer(mesh, "{"+stagetest.Director+"}", graphv1.AnswerForm_ANSWER_FORM_ENTITIES)
			if c.script != nil {
				c.script(mesh)
			}
			var paths []*graphv1.ReasoningPath
			stagetest.Script(mesh, func(_ context.Context, req *evaluatorv1.EvaluateAnswersRequest) (
				*evaluatorv1.EvaluateAnswersResponse, error) {
				paths = req.GetCandidates()[0].GetPaths()
				if c.verdict == nil {
					return nil, status.Error(codes.Unavailable, "down")
				}
				return &evaluatorv1.EvaluateAnswersResponse{Verdicts: []*graphv1.AnswerVerdict{c.verdict}}, nil
			})
			cfg := testConfig(t, mesh)
			if c.least > 0 {
				cfg.Confidence.Grounded = c.least
			}
			req := film("pg-akv")
			if c.calls > 0 {
				req.Limits = &llmv1.Limits{Budget: &llmv1.Budget{MaxCalls: c.calls}}
			}
			got, err := listen(t, serveWith(t, cfg), req)
			if err != nil {
				t.Fatal(err)
			}
			if run := got.last; run.GetGrounding() != c.want || got.text != run.GetText() ||
				(c.want == withheld) != (len(run.GetWithheld()) > 0) {
				t.Errorf("%v, streamed %q: %v", run.GetGrounding(), got.text, run)
			}
			if asked := slices.Contains(mesh.Calls(), "EvaluateAnswers"); asked != c.asked {
				t.Errorf("asked the model: %v, want %v", asked, c.asked)
			}
			if c.asked && (len(paths) == 0 || kgtext.PathEnd(paths[0]) != stagetest.Director) {
				t.Errorf("the paths are %v", paths)
			}
		})
	}
}
