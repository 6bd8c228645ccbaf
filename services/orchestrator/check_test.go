package orchestrator_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/internal/config"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/method/stagetest"
	"github.com/triplemesh/triplemesh/services/orchestrator/quota"
)

const harbour = "The Quiet Harbour is director Lars Holm. What a day! Zoë is mayor Reik.\nThe Quiet Harbour is " +
	"director Erik Halvorsen."

func text(of string) *orchestratorv1.CheckRequest {
	return &orchestratorv1.CheckRequest{Text: of, Kg: &graphv1.KnowledgeGraphRef{Name: "wikidata"}}
}

// verdicts are those of a check's claims, in short.
func verdicts(claims []*orchestratorv1.Claim) (all []string) {
	for _, c := range claims {
		all = append(all, config.EnumName(c.GetVerdict()))
	}
	return all
}

func TestCheck(t *testing.T) {
	resp, err := serve(t, stagetest.New(t)).Check(t.Context(), text(harbour))
	if err != nil {
		t.Fatal(err)
	}
	c := resp.GetCheck()
	if got := verdicts(c.GetClaims()); !slices.Equal(got, []string{"contradicted", "not-in-kg", "supported"}) {
		t.Fatalf("judged %q", got)
	}
	runes := []rune(harbour)
	for _, claim := range c.GetClaims() {
		said := string(runes[claim.GetSpan().GetStart():claim.GetSpan().GetEnd()])
		if tr := claim.GetTriple(); said != tr.GetSubject()+" is "+tr.GetRelation()+" "+tr.GetObject() {
			t.Errorf("the claim %v stands at %q", tr, said)
		}
	}
	if want := strings.Replace(harbour, "Lars Holm", stagetest.Director, 1); c.GetCorrectedText() != want ||
		len(c.GetCorrections()) != 1 || c.GetText() != harbour {
		t.Errorf("corrected to %q by %v", c.GetCorrectedText(), c.GetCorrections())
	}
	var stages []orchestratorv1.Stage
	for _, s := range c.GetStages() {
		stages = append(stages, s.GetStage())
		if s.GetDuration() == nil || len(s.GetWarnings()) > 0 {
			t.Errorf("the stage %v", s)
		}
	}
	if !slices.Equal(stages, []orchestratorv1.Stage{orchestratorv1.Stage_STAGE_CLAIMS,
		orchestratorv1.Stage_STAGE_GROUND_GRAPH, orchestratorv1.Stage_STAGE_VERIFY}) {
		t.Errorf("went through %v", stages)
	}
	if c.GetUsage().GetCalls() != 4 || c.GetPartial() || c.GetKg().GetSnapshot() != 3 || len(c.GetTraceId()) != 32 ||
		c.GetStartTime() == nil || c.GetDuration().AsDuration() <= 0 {
		t.Errorf("got %v", c)
	}
}

func TestATextThatStatesNothingIsCheckedAndStays(t *testing.T) {
	resp, err := serve(t, stagetest.New(t)).Check(t.Context(), text(" \n What a day! "))
	if err != nil || len(resp.GetCheck().GetClaims()) != 0 ||
		resp.GetCheck().GetCorrectedText() != " \n What a day! " || resp.GetCheck().GetPartial() {
		t.Errorf("got %v, %v", resp, err)
	}
}

func TestCheckStreamTellsHowFarItIs(t *testing.T) {
	long := strings.Repeat("The Quiet Harbour is director Lars Holm. ", 10)
	stream, err := serve(t, stagetest.New(t)).CheckStream(t.Context(),
		&orchestratorv1.CheckStreamRequest{Request: text(long)})
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	var last *orchestratorv1.Check
	for {
		event, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil || last != nil {
			t.Fatalf("after %v came %v, %v", last, event, err)
		}
		if p := event.GetProgress(); p != nil {
			judged := 0
			for _, c := range p.GetClaims() {
				if c.GetVerdict() != verifierv1.Verdict_VERDICT_UNSPECIFIED {
					judged++
				}
			}
			told = append(told, fmt.Sprintf("%d of %d: %d of %d", p.GetRead(), p.GetTotal(), judged,
				len(p.GetClaims())))
		}
		last = event.GetCheck()
	}
	want := []string{"327 of 410: 0 of 8", "327 of 410: 8 of 8", "409 of 410: 8 of 10", "409 of 410: 10 of 10"}
	if !slices.Equal(told, want) || len(last.GetClaims()) != 10 || len(last.GetStages()) != 3 ||
		last.GetUsage().GetCalls() != 10 {
		t.Errorf("told %q and %v", told, last)
	}
}

func TestWhatCannotBeChecked(t *testing.T) {
	several := text(harbour)
	several.OtherKgs = []*graphv1.KnowledgeGraphRef{{Name: "wikidata"}}
	unknown := text(harbour)
	unknown.Kg.Name = "mars"
	for _, c := range []struct {
		name string
		req  *orchestratorv1.CheckRequest
		want codes.Code
		says string
	}{
		{"no text", text(""), codes.InvalidArgument, "text"},
		{"no knowledge graph", &orchestratorv1.CheckRequest{Text: harbour}, codes.InvalidArgument, "kg"},
		{"a knowledge graph twice", several, codes.InvalidArgument, "named twice"},
		{"one that is not there", unknown, codes.NotFound, "there are: wikidata"},
		{"a text that is too long", text(strings.Repeat("x", 65537)), codes.InvalidArgument, "text"},
	} {
		t.Run(c.name, func(t *testing.T) {
			mesh := stagetest.New(t)
			_, err := serve(t, mesh).Check(t.Context(), c.req)
			if st := status.Convert(err); st.Code() != c.want || !strings.Contains(st.Message(), c.says) {
				t.Errorf("got %v", err)
			}
			if slices.Contains(mesh.Calls(), "ExtractClaims") {
				t.Error("a model was asked")
			}
		})
	}
}

func TestACheckEndsEarly(t *testing.T) {
	budget := text(harbour)
	budget.Limits = &llmv1.Limits{Budget: &llmv1.Budget{MaxCalls: 3}}
	for _, c := range []struct {
		name   string
		req    *orchestratorv1.CheckRequest
		script func(*stagetest.Mesh)
		claims []string
		stage  orchestratorv1.Stage // that warns
		code   codes.Code
	}{
		{"where the budget runs out in the middle", budget, func(*stagetest.Mesh) {},
			[]string{"contradicted", "not-in-kg"}, orchestratorv1.Stage_STAGE_CLAIMS, codes.OK},
		{"where the retriever is down", text(harbour), func(m *stagetest.Mesh) {
			stagetest.Fail[*retrieverv1.GroundGraphRequest](m, status.Error(codes.Unavailable, "down"))
		}, []string{"unspecified", "unspecified", "unspecified"}, orchestratorv1.Stage_STAGE_GROUND_GRAPH, codes.OK},
		{"where the verifier is down", text(harbour), func(m *stagetest.Mesh) {
			stagetest.Fail[*verifierv1.JudgeClaimsRequest](m, status.Error(codes.Unavailable, "down"))
		}, []string{"unspecified", "unspecified", "unspecified"}, orchestratorv1.Stage_STAGE_VERIFY, codes.OK},
		{"with an error where the model is down", text(harbour), func(m *stagetest.Mesh) {
			stagetest.Fail[*generatorv1.ExtractClaimsRequest](m, status.Error(codes.Unavailable, "down"))
		}, nil, 0, codes.Unavailable},
	} {
		t.Run(c.name, func(t *testing.T) {
			mesh := stagetest.New(t)
			c.script(mesh)
			resp, err := serve(t, mesh).Check(t.Context(), c.req)
			if status.Code(err) != c.code {
				t.Fatalf("got %v", err)
			}
			if err != nil {
				return
			}
			if got := verdicts(resp.GetCheck().GetClaims()); !slices.Equal(got, c.claims) ||
				!resp.GetCheck().GetPartial() {
				t.Errorf("got %q, partial %v", got, resp.GetCheck().GetPartial())
			}
			for _, s := range resp.GetCheck().GetStages() {
				if warns := len(s.GetWarnings()) > 0; warns != (s.GetStage() == c.stage) {
					t.Errorf("the stage %v warns of %v", s.GetStage(), s.GetWarnings())
				}
			}
		})
	}
}

func TestASentenceIsReadWithWhatNamesItsPronouns(t *testing.T) {
	mesh := stagetest.New(t)
	if _, err := serve(t, mesh).Check(t.Context(),
		text("Reik is mayor here. He sings. She left, he stayed. Velmora is big.")); err != nil {
		t.Fatal(err)
	}
	context := map[string]string{}
	for _, req := range stagetest.Requests[*generatorv1.ExtractClaimsRequest](mesh) {
		context[req.GetText()] = req.GetContext()
	}
	for sentence, want := range map[string]string{
		"Reik is mayor here.": "", "He sings.": "Reik is mayor here.", "She left, he stayed.": "Reik is mayor here.",
		"Velmora is big.": "",
	} {
		if got, asked := context[sentence]; !asked || got != want {
			t.Errorf("%q was read after %q, want %q", sentence, got, want)
		}
	}
}

func TestACheckCountsAsAQuestion(t *testing.T) {
	mesh := stagetest.New(t)
	service, _ := localWith(t, mesh, quota.Config{quota.Everyone: {QuestionsPerDay: 1}})
	if _, err := service.Check(anyCaller(t), text(harbour)); err != nil {
		t.Fatal(err)
	}
	if _, err := service.Check(anyCaller(t), text(harbour)); status.Code(err) != codes.ResourceExhausted {
		t.Errorf("the second ended with %v", err)
	}
}

func TestChecksAreCounted(t *testing.T) {
	service, page := measured(t, stagetest.New(t), nil)
	if _, err := service.Check(anyCaller(t), text(harbour)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"triplemesh_orchestrator_checks", `verdict="contradicted"`,
		"triplemesh_orchestrator_check_duration"} {
		if !strings.Contains(page(), want) {
			t.Errorf("the metrics lack %s", want)
		}
	}
}

func TestAFailedCheckCountsTheCallsOfItsOtherSentences(t *testing.T) {
	counted := func() float64 {
		mesh := stagetest.New(t)
		second := make(chan struct{})
		stagetest.Script(mesh, func(_ context.Context, req *generatorv1.ExtractClaimsRequest) (
			*generatorv1.ExtractClaimsResponse, error) {
			if strings.HasPrefix(req.GetText(), "Velmora") {
				defer close(second)
				return &generatorv1.ExtractClaimsResponse{Usage: stagetest.Usage()}, nil
			}
			<-second
			time.Sleep(50 * time.Millisecond) // the response of the second sentence is on its way
			return nil, status.Error(codes.Unavailable, "the model is down")
		})
		service, _ := local(t, mesh)
		if _, err := service.Check(anyCaller(t), text("Reik is mayor here. Velmora is big.")); err == nil {
			t.Fatal("the check succeeded without its first sentence")
		}
		resp, err := service.GetQuota(anyCaller(t), nil)
		return quotaUsage(t, resp, err)[quota.TokensPerDay]
	}
	for range 5 { // the first sentence may fail before the response of the second arrives
		if counted() == 15 {
			return
		}
	}
	t.Error("the call for the second sentence was not counted")
}
