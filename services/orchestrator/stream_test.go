package orchestrator_test

import (
	"errors"
	"io"
	"slices"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/internal/config"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/method/stagetest"
)

// streamEvents is what a stream said, event by event.
type streamEvents struct {
	events   []string
	text     string // since the last restart
	restarts int
	last     *orchestratorv1.Run
}

func listen(t *testing.T, client orchestratorv1.OrchestratorServiceClient,
	req *orchestratorv1.AskRequest) (streamEvents, error) {
	t.Helper()
	stream, err := client.AskStream(t.Context(), &orchestratorv1.AskStreamRequest{Request: req})
	if err != nil {
		t.Fatal(err)
	}
	var out streamEvents
	for {
		event, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		if out.last != nil {
			t.Error("something came after the run")
		}
		switch e := event.GetEvent().(type) {
		case *orchestratorv1.AskStreamResponse_StageStarted:
			out.events = append(out.events, "start "+config.EnumName(e.StageStarted.GetStage()))
		case *orchestratorv1.AskStreamResponse_StageFinished:
			out.events = append(out.events, "finish "+config.EnumName(e.StageFinished.GetReport().GetStage()))
		case *orchestratorv1.AskStreamResponse_AnswerDelta:
			out.text += e.AnswerDelta
		case *orchestratorv1.AskStreamResponse_AnswerRestarted:
			out.text = ""
			out.restarts++
		case *orchestratorv1.AskStreamResponse_Run:
			out.last = e.Run
		}
	}
}

func TestAskStreamTellsOfStagesTheTextAndTheRun(t *testing.T) {
	got, err := listen(t, serve(t, stagetest.New(t)), film("pg-akv"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"start pseudo-graph", "finish pseudo-graph", "start ground-graph", "finish ground-graph",
		"start verify", "finish verify", "start answer", "finish answer",
	}
	if !slices.Equal(got.events, want) {
		t.Errorf("told %q, want %q", got.events, want)
	}
	if got.last == nil || got.text != got.last.GetText() || got.last.GetUsage().GetCalls() != 3 {
		t.Errorf("the text came as %q, the run as %v", got.text, got.last)
	}
}

func TestEventsOfParallelStagesComeOneAtATime(t *testing.T) {
	got, err := listen(t, serve(t, stagetest.New(t)), rivers())
	if err != nil {
		t.Fatal(err)
	}
	for _, stage := range []string{"evaluate-question", "evaluate-answers", "reflect"} {
		start, finish := slices.Index(got.events, "start "+stage), slices.Index(got.events, "finish "+stage)
		if start < 0 || finish < start {
			t.Errorf("%s is told of at %d and %d of %q", stage, start, finish, got.events)
		}
	}
	if last := got.events[len(got.events)-1]; len(got.events) != 12 || last != "finish reflect" {
		t.Errorf("told %q", got.events)
	}
}

func TestAStreamEndsInTheErrorOfTheQuestion(t *testing.T) {
	mesh := stagetest.New(t)
	stagetest.Fail[*generatorv1.GeneratePseudoGraphRequest](mesh, status.Error(codes.Unavailable, "the model is down"))
	got, err := listen(t, serve(t, mesh), film("pg-akv"))
	if status.Code(err) != codes.Unavailable || got.last != nil ||
		!slices.Equal(got.events, []string{"start pseudo-graph", "finish pseudo-graph"}) {
		t.Errorf("told %q and ended with %v", got.events, err)
	}
}

func TestAnAnswerThatBreaksOffInTheGeneratorIsPartial(t *testing.T) {
	mesh := stagetest.New(t)
	stagetest.Fail[*generatorv1.GenerateAnswerStreamRequest](mesh, status.Error(codes.Unavailable,
		"the generator went down"))
	got, err := listen(t, serve(t, mesh), film("pg-akv"))
	if err != nil || !got.last.GetPartial() || got.last.GetAnswers()[0].GetAnswer() != stagetest.Director {
		t.Errorf("got %v, %v", got.last, err)
	}
}
