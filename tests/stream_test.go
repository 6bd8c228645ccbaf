package tests

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

func TestAStreamReportsEveryStageAndTheAnswerInPieces(t *testing.T) {
	m := start(t, options{model: scripted(t)})
	stream, err := m.orchestrator.AskStream(timeoutContext(t, patience),
		&orchestratorv1.AskStreamRequest{Request: question("pg-akv")})
	if err != nil {
		t.Fatal(err)
	}
	var events []string
	var text strings.Builder
	var grounded, run *orchestratorv1.Run
	for {
		event, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch e := event.GetEvent().(type) {
		case *orchestratorv1.AskStreamResponse_StageStarted:
			events = append(events, "started "+e.StageStarted.GetStage().String())
		case *orchestratorv1.AskStreamResponse_StageFinished:
			stage := e.StageFinished.GetReport().GetStage()
			events = append(events, "finished "+stage.String())
			if stage == orchestratorv1.Stage_STAGE_GROUND_GRAPH {
				grounded = e.StageFinished.GetRun()
			}
		case *orchestratorv1.AskStreamResponse_AnswerDelta:
			text.WriteString(e.AnswerDelta)
			events = append(events, "delta")
		case *orchestratorv1.AskStreamResponse_Run:
			run = e.Run
			events = append(events, "run")
		}
	}
	want := []string{
		"started STAGE_PSEUDO_GRAPH", "finished STAGE_PSEUDO_GRAPH", "started STAGE_GROUND_GRAPH",
		"finished STAGE_GROUND_GRAPH",
		"started STAGE_VERIFY", "finished STAGE_VERIFY", "started STAGE_ANSWER", "delta", "finished STAGE_ANSWER",
		"run",
	}
	if n := len(events); !slices.Equal(slices.Compact(events), want) || n <= len(want) {
		t.Errorf("got the events %v, want %v with several deltas", events, want)
	}
	if len(grounded.GetPgAkv().GetGroundGraph().GetSubjects()) == 0 || grounded.GetPgAkv().GetFixedGraph() != nil {
		t.Errorf("after grounding the run so far is %v", grounded)
	}
	if text.String() != run.GetText() || names(run) != employer {
		t.Errorf("the pieces are %q, the whole is %q, the answer %s", text.String(), run.GetText(), names(run))
	}
}

func TestRunsAreReadBackAndListedAfterARestart(t *testing.T) {
	m := start(t, options{model: scripted(t)})
	asked := []*orchestratorv1.Run{m.ask(t, question("pg-akv")), m.ask(t, question("ger")), m.ask(t, question("io"))}
	secret := question("cot")
	secret.Options = &orchestratorv1.AskOptions{NoRecord: true}
	m.ask(t, secret)
	m.stop()

	again := start(t, options{model: scripted(t), data: m.data})
	for _, run := range asked {
		kept, err := again.orchestrator.GetRun(timeoutContext(t, patience),
			&orchestratorv1.GetRunRequest{Id: run.GetId()})
		if err != nil || !proto.Equal(kept.GetRun(), run) {
			t.Errorf("the run of %s is read back as %v, %v; want %v", run.GetMethod(), kept, err, run)
		}
	}
	var listed []string
	for token := ""; ; {
		page, err := again.orchestrator.ListRuns(timeoutContext(t, patience),
			&orchestratorv1.ListRunsRequest{PageSize: 2,
				PageToken: token})
		if err != nil {
			t.Fatal(err)
		}
		for _, run := range page.GetRuns() {
			listed = append(listed, run.GetMethod())
		}
		if token = page.GetNextPageToken(); token == "" {
			break
		}
	}
	if want := []string{"io", "ger", "pg-akv"}; !slices.Equal(listed, want) {
		t.Errorf("listed %v, want %v", listed, want)
	}
}
