package orchestrator_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/triplemesh/triplemesh/internal/paging"
	"github.com/triplemesh/triplemesh/internal/testkit"
	evaluatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/evaluator/v1"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/method/stagetest"
)

func TestAsk(t *testing.T) {
	mesh := stagetest.New(t)
	client := serve(t, mesh)
	for _, c := range []struct {
		name    string
		req     *orchestratorv1.AskRequest
		method  string
		answers []string
		kg      uint64
	}{
		{"auto, where no method is named", film(""), "auto", []string{stagetest.Director}, 3},
		{"ger", rivers(), "ger", []string{"Tessen", "Orla"}, 3},
		{"io, which reads no knowledge graph", &orchestratorv1.AskRequest{Question: "?", Method: "io"}, "io",
			[]string{stagetest.Director}, 0},
		{"rag", film("rag"), "rag", []string{stagetest.Director}, 3},
		{"rog", riversBy("rog"), "rog", []string{"Tessen", "Orla"}, 3},
		{"sc", film("sc"), "sc", []string{stagetest.Director}, 0},
		{"cot", film("cot"), "cot", []string{stagetest.Director}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			resp, err := client.Ask(t.Context(), c.req)
			if err != nil {
				t.Fatal(err)
			}
			run := resp.GetRun()
			var answers []string
			for _, a := range run.GetAnswers() {
				answers = append(answers, a.GetAnswer())
			}
			if run.GetMethod() != c.method || !slices.Equal(answers, c.answers) || run.GetKg().GetSnapshot() != c.kg {
				t.Errorf("answered %q by %s over %v", answers, run.GetMethod(), run.GetKg())
			}
			if len(run.GetId()) != 26 || len(run.GetTraceId()) != 32 || run.GetStartTime() == nil ||
				run.GetDuration().AsDuration() <= 0 || run.GetQuestion() != c.req.GetQuestion() {
				t.Errorf("the run lacks something of its own: %v", run)
			}
		})
	}
}

func TestTheRunSaysWhatWasDoneWithout(t *testing.T) {
	req := film("pg-akv")
	req.Options = &orchestratorv1.AskOptions{Ablation: orchestratorv1.Ablation_ABLATION_FROM_GROUND_GRAPH,
		Until: orchestratorv1.Stage_STAGE_GROUND_GRAPH}
	resp, err := serve(t, stagetest.New(t)).Ask(t.Context(), req)
	if err != nil || resp.GetRun().GetAblation() != req.GetOptions().GetAblation() ||
		resp.GetRun().GetPgAkv().GetGroundGraph() == nil {
		t.Errorf("got %v, %v", resp, err)
	}
}

func TestTheSnapshotIsPinnedBeforeAModelIsAsked(t *testing.T) {
	mesh := stagetest.New(t)
	client := serve(t, mesh)
	if _, err := client.Ask(t.Context(), film("pg-akv")); err != nil {
		t.Fatal(err)
	}
	if calls := mesh.Calls(); calls[0] != "ListKnowledgeGraphs" || calls[1] != "GeneratePseudoGraph" {
		t.Errorf("called %q", calls)
	}
	old := film("pg-akv")
	old.Kg.Snapshot = 2
	if _, err := client.Ask(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	for i, want := range []uint64{3, 2} {
		if got := stagetest.Requests[*retrieverv1.GroundGraphRequest](mesh)[i].GetKg().GetSnapshot(); got != want {
			t.Errorf("question %d read snapshot %d, want %d", i, got, want)
		}
	}
}

func TestQuestionsThatCannotBeAsked(t *testing.T) {
	mesh := stagetest.New(t)
	client := serve(t, mesh)
	for _, c := range []struct {
		name   string
		change func(*orchestratorv1.AskRequest)
		code   codes.Code
		says   string
	}{
		{"an unknown method names those there are", func(r *orchestratorv1.AskRequest) { r.Method = "guess" },
			codes.InvalidArgument, "cot, ger, io, pg-akv, query, rag, rog, sc"},
		{"a stage that the method does not have names those it has", func(r *orchestratorv1.AskRequest) {
			r.Options = &orchestratorv1.AskOptions{Until: orchestratorv1.Stage_STAGE_REFLECT}
		}, codes.InvalidArgument, "pseudo-graph, ground-graph, verify, answer"},
		{"a part that the method does not have names those it has", func(r *orchestratorv1.AskRequest) {
			r.Options = &orchestratorv1.AskOptions{Ablation: orchestratorv1.Ablation_ABLATION_NO_REFLECTION}
		}, codes.InvalidArgument, "no ablation no-reflection; it has: from-pseudo-graph, from-ground-graph, " +
			"no-pseudo-graph"},
		{"a part of a method that has none", func(r *orchestratorv1.AskRequest) {
			r.Method, r.Options = "io",
				&orchestratorv1.AskOptions{Ablation: orchestratorv1.Ablation_ABLATION_NO_REFLECTION}
		}, codes.InvalidArgument, "it has: none; ask for it with the method ger"},
		{"a part that is none", func(r *orchestratorv1.AskRequest) {
			r.Options = &orchestratorv1.AskOptions{
				Ablation: 99}
		}, codes.InvalidArgument, "ablation"},
		{"a stage that was taken away", func(r *orchestratorv1.AskRequest) {
			r.Options = &orchestratorv1.AskOptions{Ablation: orchestratorv1.Ablation_ABLATION_FROM_GROUND_GRAPH,
				Until: orchestratorv1.Stage_STAGE_VERIFY}
		}, codes.InvalidArgument, "with the ablation from-ground-graph has no stage verify; it has: pseudo-graph, " +
			"ground-graph, answer"},
		{"a stage that is none", func(r *orchestratorv1.AskRequest) {
			r.Options = &orchestratorv1.AskOptions{
				Until: 99}
		}, codes.InvalidArgument, "until"},
		{"no knowledge graph where one of several is read", func(r *orchestratorv1.AskRequest) { r.Kg = nil },
			codes.InvalidArgument, "name one of wikidata, idle"},
		{"an unknown knowledge graph names those there are",
			func(r *orchestratorv1.AskRequest) { r.Kg.Name = "dbpedia" }, codes.NotFound, "wikidata, idle"},
		{"an unknown snapshot", func(r *orchestratorv1.AskRequest) { r.Kg.Snapshot = 9 }, codes.NotFound,
			"no snapshot 9"},
		{"a knowledge graph with no active snapshot", func(r *orchestratorv1.AskRequest) { r.Kg.Name = "idle" },
			codes.FailedPrecondition, "kg activate"},
		{"a name that is none", func(r *orchestratorv1.AskRequest) { r.Kg.Name = "../etc" }, codes.InvalidArgument,
			"name"},
		{"an empty question", func(r *orchestratorv1.AskRequest) { r.Question = "" }, codes.InvalidArgument,
			"question"},
		{"a question of 100 kB", func(r *orchestratorv1.AskRequest) { r.Question = strings.Repeat("a", 100_000) },
			codes.InvalidArgument, "question"},
	} {
		t.Run(c.name, func(t *testing.T) {
			req := film("pg-akv")
			c.change(req)
			_, err := client.Ask(t.Context(), req)
			if status.Code(err) != c.code || !strings.Contains(status.Convert(err).Message(), c.says) {
				t.Errorf("got %v, want %v with %q", err, c.code, c.says)
			}
			if c.code == codes.InvalidArgument && !fieldNamed(err) {
				t.Errorf("no field is named in %v", status.Convert(err).Details())
			}
		})
	}
	if calls := stagetest.Requests[*generatorv1.GeneratePseudoGraphRequest](mesh); len(calls) > 0 {
		t.Errorf("a model was asked %d times", len(calls))
	}
}

func fieldNamed(err error) bool {
	for _, d := range status.Convert(err).Details() {
		if b, ok := d.(*errdetails.BadRequest); ok && len(b.GetFieldViolations()) > 0 &&
			b.GetFieldViolations()[0].GetField() != "" {
			return true
		}
	}
	return false
}

func TestAnUnknownKnowledgeGraphWhereThereIsNoneSaysHowToLoadOne(t *testing.T) {
	mesh := stagetest.New(t)
	stagetest.Script(mesh, func(context.Context, *retrieverv1.ListKnowledgeGraphsRequest) (
		*retrieverv1.ListKnowledgeGraphsResponse, error) {
		return &retrieverv1.ListKnowledgeGraphsResponse{}, nil
	})
	_, err := serve(t, mesh).Ask(t.Context(), film("pg-akv"))
	if status.Code(err) != codes.NotFound || !strings.Contains(err.Error(), "kg load") {
		t.Errorf("got %v", err)
	}
}

func TestTheOnlyKnowledgeGraphIsReadIfNoneIsNamed(t *testing.T) {
	mesh := stagetest.New(t)
	only := []*retrieverv1.SnapshotInfo{{Kg: &graphv1.KnowledgeGraphRef{Name: "wikidata", Snapshot: 3}, Active: true}}
	stagetest.Script(mesh, func(context.Context, *retrieverv1.ListKnowledgeGraphsRequest) (
		*retrieverv1.ListKnowledgeGraphsResponse, error) {
		return &retrieverv1.ListKnowledgeGraphsResponse{Snapshots: only}, nil
	})
	client, req := serve(t, mesh), film("pg-akv")
	req.Kg = nil
	resp, err := client.Ask(t.Context(), req)
	if err != nil || resp.GetRun().GetKg().GetName() != "wikidata" || req.GetKg() != nil {
		t.Errorf("read %v, %v", resp.GetRun().GetKg(), err)
	}
	req.OtherKgs = []*graphv1.KnowledgeGraphRef{{Name: "wikidata"}}
	if _, err := client.Ask(t.Context(), req); status.Code(err) != codes.InvalidArgument {
		t.Errorf("the only knowledge graph is read twice: %v", err)
	}
	only, req.OtherKgs = nil, nil
	if _, err := client.Ask(t.Context(), req); status.Code(err) != codes.NotFound || !strings.Contains(err.Error(),
		"kg load") {
		t.Errorf("got %v", err)
	}
}

func TestARetrieverThatIsDownIsUnavailable(t *testing.T) {
	mesh := stagetest.New(t)
	stagetest.Fail[*retrieverv1.ListKnowledgeGraphsRequest](mesh, status.Error(codes.Unavailable, "the store is down"))
	_, err := serve(t, mesh).Ask(t.Context(), film("pg-akv"))
	if status.Code(err) != codes.Unavailable {
		t.Errorf("got %v", err)
	}
}

func TestAStageThatHangsLeavesTimeForAPartialAnswer(t *testing.T) {
	mesh := stagetest.New(t)
	stagetest.Hang[*generatorv1.GenerateAnswerRequest](mesh)
	stagetest.Hang[*evaluatorv1.EvaluateAnswersRequest](mesh)
	client := serve(t, mesh)
	for _, req := range []*orchestratorv1.AskRequest{film("pg-akv"), rivers()} {
		t.Run(req.GetMethod(), func(t *testing.T) {
			// A share of the time is kept for the answer: 80 ms of 4 s.
			ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
			defer cancel()
			resp, err := client.Ask(ctx, req)
			if err != nil || !resp.GetRun().GetPartial() || len(resp.GetRun().GetAnswers()) == 0 {
				t.Errorf("got %v, %v; want a partial answer", resp, err)
			}
		})
	}
}

func TestAStageThatFailsIsLoggedAlthoughTheQuestionIsAnswered(t *testing.T) {
	mesh := stagetest.New(t)
	stagetest.Fail[*verifierv1.VerifyRequest](mesh, status.Error(codes.Unavailable, "the verifier cannot be reached"))
	cfg, log := testConfig(t, mesh), &testkit.Log{}
	cfg.Telemetry.LogWriter = log
	client := serveWith(t, cfg)
	resp, err := client.Ask(t.Context(), film("pg-akv"))
	if err != nil || !resp.GetRun().GetPartial() {
		t.Fatalf("got %v, %v; want a partial answer", resp, err)
	}
	var warned []string
	for line := range strings.Lines(log.String()) {
		if strings.Contains(line, "level=WARN") {
			warned = append(warned, line)
		}
	}
	if len(warned) != 1 {
		t.Fatalf("got warnings %q, want one", warned)
	}
	for _, want := range []string{"stage failed", "stage=verify", "the verifier cannot be reached",
		resp.GetRun().GetId()} {
		if !strings.Contains(warned[0], want) {
			t.Errorf("the warning lacks %s: %s", want, warned[0])
		}
	}
}

func TestListMethods(t *testing.T) {
	resp, err := serve(t, stagetest.New(t)).ListMethods(t.Context(), &orchestratorv1.ListMethodsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range resp.GetMethods() {
		names = append(names, m.GetName())
		if m.GetDescription() == "" || m.GetCalls() == "" || len(m.GetStages()) == 0 {
			t.Errorf("%s tells too little: %v", m.GetName(), m)
		}
	}
	if !slices.IsSorted(names) || !slices.Contains(names, "pg-akv") || !slices.Contains(names, "ger") {
		t.Errorf("methods %q", names)
	}
}

func TestListMethodsInPages(t *testing.T) {
	client := serve(t, stagetest.New(t))
	all, err := client.ListMethods(t.Context(), &orchestratorv1.ListMethodsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	pages := 0
	paged, err := paging.All(func(token string) ([]*orchestratorv1.Method, string, error) {
		pages++
		resp, err := client.ListMethods(t.Context(), &orchestratorv1.ListMethodsRequest{PageSize: 3, PageToken: token})
		return resp.GetMethods(), resp.GetNextPageToken(), err
	})
	if want := (len(all.GetMethods()) + 2) / 3; err != nil || pages != want || want < 2 ||
		!proto.Equal(&orchestratorv1.ListMethodsResponse{Methods: paged}, all) {
		t.Errorf("%d pages of 3 hold %v (%v), want %d that hold %v", pages, paged, err, want, all.GetMethods())
	}
	_, err = client.ListMethods(t.Context(), &orchestratorv1.ListMethodsRequest{PageToken: "*"})
	if status.Code(err) != codes.InvalidArgument {
		t.Errorf("a token of no page: %v, want InvalidArgument", err)
	}
}

func TestSpansAreGatheredWhereAskedFor(t *testing.T) {
	client := serve(t, stagetest.New(t))
	req := film("pg-akv")
	req.Options = &orchestratorv1.AskOptions{Spans: true}
	resp, err := client.Ask(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range resp.GetRun().GetSpans() {
		names = append(names, s.GetName())
	}
	for _, want := range []string{"stage pseudo-graph", "stage ground-graph", "stage verify", "stage answer"} {
		if !slices.Contains(names, want) {
			t.Errorf("no span %q among %q", want, names)
		}
	}
	if resp, err = client.Ask(t.Context(), &orchestratorv1.AskRequest{Question: "?", Method: "io",
		Kg: &graphv1.KnowledgeGraphRef{Name: "any"}}); err != nil || len(resp.GetRun().GetSpans()) > 0 {
		t.Errorf("unasked: %v, %v", resp.GetRun().GetSpans(), err)
	}
}
