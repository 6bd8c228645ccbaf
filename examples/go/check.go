package main

import (
	"context"
	"fmt"
	"io"

	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// checkText tells of each claim of a text what the knowledge graph says of it.
func checkText(ctx context.Context, out io.Writer, mesh orchestratorv1.OrchestratorServiceClient, req *orchestratorv1.CheckRequest) error {
	resp, err := mesh.Check(ctx, req)
	if err != nil {
		return err
	}
	check := resp.GetCheck()
	for _, c := range check.GetClaims() {
		fmt.Fprintf(out, "%s (%.2f): %s\n", word(c.GetVerdict().String(), "VERDICT_"), c.GetConfidence(), triple(c.GetTriple()))
		for _, e := range c.GetEvidence() {
			fmt.Fprintln(out, "   ", triple(e.GetTriple()))
		}
	}
	fmt.Fprintln(out, check.GetCorrectedText())
	return nil
}
