package cli

import (
	"context"
	"errors"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/eval"
	"github.com/triplemesh/triplemesh/cmd/triplemesh/eval/results"
	"github.com/triplemesh/triplemesh/cmd/triplemesh/mesh"
	"github.com/triplemesh/triplemesh/internal/telemetry"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

// exitBudget is the exit code of evaluations that their budget ended.
const exitBudget = 5

// evalCommand is what one can do with evaluations: run them, where no other
// word follows, and look at what came of them.
type evalCommand struct {
	Evaluate  evalRunCommand       `cmd:"" name:"run" default:"withargs" help:"Measure methods on questions with known answers."`
	Check     evalCheckCommand     `cmd:"" help:"Measure how well texts are checked, on claims made from facts."`
	Report    evalReportCommand    `cmd:"" help:"Write a report of evaluations: one page of HTML, or Markdown."`
	Diff      evalDiffCommand      `cmd:"" help:"Say what got better and worse between two evaluations of the same questions."`
	Scorecard evalScorecardCommand `cmd:"" help:"Compare results with stored thresholds; fail where one is missed."`
}

// evalRunCommand runs evaluations.
type evalRunCommand struct {
	eval.Command
	serverFlags
}

// Help is printed below the flags.
func (evalRunCommand) Help() string {
	return "Exit codes: 0 done; 1 failed; 2 wrong usage, or a method that cannot be asked so; 4 no server there; 5 stopped by --max-calls, --max-tokens, --max-cost or --max-time with questions left."
}

// Run asks a mesh that runs, or one in this process.
func (c *evalRunCommand) Run(p *program) error {
	s, err := p.connect(c.Server, c.Local, mesh.StageNames()...)
	if err != nil {
		return err
	}
	if c.KG == "" && c.Suite == "" {
		c.KG = p.pickKG(p.ctx, s, c.Retriever).GetName()
	}
	c.Version = p.version
	orchestrator := orchestratorv1.NewOrchestratorServiceClient(s)
	services := eval.Services{
		Asker: eval.AskerFunc(func(ctx context.Context, req *orchestratorv1.AskRequest) (*orchestratorv1.AskResponse, error) {
			return orchestrator.Ask(ctx, req)
		}),
	}
	end := p.askRetriever(&services, c.Retriever, s.mesh)
	err = errors.Join(c.Command.Run(p.ctx, services, p.stdout, p.stderr), end(), s.end())
	var budget *eval.StoppedByBudget
	var refused *eval.RefusedError
	switch {
	case errors.As(err, &refused):
		return exitError{exitUsage, err}
	case errors.As(err, &budget):
		return exitError{exitBudget, err}
	}
	return err
}

// askRetriever lets an evaluation ask the retriever what the orchestrator does
// not tell: how far answers are from their questions, and which encoder made
// the vectors. Without a retriever that can be reached it goes without.
func (p *program) askRetriever(services *eval.Services, addr string, m *mesh.Mesh) (end func() error) {
	nothing := func() error { return nil }
	if m != nil {
		addr = m.Addr("retriever")
	} else if p.reachable(addr, "retriever") != nil {
		return nothing
	}
	conn, err := p.dial(addr, "retriever", telemetry.Discard())
	if err != nil {
		return nothing
	}
	services.Paths = retrieverv1.NewRetrieverServiceClient(conn)
	graphs := retrieverv1.NewKnowledgeGraphServiceClient(conn)
	services.Encoder = func(ctx context.Context, kg results.KG) string {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		response, err := graphs.List(ctx, &retrieverv1.ListRequest{Kg: kg.Name})
		if err != nil {
			return ""
		}
		for _, s := range response.GetSnapshots() {
			if s.GetKg().GetSnapshot() == kg.Snapshot || kg.Snapshot == 0 && s.GetActive() {
				return s.GetEncoder()
			}
		}
		return ""
	}
	return conn.Close
}
