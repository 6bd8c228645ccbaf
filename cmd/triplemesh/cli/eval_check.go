package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/eval/claims"
	"github.com/triplemesh/triplemesh/cmd/triplemesh/mesh"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// evalCheckCommand measures how well texts are checked.
type evalCheckCommand struct {
	claims.Command
	serverFlags
}

// Run asks a mesh that runs, or one in this process.
func (c *evalCheckCommand) Run(p *program) error {
	kg, err := parseKG(c.KG)
	if err != nil {
		return exitError{exitUsage, fmt.Errorf("--kg: %w", err)}
	}
	s, err := p.connect(c.Server, c.Local, mesh.StageNames()...)
	if err != nil {
		return err
	}
	if kg == nil {
		kg = p.pickKG(p.ctx, s, c.Retriever)
	}
	orchestrator := orchestratorv1.NewOrchestratorServiceClient(s)
	check := func(ctx context.Context, req *orchestratorv1.CheckRequest) (*orchestratorv1.CheckResponse, error) {
		return orchestrator.Check(ctx, req)
	}
	status := p.status()
	err = c.Command.Run(p.ctx, check, kg, p.stdout, func(done, all int) { status.set("%d of %d claims checked", done, all) })
	status.Clear()
	return errors.Join(err, s.end())
}
