package cli

import (
	"github.com/triplemesh/triplemesh/cmd/triplemesh/setup"
)

type setupCommand struct {
	Encoder     bool   `default:"true" negatable:"" help:"The encoder, for searching by meaning (106 MB to fetch)."`
	Runtime     bool   `default:"true" negatable:"" help:"ONNX Runtime, which runs the encoder (24 MB)."`
	Model       bool   `default:"true" negatable:"" help:"The language model, Qwen2.5-Coder-1.5B-Instruct (1.1 GB)."`
	ModelServer bool   `default:"true" negatable:"" help:"llama-server, built from source (37 MB to fetch), unless one is on PATH."`
	Own         bool   `help:"Build llama-server although there is one on PATH."`
	Verify      bool   `help:"Read every file again and compare its checksum."`
	Python      string `default:"python3" placeholder:"PATH" help:"Python with pip, 3.8 or newer."`
}

// Run fetches what is missing.
func (c *setupCommand) Run(p *program) error {
	return setup.Run(p.ctx, setup.Options{
		Cache: p.home.Cache, Python: c.Python,
		SkipEncoder: !c.Encoder, SkipRuntime: !c.Runtime, SkipModel: !c.Model, SkipServer: !c.ModelServer,
		OwnServer: c.Own, Again: c.Verify,
		Out: p.terminal(),
	})
}
