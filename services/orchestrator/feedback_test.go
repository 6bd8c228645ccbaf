package orchestrator_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/internal/errinfo"
	errorsv1 "github.com/triplemesh/triplemesh/proto/triplemesh/errors/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator"
	"github.com/triplemesh/triplemesh/services/orchestrator/method/stagetest"
	"github.com/triplemesh/triplemesh/services/orchestrator/quota"
)

const (
	right   = orchestratorv1.Judgement_JUDGEMENT_RIGHT
	wrong   = orchestratorv1.Judgement_JUDGEMENT_WRONG
	missing = orchestratorv1.Judgement_JUDGEMENT_MISSING
)

// markAnswer returns a mark on an answer.
func markAnswer(name string, judgement orchestratorv1.Judgement) *orchestratorv1.Mark {
	return &orchestratorv1.Mark{Judgement: judgement,
		Item: &orchestratorv1.Mark_Answer{Answer: &orchestratorv1.MarkedAnswer{Answer: name}}}
}

// markTriple returns a mark on a triple.
func markTriple(t *graphv1.Triple, judgement orchestratorv1.Judgement) *orchestratorv1.Mark {
	return &orchestratorv1.Mark{Judgement: judgement, Item: &orchestratorv1.Mark_Triple{Triple: t}}
}

// feedbackMesh is a served orchestrator that answered the question of the film.
type feedbackMesh struct {
	orchestrator orchestratorv1.OrchestratorServiceClient
	feedback     orchestratorv1.FeedbackServiceClient
}

// scriptEntities lets the retriever know entities by name, with their ids, and nothing else.
func scriptEntities(m *stagetest.Mesh, ids map[string]string) {
	stagetest.Script(m, func(_ context.Context, r *retrieverv1.BatchGetEntitiesRequest) (
		*retrieverv1.BatchGetEntitiesResponse, error) {
		resp := &retrieverv1.BatchGetEntitiesResponse{Entities: map[string]*graphv1.Entity{}, Kg: r.GetKg()}
		for _, asked := range r.GetEntities() {
			for name, id := range ids {
				if asked == name || asked == id {
					resp.Entities[asked] = &graphv1.Entity{Id: id, Name: name}
				}
			}
		}
		return resp, nil
	})
}

func (m feedbackMesh) ask(t *testing.T, ctx context.Context, req *orchestratorv1.AskRequest) *orchestratorv1.Run {
	t.Helper()
	resp, err := m.orchestrator.Ask(ctx, req)
	if err != nil {
		t.Fatal(err)
	}
	return resp.GetRun()
}

func (m feedbackMesh) give(t *testing.T, ctx context.Context, run string,
	marks ...*orchestratorv1.Mark) []*orchestratorv1.Feedback {
	t.Helper()
	resp, err := m.feedback.CreateFeedback(ctx, &orchestratorv1.CreateFeedbackRequest{RunId: run, Marks: marks})
	if err != nil {
		t.Fatal(err)
	}
	return resp.GetFeedback()
}

// list returns "subject item judgement" of what a caller lists, sorted.
func (m feedbackMesh) list(t *testing.T, ctx context.Context, req *orchestratorv1.ListFeedbackRequest) []string {
	t.Helper()
	resp, err := m.feedback.ListFeedback(ctx, req)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, f := range resp.GetFeedback() {
		item := f.GetMark().GetAnswer().GetAnswer()
		if triple := f.GetMark().GetTriple(); triple != nil {
			item = triple.GetSubject() + "-" + triple.GetRelation() + "-" + triple.GetObject()
		}
		all = append(all, strings.TrimSpace(fmt.Sprint(f.GetSubject(), " ", item, " ",
			strings.TrimPrefix(f.GetMark().GetJudgement().String(), "JUDGEMENT_"))))
	}
	slices.Sort(all)
	return all
}

func serveFeedback(t *testing.T, stages *stagetest.Mesh) feedbackMesh {
	t.Helper()
	return connectFeedback(t, testConfig(t, stages))
}

func connectFeedback(t *testing.T, cfg orchestrator.Config) feedbackMesh {
	t.Helper()
	conn := connect(t, cfg)
	return feedbackMesh{orchestratorv1.NewOrchestratorServiceClient(conn),
		orchestratorv1.NewFeedbackServiceClient(conn)}
}

func TestFeedbackIsStoredWithWhatItIsAbout(t *testing.T) {
	stages := stagetest.New(t)
	scriptEntities(stages, map[string]string{"Lars Holm": "Q7"})
	m := serveFeedback(t, stages)
	run := m.ask(t, t.Context(), film("pg-akv"))
	evidence := stagetest.Triple("The Quiet Harbour", "director", stagetest.Director)
	created := m.give(t, t.Context(), run.GetId(), markAnswer(stagetest.Director, wrong), markAnswer("Q7", missing),
		markAnswer("somebody unknown", missing), markTriple(evidence, wrong),
		markTriple(stagetest.Triple("The Quiet Harbour", "producer", "Lars Holm"), missing))
	for i, want := range []struct{ name, id string }{{stagetest.Director, ""}, {"Lars Holm", "Q7"},
		{"somebody unknown", ""}} {
		if a := created[i].GetMark().GetAnswer(); a.GetAnswer() != want.name || a.GetId() != want.id {
			t.Errorf("mark %d is on %v, want %v", i, a, want)
		}
	}
	if object := created[4].GetMark().GetTriple().GetObjectId(); object != "Q7" {
		t.Errorf("the missing triple has the object %q", object)
	}
	listed, err := m.feedback.ListFeedback(t.Context(), &orchestratorv1.ListFeedbackRequest{RunId: run.GetId()})
	if err != nil || len(listed.GetFeedback()) != len(created) {
		t.Fatalf("listed %v, %v", listed, err)
	}
	for _, f := range listed.GetFeedback() {
		if f.GetQuestion() != stagetest.Film || f.GetRunId() != run.GetId() || f.GetMethod() != "pg-akv" ||
			!proto.Equal(f.GetKg(), run.GetKg()) || f.GetCreateTime() == nil || len(f.GetAnswers()) != 1 ||
			f.GetAnswers()[0].GetAnswer() != stagetest.Director || f.RecordChecksum != nil {
			t.Errorf("it is stored as %v", f)
		}
		if !slices.ContainsFunc(created, func(c *orchestratorv1.Feedback) bool { return proto.Equal(c, f) }) {
			t.Errorf("it is not what was created: %v", f)
		}
	}
}

func TestFeedbackHasTheTopicEntitiesOfItsRun(t *testing.T) {
	stages := stagetest.New(t)
	m := serveFeedback(t, stages)
	ger, pgakv := m.ask(t, t.Context(), rivers()), m.ask(t, t.Context(), film("pg-akv"))
	give := func(run *orchestratorv1.Run) []*graphv1.Entity {
		mark := markAnswer(run.GetAnswers()[0].GetAnswer(), right)
		return m.give(t, t.Context(), run.GetId(), mark)[0].GetTopicEntities()
	}
	stagetest.Script(stages, func(context.Context, *retrieverv1.LinkEntitiesRequest) (*retrieverv1.LinkEntitiesResponse,
		error) {
		link := &graphv1.EntityLink{Entity: "The Quiet Harbour", EntityId: "Q1"}
		return &retrieverv1.LinkEntitiesResponse{Links: []*graphv1.EntityLink{link, link}}, nil
	})
	if topics := give(ger); len(topics) != 1 || topics[0].GetName() != "Velmora" {
		t.Errorf("of ger they are %v", topics)
	}
	if topics := give(pgakv); len(topics) != 1 || topics[0].GetId() != "Q1" {
		t.Errorf("of pg-akv, which links none, they are %v", topics)
	}
	stagetest.Script(stages, func(context.Context, *retrieverv1.LinkEntitiesRequest) (*retrieverv1.LinkEntitiesResponse,
		error) {
		return nil, status.Error(codes.Unavailable, "down")
	})
	if topics := give(pgakv); topics != nil {
		t.Errorf("without a linker they are %v", topics)
	}
	// A triple of a reasoning path is a triple of the run.
	m.give(t, t.Context(), ger.GetId(), markTriple(stagetest.Triple("Velmora", "twin", "Harn"), wrong))
}

func TestLaterMarkReplacesTheEarlier(t *testing.T) {
	m := serveFeedback(t, stagetest.New(t))
	run := m.ask(t, t.Context(), rivers())
	first := m.give(t, t.Context(), run.GetId(), markAnswer("Tessen", right), markAnswer("Orla", right))
	second := m.give(t, t.Context(), run.GetId(), markAnswer("Tessen", wrong))
	if first[0].GetId() != second[0].GetId() {
		t.Errorf("the second mark is %s, want %s replaced", second[0].GetId(), first[0].GetId())
	}
	want := []string{"Orla RIGHT", "Tessen WRONG"}
	if got := m.list(t, t.Context(), &orchestratorv1.ListFeedbackRequest{}); !slices.Equal(got, want) {
		t.Errorf("listed %q, want %q", got, want)
	}
}

func TestMarksMustFitTheirRun(t *testing.T) {
	m := serveFeedback(t, stagetest.New(t))
	run := m.ask(t, t.Context(), film("pg-akv")).GetId()
	for _, c := range []struct {
		name  string
		run   string
		marks []*orchestratorv1.Mark
		code  codes.Code
		says  string
	}{
		{"a run that is none", "none", []*orchestratorv1.Mark{markAnswer("a", right)}, codes.NotFound, "no run"},
		{"no marks", run, nil, codes.InvalidArgument, "marks"},
		{"too many", run, slices.Repeat([]*orchestratorv1.Mark{markAnswer("a", right)}, 65), codes.InvalidArgument,
			"marks"},
		{"no item", run, []*orchestratorv1.Mark{{Judgement: right}}, codes.InvalidArgument, "item"},
		{"no judgement", run, []*orchestratorv1.Mark{markAnswer(stagetest.Director, 0)}, codes.InvalidArgument,
			"judgement"},
		{"a judgement that there is not", run, []*orchestratorv1.Mark{markAnswer(stagetest.Director, 9)},
			codes.InvalidArgument, "judgement"},
		{"an empty answer", run, []*orchestratorv1.Mark{markAnswer("", right)}, codes.InvalidArgument, "answer"},
		{"a long comment", run, []*orchestratorv1.Mark{{Judgement: right, Comment: strings.Repeat("x", 2049),
			Item: markAnswer(stagetest.Director, right).GetItem()}}, codes.InvalidArgument, "comment"},
		{"an answer that the run does not have", run, []*orchestratorv1.Mark{markAnswer("Lars Holm", right)},
			codes.InvalidArgument, `the run has no answer "Lars Holm"; it has "Erik Halvorsen"`},
		{"an answer that is missing and is not", run, []*orchestratorv1.Mark{markAnswer("erik halvorsen", missing)},
			codes.InvalidArgument, "is right or wrong, not missing"},
		{"a triple that the run does not have", run, []*orchestratorv1.Mark{markTriple(stagetest.Triple("a", "b", "c"),
			wrong)}, codes.InvalidArgument, "no triple"},
		{"two judgements on one item", run, []*orchestratorv1.Mark{markAnswer(stagetest.Director, right),
			markAnswer(strings.ToUpper(stagetest.Director), wrong)}, codes.InvalidArgument,
			"marks[1]: it is about the same item as marks[0]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := m.feedback.CreateFeedback(t.Context(),
				&orchestratorv1.CreateFeedbackRequest{RunId: c.run, Marks: c.marks})
			if status.Code(err) != c.code || !strings.Contains(status.Convert(err).Message(), c.says) {
				t.Errorf("got %v, want %v that says %q", err, c.code, c.says)
			}
		})
	}
	if got := m.list(t, t.Context(), &orchestratorv1.ListFeedbackRequest{}); got != nil {
		t.Errorf("refused marks were stored: %q", got)
	}
}

func TestRunWithoutAnswersTakesMissingOnes(t *testing.T) {
	m := serveFeedback(t, stagetest.New(t))
	req := film("pg-akv")
	req.Options = &orchestratorv1.AskOptions{AbstainBelow: 1}
	run := m.ask(t, t.Context(), req)
	if len(run.GetAnswers()) > 0 || len(run.GetWithheld()) == 0 {
		t.Fatalf("the run has answers: %v", run)
	}
	m.give(t, t.Context(), run.GetId(), markAnswer(stagetest.Director, right)) // a withheld answer has been seen
	m.give(t, t.Context(), run.GetId(), markAnswer("Lars Holm", missing))
	want := []string{"Erik Halvorsen RIGHT", "Lars Holm MISSING"}
	if got := m.list(t, t.Context(), &orchestratorv1.ListFeedbackRequest{}); !slices.Equal(got, want) {
		t.Errorf("listed %q, want %q", got, want)
	}
}

func TestFeedbackStaysWithItsCallerAndTenant(t *testing.T) {
	cfg := testConfig(t, stagetest.New(t))
	cfg.Runs.TenantWide = true
	who := asking(t, &cfg, "acme/ana", "acme/ben", "acme/admin", "acme/feedback-reader", "globex/admin-2")
	m := connectFeedback(t, cfg)
	run := m.ask(t, who.as(t, "acme/ana"), rivers()).GetId()
	ofAna := m.give(t, who.as(t, "acme/ana"), run, markAnswer("Tessen", right))[0].GetId()
	m.give(t, who.as(t, "acme/ben"), run, markAnswer("Tessen", wrong), markAnswer("Lethe", missing))

	ana, ben := []string{"ana Tessen RIGHT"}, []string{"ben Lethe MISSING", "ben Tessen WRONG"}
	both := slices.Concat(ana, ben)
	for _, c := range []struct {
		caller string
		req    *orchestratorv1.ListFeedbackRequest
		want   []string
	}{
		{"acme/ana", &orchestratorv1.ListFeedbackRequest{}, ana},
		{"acme/ana", &orchestratorv1.ListFeedbackRequest{Subject: "ben"}, nil},
		{"acme/ben", &orchestratorv1.ListFeedbackRequest{RunId: run}, ben},
		{"acme/feedback-reader", &orchestratorv1.ListFeedbackRequest{}, both},
		{"acme/feedback-reader", &orchestratorv1.ListFeedbackRequest{Subject: "ana"}, ana},
		{"acme/feedback-reader", &orchestratorv1.ListFeedbackRequest{Own: true}, nil},
		{"acme/admin", &orchestratorv1.ListFeedbackRequest{KgName: "wikidata"}, both},
		{"acme/admin", &orchestratorv1.ListFeedbackRequest{KgName: "idle"}, nil},
		{"globex/admin-2", &orchestratorv1.ListFeedbackRequest{RunId: run}, nil},
	} {
		if got := m.list(t, who.as(t, c.caller), c.req); !slices.Equal(got, c.want) {
			t.Errorf("%s lists %v and gets %q, want %q", c.caller, c.req, got, c.want)
		}
	}
	if _, err := m.feedback.CreateFeedback(who.as(t, "globex/admin-2"), &orchestratorv1.CreateFeedbackRequest{
		RunId: run, Marks: []*orchestratorv1.Mark{markAnswer("Tessen", wrong)}}); status.Code(err) != codes.NotFound {
		t.Errorf("another tenant marks the run: %v", err)
	}
	for _, caller := range []string{"acme/ben", "acme/feedback-reader", "globex/admin-2"} {
		if _, err := m.feedback.DeleteFeedback(who.as(t, caller),
			&orchestratorv1.DeleteFeedbackRequest{Id: ofAna}); status.Code(err) != codes.NotFound {
			t.Errorf("%s deletes the feedback of ana: %v", caller, err)
		}
	}
	for _, caller := range []string{"acme/admin", "acme/ana"} { // the second time there is none
		want := map[string]codes.Code{"acme/admin": codes.OK, "acme/ana": codes.NotFound}[caller]
		if _, err := m.feedback.DeleteFeedback(who.as(t, caller),
			&orchestratorv1.DeleteFeedbackRequest{Id: ofAna}); status.Code(err) != want {
			t.Errorf("%s deletes: %v, want %v", caller, err, want)
		}
	}
	if _, err := m.feedback.ListFeedback(t.Context(),
		&orchestratorv1.ListFeedbackRequest{}); status.Code(err) != codes.Unauthenticated {
		t.Errorf("a caller without a token lists feedback: %v", err)
	}
	if _, err := m.feedback.ListFeedback(who.as(t, "acme/ana"),
		&orchestratorv1.ListFeedbackRequest{PageToken: "x"}); status.Code(err) != codes.InvalidArgument {
		t.Errorf("a page token that is none: %v", err)
	}
}

func TestCallerWhoMayNotAskGivesNoFeedback(t *testing.T) {
	cfg := testConfig(t, stagetest.New(t))
	token := auth.NewToken()
	data, err := auth.Tokens{Tokens: []auth.Token{{Name: "reader", Tenant: "acme", Scopes: []string{"kg:read"},
		SHA256: auth.Hash(token)}}}.Format()
	if err != nil {
		t.Fatal(err)
	}
	cfg.Server.Auth.TokensFile = filepath.Join(t.TempDir(), "tokens.yaml")
	if err := os.WriteFile(cfg.Server.Auth.TokensFile, data, 0o600); err != nil {
		t.Fatal(err)
	}
	client := orchestratorv1.NewFeedbackServiceClient(connect(t, cfg))
	ctx := callers{"reader": token}.as(t, "reader")
	_, err = client.CreateFeedback(ctx, &orchestratorv1.CreateFeedbackRequest{RunId: "x",
		Marks: []*orchestratorv1.Mark{markAnswer("a", right)}})
	if errinfo.Reason(err) != errorsv1.ErrorReason_ERROR_REASON_SCOPE_MISSING {
		t.Errorf("got %v", err)
	}
}

func TestFeedbackOutlivesItsRun(t *testing.T) {
	cfg := testConfig(t, stagetest.New(t))
	cfg.Runs.Keep = 1
	m := connectFeedback(t, cfg)
	run := m.ask(t, t.Context(), rivers()).GetId()
	m.give(t, t.Context(), run, markAnswer("Tessen", right))
	m.ask(t, t.Context(), film("pg-akv"))
	if _, err := m.orchestrator.GetRun(t.Context(), &orchestratorv1.GetRunRequest{Id: run}); status.Code(err) !=
		codes.NotFound {
		t.Fatalf("the run is still there: %v", err)
	}
	if got := m.list(t, t.Context(), &orchestratorv1.ListFeedbackRequest{RunId: run}); !slices.Equal(got,
		[]string{"Tessen RIGHT"}) {
		t.Errorf("listed %q", got)
	}
	if _, err := m.feedback.CreateFeedback(t.Context(), &orchestratorv1.CreateFeedbackRequest{RunId: run,
		Marks: []*orchestratorv1.Mark{markAnswer("Orla", right)}}); status.Code(err) != codes.NotFound {
		t.Errorf("a run that is gone is marked: %v", err)
	}
}

func TestFeedbackHasItsLimits(t *testing.T) {
	cfg := testConfig(t, stagetest.New(t))
	cfg.Feedback.MaxMarks = 3
	cfg.Quotas = quota.Config{quota.Everyone: {FeedbackPerDay: 4}}
	m := connectFeedback(t, cfg)
	run := m.ask(t, t.Context(), rivers()).GetId()
	m.give(t, t.Context(), run, markAnswer("Tessen", right), markAnswer("Orla", right), markAnswer("Lethe", missing))
	more := func(name string) error {
		_, err := m.feedback.CreateFeedback(t.Context(), &orchestratorv1.CreateFeedbackRequest{RunId: run,
			Marks: []*orchestratorv1.Mark{markAnswer(name, missing)}})
		return err
	}
	if err := more("Styx"); status.Code(err) != codes.ResourceExhausted || !strings.Contains(err.Error(),
		"orchestrator.feedback.max_marks") {
		t.Errorf("the fourth of three stored: %v", err)
	}
	if err := more("Lethe"); errinfo.Reason(err) != errorsv1.ErrorReason_ERROR_REASON_QUOTA_EXCEEDED ||
		!strings.Contains(err.Error(), "feedback marks today") {
		t.Errorf("the fifth of four a day: %v", err)
	}
}
