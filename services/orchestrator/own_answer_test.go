package orchestrator_test

import (
	"cmp"
	"context"
	"strings"
	"testing"

	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/method/stagetest"
)

func TestTheKnowledgeGraphDoesNotSayPrecedesTheModelsOwnAnswer(t *testing.T) {
	const (
		ungrounded = orchestratorv1.Grounding_GROUNDING_UNGROUNDED
		grounded   = orchestratorv1.Grounding_GROUNDING_GROUNDED
		abstained  = orchestratorv1.Grounding_GROUNDING_ABSTAINED
		films      = "The knowledge graph wikidata does not say. The model's own answer: "
		text       = graphv1.AnswerForm_ANSWER_FORM_TEXT
	)
	for _, c := range []struct {
		name     string
		method   string
		others   []*graphv1.KnowledgeGraphRef
		options  *orchestratorv1.AskOptions
		empty    bool   // the knowledge graph has no triple
		writes   string // the answer of the model, in braces, or its text
		want     string
		status   orchestratorv1.Grounding
		restarts int
		question string // that of film if empty
	}{
		{"when the graph has nothing", "pg-akv", nil, nil, true, "{Oslo}", films + "Oslo", ungrounded, 0, ""},
		{"when rag finds nothing", "rag", nil, nil, true, "{Oslo}", films + "Oslo", ungrounded, 0, ""},
		{"when no triple names the answer", "pg-akv", nil, nil, false, "{Oslo}", films + "Oslo", ungrounded, 1,
			"Where was The Quiet Harbour shown?"},
		{"not when the question says a relation of the graph", "pg-akv", nil, nil, false, "{Oslo}", stagetest.Director,
			grounded, 1, ""},
		{"when several graphs have nothing", "pg-akv", []*graphv1.KnowledgeGraphRef{{Name: "films"}}, nil, true,
			"{Oslo}", "The knowledge graphs wikidata and films do not say. The model's own answer: Oslo",
			ungrounded, 0, ""},
		{"in an answer as a text", "pg-akv", nil, &orchestratorv1.AskOptions{AnswerForm: text}, true,
			"Oslo is far away.", films + "Oslo is far away.", ungrounded, 0, ""},
		{"not in a text that says so itself", "pg-akv", nil, &orchestratorv1.AskOptions{AnswerForm: text}, true,
			"The knowledge graph does not say. It may be Oslo.",
			"The knowledge graph does not say. It may be Oslo.", ungrounded, 0, ""},
		{"not when a triple names the answer", "pg-akv", nil, nil, false, "{" + stagetest.Director + "}",
			stagetest.Director, grounded, 0, ""},
		{"not when the model writes nothing", "pg-akv", nil, nil, true, "", "", abstained, 0, ""},
		{"not when no graph is read", "io", nil, nil, true, "{Oslo}", "Oslo", ungrounded, 0, ""},
		{"not when the ablation reads no graph", "pg-akv", nil,
			&orchestratorv1.AskOptions{Ablation: orchestratorv1.Ablation_ABLATION_FROM_PSEUDO_GRAPH}, false, "{Oslo}",
			"Oslo", ungrounded, 0, ""},
		{"not when the answer is withheld", "pg-akv", nil, &orchestratorv1.AskOptions{AbstainBelow: 1}, true, "{Oslo}",
			"This is not in the knowledge graph wikidata.", abstained, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			mesh := stagetest.New(t)
			twoGraphs(mesh)
			scriptOwnAnswer(mesh, c.writes, c.options.GetAnswerForm())
			if c.empty {
				scriptEmptyGraph(mesh)
			}
			req := film(c.method)
			req.OtherKgs, req.Options, req.Question = c.others, c.options, cmp.Or(c.question, req.Question)
			client := serve(t, mesh)
			resp, err := client.Ask(t.Context(), req)
			if err != nil {
				t.Fatal(err)
			}
			run := resp.GetRun()
			if run.GetText() != c.want || run.GetGrounding() != c.status {
				t.Errorf("got %q, %v", run.GetText(), run.GetGrounding())
			}
			if c.status == ungrounded && c.options.GetAnswerForm() != text &&
				(len(run.GetAnswers()) != 1 || run.GetAnswers()[0].GetAnswer() != "Oslo") {
				t.Errorf("the answers are %v", run.GetAnswers())
			}
			got, err := listen(t, client, req)
			if err != nil {
				t.Fatal(err)
			}
			if got.text != c.want || got.last.GetText() != c.want || got.restarts != c.restarts {
				t.Errorf("streamed %q with %d restarts, then %q", got.text, got.restarts, got.last.GetText())
			}
		})
	}
}

// scriptOwnAnswer lets the generator write a text, whose answer is in braces.
func scriptOwnAnswer(mesh *stagetest.Mesh, text string, form graphv1.AnswerForm) {
	resp := &generatorv1.GenerateAnswerResponse{Text: text, Form: form, Usage: stagetest.Usage()}
	if _, rest, found := strings.Cut(text, "{"); found {
		resp.Answers = []string{strings.TrimSuffix(rest, "}")}
	}
	stagetest.Script(mesh, func(context.Context, *generatorv1.GenerateAnswerRequest) (
		*generatorv1.GenerateAnswerResponse, error) {
		return resp, nil
	})
	stagetest.Script(mesh, func(context.Context, *generatorv1.GenerateAnswerStreamRequest) (
		*generatorv1.GenerateAnswerResponse, error) {
		return resp, nil
	})
}

// scriptEmptyGraph lets every search find nothing.
func scriptEmptyGraph(mesh *stagetest.Mesh) {
	stagetest.Script(mesh, func(_ context.Context, req *retrieverv1.GroundGraphRequest) (
		*retrieverv1.GroundGraphResponse, error) {
		return &retrieverv1.GroundGraphResponse{GroundGraph: &graphv1.GroundGraph{}, Kg: req.GetKg()}, nil
	})
	stagetest.Script(mesh, func(_ context.Context, req *retrieverv1.SearchTriplesRequest) (
		*retrieverv1.SearchTriplesResponse, error) {
		return &retrieverv1.SearchTriplesResponse{}, nil
	})
	stagetest.Script(mesh, func(context.Context, *verifierv1.VerifyRequest) (*verifierv1.VerifyResponse, error) {
		return &verifierv1.VerifyResponse{FixedGraph: &graphv1.FixedGraph{}}, nil
	})
}
