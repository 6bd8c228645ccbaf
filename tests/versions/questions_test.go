//go:build versions

package versions

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// kind is one type of call. It returns the response without ids, times and usage.
type kind struct {
	name string
	ask  func(context.Context, orchestratorv1.OrchestratorServiceClient) (string, error)
}

// kinds are calls that together reach every stage.
func kinds() []kind {
	return []kind{
		{"pg-akv", func(ctx context.Context, to orchestratorv1.OrchestratorServiceClient) (string, error) {
			resp, err := to.Ask(ctx, question("pg-akv", employerQuestion))
			return stableText(resp.GetRun()), err
		}},
		{"ger", func(ctx context.Context, to orchestratorv1.OrchestratorServiceClient) (string, error) {
			resp, err := to.Ask(ctx, question("ger", studyQuestion))
			return stableText(resp.GetRun()), err
		}},
		{"stream", stream},
		{"check", func(ctx context.Context, to orchestratorv1.OrchestratorServiceClient) (string, error) {
			resp, err := to.Check(ctx, &orchestratorv1.CheckRequest{Text: claim, Kg: kg()})
			return checked(resp.GetCheck()), err
		}},
		{"run", func(ctx context.Context, to orchestratorv1.OrchestratorServiceClient) (string, error) {
			page, err := to.ListRuns(ctx, &orchestratorv1.ListRunsRequest{PageSize: 1, Method: "ger"})
			if err != nil || len(page.GetRuns()) == 0 {
				return "", errors.Join(err, errors.New("no run by ger is listed"))
			}
			kept, err := to.GetRun(ctx, &orchestratorv1.GetRunRequest{Id: page.GetRuns()[0].GetId()})
			return stableText(kept.GetRun()), err
		}},
	}
}

func kg() *graphv1.KnowledgeGraphRef { return &graphv1.KnowledgeGraphRef{Name: wikidata} }

func question(method, text string) *orchestratorv1.AskRequest {
	return &orchestratorv1.AskRequest{Question: text, Method: method, Kg: kg()}
}

// stream asks by AskStream, and returns the events in order.
func stream(ctx context.Context, to orchestratorv1.OrchestratorServiceClient) (string, error) {
	responses, err := to.AskStream(ctx, &orchestratorv1.AskStreamRequest{Request: question("pg-akv", employerQuestion)})
	if err != nil {
		return "", err
	}
	events, text := "", ""
	for {
		event, err := responses.Recv()
		if errors.Is(err, io.EOF) {
			return events + text, nil
		}
		if err != nil {
			return "", err
		}
		switch e := event.GetEvent().(type) {
		case *orchestratorv1.AskStreamResponse_StageStarted:
			events += fmt.Sprintln("started", e.StageStarted.GetStage())
		case *orchestratorv1.AskStreamResponse_AnswerDelta:
			text += e.AnswerDelta
		case *orchestratorv1.AskStreamResponse_Run:
			events += stableText(e.Run)
		}
	}
}

// stableText formats a run without the fields that differ between runs.
func stableText(run *orchestratorv1.Run) string {
	if run == nil {
		return ""
	}
	run = proto.CloneOf(run)
	run.Id, run.TraceId, run.StartTime, run.Duration, run.Usage, run.Spans = "", "", nil, nil, nil, nil
	for _, stage := range run.GetStages() {
		stage.Duration, stage.Usage = nil, nil
	}
	// Concurrent stages end in any order.
	slices.SortStableFunc(run.GetStages(),
		func(a, b *orchestratorv1.StageReport) int { return int(a.GetStage() - b.GetStage()) })
	return prototext.MarshalOptions{Multiline: true}.Format(run)
}

func checked(check *orchestratorv1.Check) string {
	if check == nil {
		return ""
	}
	check = proto.CloneOf(check)
	check.TraceId, check.StartTime, check.Duration, check.Usage = "", nil, nil, nil
	for _, stage := range check.GetStages() {
		stage.Duration, stage.Usage = nil, nil
	}
	return prototext.MarshalOptions{Multiline: true}.Format(check)
}
