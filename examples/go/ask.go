package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// ask answers a question and tells of each stage as it ends. A caller who does
// not care for the stages calls Ask instead, which returns the run alone.
func ask(ctx context.Context, out io.Writer, mesh orchestratorv1.OrchestratorServiceClient, req *orchestratorv1.AskRequest) error {
	ctx, cancel := context.WithCancel(ctx) // what is not heard out ends with it
	defer cancel()
	stream, err := mesh.AskStream(ctx, &orchestratorv1.AskStreamRequest{Request: req})
	if err != nil {
		return err
	}
	for {
		event, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch e := event.GetEvent().(type) {
		case *orchestratorv1.AskStreamResponse_StageFinished:
			r := e.StageFinished.GetReport()
			fmt.Fprintf(out, "%s: %v, %d model calls\n", word(r.GetStage().String(), "STAGE_"), r.GetDuration().AsDuration(), r.GetUsage().GetCalls())
		case *orchestratorv1.AskStreamResponse_Run:
			show(out, e.Run)
		}
	}
}

func show(out io.Writer, run *orchestratorv1.Run) {
	fmt.Fprintf(out, "\n%s\n%s: %s\n", run.GetText(), word(run.GetGrounding().String(), "GROUNDING_"), run.GetGroundingReason())
	for _, a := range run.GetAnswers() {
		fmt.Fprintln(out, " ", a.GetAnswer())
		for _, t := range a.GetEvidence() {
			fmt.Fprintln(out, "   ", triple(t))
		}
	}
	// What the knowledge graph changed in the model's draft.
	for _, e := range run.GetPgAkv().GetEdits() {
		if e.GetKind() == graphv1.EditKind_EDIT_KIND_REPLACE {
			fmt.Fprintf(out, "corrected: %s -> %s\n", triple(e.GetBefore()), triple(e.GetAfter()))
		}
	}
}

func triple(t *graphv1.Triple) string {
	return t.GetSubject() + " | " + t.GetRelation() + " | " + t.GetObject()
}

// word is the name of an enum's value in plain letters.
func word(value, prefix string) string {
	return strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(value, prefix), "_", " "))
}
