package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/triplemesh/triplemesh/client"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// ask asks a question and prints each stage as it finishes. A caller that does not need the stages
// calls Ask instead, which returns only the run.
func ask(ctx context.Context, out io.Writer, mesh *client.Client, req *orchestratorv1.AskRequest) error {
	for event, err := range mesh.AskStream(ctx, req) {
		if err != nil {
			return err
		}
		switch e := event.GetEvent().(type) {
		case *orchestratorv1.AskStreamResponse_StageFinished:
			r := e.StageFinished.GetReport()
			fmt.Fprintf(out, "%s: %v, %d model calls\n", word(r.GetStage().String(), "STAGE_"),
				r.GetDuration().AsDuration(), r.GetUsage().GetCalls())
		case *orchestratorv1.AskStreamResponse_Run:
			show(out, e.Run)
		}
	}
	return nil
}

func show(out io.Writer, run *orchestratorv1.Run) {
	fmt.Fprintf(out, "\n%s\n%s: %s\n", run.GetText(), word(run.GetGrounding().String(), "GROUNDING_"),
		run.GetGroundingReason())
	for _, a := range run.GetAnswers() {
		fmt.Fprintln(out, " ", a.GetAnswer())
		for _, t := range a.GetEvidence() {
			fmt.Fprintln(out, "   ", triple(t))
		}
	}
	// Corrections of the model's draft by the knowledge graph.
	for _, e := range run.GetPgAkv().GetEdits() {
		if e.GetKind() == graphv1.EditKind_EDIT_KIND_REPLACE {
			fmt.Fprintf(out, "corrected: %s -> %s\n", triple(e.GetBefore()), triple(e.GetAfter()))
		}
	}
}

func triple(t *graphv1.Triple) string {
	return t.GetSubject() + " | " + t.GetRelation() + " | " + t.GetObject()
}

// word returns the name of an enum value in lower case.
func word(value, prefix string) string {
	return strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(value, prefix), "_", " "))
}
