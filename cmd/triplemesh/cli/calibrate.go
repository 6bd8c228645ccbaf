package cli

import (
	"errors"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/calibrate"
	"github.com/triplemesh/triplemesh/cmd/triplemesh/mesh"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

type calibrateCommand struct {
	calibrate.Command
	Server    string `default:"127.0.0.1:9090" placeholder:"ADDR" env:"TRIPLEMESH_SERVER" help:"Orchestrator to ask, host:port. (default: ${default})"`
	Retriever string `default:"127.0.0.1:9092" placeholder:"ADDR" env:"TRIPLEMESH_RETRIEVER" help:"Retriever to ask, host:port. (default: ${default})"`
	Local     bool   `help:"Calibrate in this process, with no server."`
}

// Run calibrates the grounding of a mesh that runs, or of one in this process.
func (c *calibrateCommand) Run(p *program) error {
	s, err := p.connect(c.Server, c.Local, mesh.StageNames()...)
	if err != nil {
		return err
	}
	addr := c.Retriever
	if s.mesh != nil {
		addr = s.mesh.Addr("retriever")
	}
	r, err := p.connect(addr, false, "retriever")
	if err != nil {
		return errors.Join(err, s.end())
	}
	board := p.board()
	defer board.Close()
	return errors.Join(c.Command.Run(p.ctx, calibrate.Mesh{
		Asker:    orchestratorv1.NewOrchestratorServiceClient(s),
		Grounder: retrieverv1.NewRetrieverServiceClient(r),
		Graphs:   retrieverv1.NewKnowledgeGraphServiceClient(r),
	}, board, p.stdout), r.end(), s.end())
}
