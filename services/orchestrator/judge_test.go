package orchestrator_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator"
	"github.com/triplemesh/triplemesh/services/orchestrator/method/stagetest"
)

// twoGraphs scripts a second knowledge graph, "films", that names another
// director; the verifier lets stand what both hold.
func twoGraphs(mesh *stagetest.Mesh) {
	stagetest.Script(mesh, func(_ context.Context, req *retrieverv1.ListKnowledgeGraphsRequest) (
		*retrieverv1.ListKnowledgeGraphsResponse, error) {
		resp := &retrieverv1.ListKnowledgeGraphsResponse{}
		for _, info := range []*retrieverv1.SnapshotInfo{
			{Kg: &graphv1.KnowledgeGraphRef{Name: "wikidata", Snapshot: 3}, Active: true},
			{Kg: &graphv1.KnowledgeGraphRef{Name: "films", Snapshot: 8}, Active: true},
			{Kg: &graphv1.KnowledgeGraphRef{Name: "films", Snapshot: 7}},
		} {
			if req.GetKgName() == "" || req.GetKgName() == info.GetKg().GetName() {
				resp.Snapshots = append(resp.Snapshots, info)
			}
		}
		return resp, nil
	})
	stagetest.Script(mesh, func(_ context.Context, req *retrieverv1.GroundGraphRequest) (
		*retrieverv1.GroundGraphResponse,
		error) {
		relation, object := "director", stagetest.Director
		if req.GetKg().GetName() == "films" {
			relation, object = "film.film.director", "Lars Holm"
		}
		scored := &graphv1.ScoredTriple{Triple: stagetest.Triple("The Quiet Harbour", relation, object), Score: .9,
			QuestionScore: .8}
		return &retrieverv1.GroundGraphResponse{GroundGraph: &graphv1.GroundGraph{Subjects: []*graphv1.SubjectEvidence{
			{Subject: "The Quiet Harbour", Confidence: .9, Hits: 1, Triples: []*graphv1.ScoredTriple{scored}},
		}}, Kg: req.GetKg()}, nil
	})
	stagetest.Script(mesh, func(_ context.Context, req *verifierv1.VerifyRequest) (*verifierv1.VerifyResponse, error) {
		fixed := &graphv1.FixedGraph{}
		for _, s := range req.GetGroundGraph().GetSubjects() {
			fixed.Triples = append(fixed.Triples, &graphv1.FixedTriple{Triple: s.GetTriples()[0].GetTriple(),
				Status: graphv1.TripleStatus_TRIPLE_STATUS_SUPPORTED})
		}
		return &verifierv1.VerifyResponse{FixedGraph: fixed}, nil
	})
}

func TestAQuestionReadsSeveralKnowledgeGraphsAndShowsWhereTheyConflict(t *testing.T) {
	mesh := stagetest.New(t)
	twoGraphs(mesh)
	req := film("pg-akv")
	req.OtherKgs = []*graphv1.KnowledgeGraphRef{{Name: "films", Snapshot: 7}}
	resp, err := serve(t, mesh).Ask(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	run := resp.GetRun()
	if run.GetKg().GetSnapshot() != 3 || len(run.GetOtherKgs()) != 1 || run.GetOtherKgs()[0].GetSnapshot() != 7 {
		t.Errorf("read %v and %v", run.GetKg(), run.GetOtherKgs())
	}
	if evidence := run.GetAnswers()[0].GetEvidence(); len(evidence) != 1 || evidence[0].GetKgName() != "wikidata" {
		t.Errorf("the answer rests on %v", evidence)
	}
	if len(run.GetConflicts()) != 1 || run.GetConflicts()[0].GetRelation() != "director" ||
		run.GetConflicts()[0].GetTriples()[1].GetKgName() != "films" {
		t.Errorf("conflicts %v", run.GetConflicts())
	}
	if run.Confidence == nil || run.GetConfidence() <= 0 || run.GetConfidence() >= 1 {
		t.Errorf("the confidence is %v", run.Confidence)
	}
	for _, sent := range stagetest.Requests[*retrieverv1.GroundGraphRequest](mesh) {
		if want := map[string]uint64{"wikidata": 3,
			"films": 7}[sent.GetKg().GetName()]; sent.GetKg().GetSnapshot() != want {
			t.Errorf("read %v", sent.GetKg())
		}
	}
}

func TestAKnowledgeGraphThatFailsIsAWarningOfTheStage(t *testing.T) {
	mesh := stagetest.New(t)
	twoGraphs(mesh)
	stagetest.Script(mesh, func(_ context.Context, req *retrieverv1.GroundGraphRequest) (
		*retrieverv1.GroundGraphResponse,
		error) {
		if req.GetKg().GetName() == "films" {
			return nil, status.Error(codes.Unavailable, "the store is down")
		}
		return &retrieverv1.GroundGraphResponse{}, nil
	})
	req := film("pg-akv")
	req.OtherKgs = []*graphv1.KnowledgeGraphRef{{Name: "films"}}
	resp, err := serve(t, mesh).Ask(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	said := ""
	for _, s := range resp.GetRun().GetStages() {
		for _, w := range s.GetWarnings() {
			said += s.GetStage().String() + ": " + w.GetMessage()
		}
	}
	if !strings.Contains(said, "GROUND_GRAPH: the knowledge graph films was skipped: the store is down") {
		t.Errorf("warned %q", said)
	}
}

func TestSeveralKnowledgeGraphsThatCannotBeRead(t *testing.T) {
	mesh := stagetest.New(t)
	twoGraphs(mesh)
	client := serve(t, mesh)
	for _, c := range []struct {
		name   string
		others []*graphv1.KnowledgeGraphRef
		path   string
		code   codes.Code
		says   string
	}{
		{"one named twice", []*graphv1.KnowledgeGraphRef{{Name: "wikidata"}}, "", codes.InvalidArgument,
			"wikidata is named twice"},
		{"two snapshots of one", []*graphv1.KnowledgeGraphRef{{Name: "films", Snapshot: 7},
			{Name: "films", Snapshot: 8}}, "", codes.InvalidArgument, "films is named twice"},
		{"an unknown one names those there are", []*graphv1.KnowledgeGraphRef{{Name: "dbpedia"}}, "", codes.NotFound,
			"wikidata, films"},
		{"an unknown snapshot", []*graphv1.KnowledgeGraphRef{{Name: "films", Snapshot: 9}}, "", codes.NotFound,
			"no snapshot 9"},
		{"a relation path in one that is not read", []*graphv1.KnowledgeGraphRef{{Name: "films"}}, "dbpedia",
			codes.InvalidArgument, "dbpedia"},
	} {
		t.Run(c.name, func(t *testing.T) {
			req := film("ger")
			req.OtherKgs = c.others
			if c.path != "" {
				req.RelationPaths = []*graphv1.RelationPath{{Steps: []*graphv1.RelationStep{{Relation: "r"}},
					KgName: c.path}}
			}
			_, err := client.Ask(t.Context(), req)
			if status.Code(err) != c.code || !strings.Contains(status.Convert(err).Message(), c.says) {
				t.Errorf("got %v, want %v with %q", err, c.code, c.says)
			}
		})
	}
	for _, call := range mesh.Calls() {
		if call != "ListKnowledgeGraphs" {
			t.Errorf("%s was called", call)
		}
	}
}

func TestAPlanOfTheCallersIsForQueryAlone(t *testing.T) {
	mesh := stagetest.New(t)
	client := serve(t, mesh)
	req := film("ger")
	req.Plan = `Film(directed_by="A")`
	if _, err := client.Ask(t.Context(), req); status.Code(err) != codes.InvalidArgument ||
		!strings.Contains(status.Convert(err).Message(), "ask with the method query") {
		t.Errorf("got %v", err)
	}
	req = film("query")
	req.Plan = `Film(directed_by="A")`
	_, err := client.Ask(t.Context(), req)
	drafts := stagetest.Requests[*generatorv1.GenerateQueryPlanRequest](mesh)
	if err != nil || len(drafts) != 1 || drafts[0].GetDraft() != req.GetPlan() {
		t.Errorf("the generator got %v, %v", drafts, err)
	}
}

func TestAnAnswerThatIsNotLikelyEnoughIsWithheld(t *testing.T) {
	mesh := stagetest.New(t)
	twoGraphs(mesh)
	client := serve(t, mesh)
	for _, c := range []struct {
		name   string
		req    *orchestratorv1.AskRequest
		others []*graphv1.KnowledgeGraphRef
		says   string
	}{
		{"of one knowledge graph", film("pg-akv"), nil, "This is not in the knowledge graph wikidata."},
		{"of several", film("pg-akv"), []*graphv1.KnowledgeGraphRef{{Name: "films"}},
			"This is not in the knowledge graphs wikidata and films."},
		{"of paths", rivers(), nil, "This is not in the knowledge graph wikidata."},
		{"of the model's own knowledge", film("io"), nil, "This is not in what the model knows well enough."},
	} {
		t.Run(c.name, func(t *testing.T) {
			req := proto.CloneOf(c.req)
			req.OtherKgs, req.Options = c.others, &orchestratorv1.AskOptions{AbstainBelow: 1}
			resp, err := client.Ask(t.Context(), req)
			if err != nil {
				t.Fatal(err)
			}
			run := resp.GetRun()
			if len(run.GetAnswers()) > 0 || len(run.GetWithheld()) == 0 || run.GetText() != c.says ||
				run.GetGrounding() != orchestratorv1.Grounding_GROUNDING_ABSTAINED ||
				!strings.Contains(run.GetGroundingReason(), "below the 1.00 asked for") || run.Confidence == nil {
				t.Errorf("got %v", run)
			}
		})
	}
	t.Run("a likely one is given", func(t *testing.T) {
		req := film("pg-akv")
		req.Options = &orchestratorv1.AskOptions{AbstainBelow: .01}
		resp, err := client.Ask(t.Context(), req)
		if err != nil || len(resp.GetRun().GetAnswers()) != 1 || len(resp.GetRun().GetWithheld()) > 0 {
			t.Errorf("got %v, %v", resp, err)
		}
	})
	t.Run("there is no confidence in a text", func(t *testing.T) {
		req := film("pg-akv")
		req.Options = &orchestratorv1.AskOptions{AbstainBelow: .5, AnswerForm: graphv1.AnswerForm_ANSWER_FORM_TEXT}
		if _, err := client.Ask(t.Context(), req); status.Code(err) != codes.InvalidArgument ||
			!strings.Contains(err.Error(), "entities") {
			t.Errorf("got %v", err)
		}
	})
}

func TestAWithheldAnswerDoesNotLeakIntoTheStream(t *testing.T) {
	req := film("pg-akv")
	req.Options = &orchestratorv1.AskOptions{AbstainBelow: 1}
	got, err := listen(t, serve(t, stagetest.New(t)), req)
	if err != nil {
		t.Fatal(err)
	}
	if got.text != got.last.GetText() || strings.Contains(got.text, stagetest.Director) {
		t.Errorf("told %q, answered %q", got.text, got.last.GetText())
	}
	req.Options.AbstainBelow = .01
	if got, err = listen(t, serve(t, stagetest.New(t)), req); err != nil || got.text != got.last.GetText() ||
		!strings.Contains(got.text, stagetest.Director) {
		t.Errorf("a likely answer is told as %q, %v", got.text, err)
	}
}

func TestWeightsOfOnesOwn(t *testing.T) {
	mesh := stagetest.New(t)
	cfg := testConfig(t, mesh)
	cfg.Confidence.Weights = filepath.Join(t.TempDir(), "weights.json")
	if err := orchestrator.Run(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), cfg.Confidence.Weights) {
		t.Errorf("a file that is not there: %v", err)
	}
	if err := os.WriteFile(cfg.Confidence.Weights,
		[]byte(`{"families": {"graph": {"features": {"luck": {"weight": 1}}}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := orchestrator.Run(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "luck") {
		t.Errorf("weights that cannot be: %v", err)
	}
}
