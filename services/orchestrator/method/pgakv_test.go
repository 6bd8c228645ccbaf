package method_test

import (
	"context"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"

	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	reflectorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/reflector/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/method/stagetest"
)

func TestRankedPathsSettleTheAnswersOfPgAkv(t *testing.T) {
	for _, c := range []struct {
		name    string
		settled []string
		fails   bool
		want    []string
		text    string
	}{
		{"other answers than were read", []string{"Orla", "Harn"}, false, []string{"Orla", "Harn"}, "Orla, Harn"},
		{"the reading stands if the reflector cannot be had", nil, true, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			plain, err := ask(t.Context(), t, stagetest.New(t), askOptions{method: "pg-akv"})
			if err != nil {
				t.Fatal(err)
			}
			mesh := stagetest.New(t)
			paths := []*graphv1.ReasoningPath{{Entities: []string{"Velmora", "Orla"},
				Steps: []*graphv1.RelationStep{{Relation: "river"}}, Probability: proto.Float32(0.9)}}
			stagetest.Script(mesh, func(context.Context, *retrieverv1.GroundGraphRequest) (
				*retrieverv1.GroundGraphResponse, error) {
				return &retrieverv1.GroundGraphResponse{GroundGraph: plain.GetPgAkv().GetGroundGraph(), Paths: paths},
					nil
			})
			stagetest.Script(mesh, func(_ context.Context, req *reflectorv1.ReflectRequest) (
				*reflectorv1.ReflectResponse, error) {
				if req.GetMode() != reflectorv1.ReflectionMode_REFLECTION_MODE_WEIGH || len(req.GetPaths()) != 1 ||
					len(req.GetCandidates()) != len(plain.GetAnswers()) {
					t.Errorf("the reflector was asked %v", req)
				}
				if c.fails {
					return nil, down
				}
				return &reflectorv1.ReflectResponse{Answers: c.settled}, nil
			})
			run, err := ask(t.Context(), t, mesh, askOptions{method: "pg-akv"})
			if err != nil {
				t.Fatal(err)
			}
			want, text := c.want, c.text
			if c.fails {
				want, text = answerNames(plain), plain.GetText()
			}
			if got := answerNames(run); !slices.Equal(got, want) || run.GetText() != text {
				t.Errorf("answers %q, %q; want %q, %q", got, run.GetText(), want, text)
			}
			if len(run.GetPgAkv().GetReasoningPaths()) != 1 {
				t.Errorf("the run lacks its paths: %v", run.GetPgAkv().GetReasoningPaths())
			}
			if !c.fails && len(run.GetAnswers()[0].GetEvidence()) == 0 {
				t.Error("the answer of a path has no evidence")
			}
		})
	}
}

func TestAListIsWholeWhateverTheModelReads(t *testing.T) {
	scored := func(fit float32, parts ...string) *graphv1.ScoredTriple {
		return &graphv1.ScoredTriple{Triple: stagetest.Triple(parts[0], parts[1], parts[2]), RelationScore: &fit}
	}
	for _, c := range []struct {
		name, question string
		triples        []*graphv1.ScoredTriple
		want           []string
	}{
		{"all who have to do with what the question names", "who works on the Sel", []*graphv1.ScoredTriple{
			scored(.8, "Orla", "works on", "Sel"), scored(.8, "Tessen", "works on", "Sel"),
			scored(.8, "Harn", "works on", "Long")}, []string{"Orla", "Tessen"}},
		{"by the relation that the question says", "who works on the Sel", []*graphv1.ScoredTriple{
			scored(.8, "Orla", "works on", "Sel"), scored(.2, "Orla", "born on", "Sel"),
			scored(.2, "Harn", "born on", "Sel")}, []string{"Orla"}},
		{"not where what it names says so itself", "who is the head of Sel", []*graphv1.ScoredTriple{
			scored(.8, "Sel", "head", "Orla"), scored(.5, "Orla", "works on", "Sel"),
			scored(.5, "Tessen", "works on", "Sel")}, []string{"Orla"}},
		{"nor where it asks for some of them", "who is the oldest on the Sel", []*graphv1.ScoredTriple{
			scored(.8, "Orla", "works on", "Sel"), scored(.8, "Tessen", "works on", "Sel")}, []string{"Orla"}},
		{"or for what is so of two things", "who works as a smith on the Sel", []*graphv1.ScoredTriple{
			scored(.8, "Orla", "works on", "Sel"), scored(.3, "Orla", "trade", "smith"),
			scored(.8, "Tessen", "works on", "Sel")}, []string{"Orla"}},
		{"all who have the role that it asks for", "who are the parents of Sel", []*graphv1.ScoredTriple{
			scored(.8, "Sel", "father", "Orla"), scored(.8, "Sel", "mother", "Tessen"),
			scored(.8, "Sel", "spouse", "Harn"), scored(.8, "Sel", "mother / father", "Velm")},
			[]string{"Orla", "Tessen"}},
		{"not where it asks for women alone", "who are the sisters of Sel", []*graphv1.ScoredTriple{
			scored(.8, "Sel", "sister", "Orla"), scored(.8, "Sel", "brother", "Tessen")}, []string{"Orla"}},
		{"nor where it asks for one of them", "who is the father of Sel", []*graphv1.ScoredTriple{
			scored(.8, "Sel", "father", "Orla"), scored(.8, "Sel", "mother", "Tessen")}, []string{"Orla"}},
		{"or for things of a kind, which may be some", "which smiths work on the Sel", []*graphv1.ScoredTriple{
			scored(.8, "Orla", "works on", "Sel"), scored(.8, "Tessen", "works on", "Sel")}, []string{"Orla"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			mesh := stagetest.New(t)
			stagetest.Script(mesh, func(context.Context, *retrieverv1.GroundGraphRequest) (
				*retrieverv1.GroundGraphResponse, error) {
				return &retrieverv1.GroundGraphResponse{GroundGraph: &graphv1.GroundGraph{
					Subjects: []*graphv1.SubjectEvidence{{Subject: "Orla", Triples: c.triples}}}}, nil
			})
			stagetest.Script(mesh, func(context.Context, *verifierv1.VerifyRequest) (*verifierv1.VerifyResponse,
				error) {
				return &verifierv1.VerifyResponse{FixedGraph: &graphv1.FixedGraph{Triples: []*graphv1.FixedTriple{{
					Triple: c.triples[0].GetTriple(), Status: graphv1.TripleStatus_TRIPLE_STATUS_SUPPORTED}}}}, nil
			})
			stagetest.Script(mesh, func(context.Context, *generatorv1.GenerateAnswerRequest) (
				*generatorv1.GenerateAnswerResponse, error) {
				return &generatorv1.GenerateAnswerResponse{Text: "{Orla}", Answers: []string{"Orla"},
					Form: graphv1.AnswerForm_ANSWER_FORM_ENTITIES}, nil
			})
			run, err := ask(t.Context(), t, mesh, askOptions{method: "pg-akv", text: c.question})
			if got := answerNames(run); err != nil || !slices.Equal(got, c.want) {
				t.Errorf("answers %q, %v; want %q", got, err, c.want)
			}
			for _, a := range run.GetAnswers() {
				if len(a.GetEvidence()) == 0 {
					t.Errorf("%s has no evidence", a.GetAnswer())
				}
			}
		})
	}
}

func answerNames(run *orchestratorv1.Run) []string {
	var all []string
	for _, a := range run.GetAnswers() {
		all = append(all, a.GetAnswer())
	}
	return all
}
