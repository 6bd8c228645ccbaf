package evaluator

import (
	"context"
	"errors"

	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/server"
	"github.com/triplemesh/triplemesh/internal/stage"
	"github.com/triplemesh/triplemesh/internal/stage/model"
	"github.com/triplemesh/triplemesh/internal/telemetry"
	"github.com/triplemesh/triplemesh/services/evaluator/verdict"
)

// Config is what the evaluator can be told.
type Config struct {
	Server    server.Config    `koanf:"server"`
	Telemetry telemetry.Config `koanf:"telemetry"`
	LLM       llm.Config       `koanf:"llm"`
	// Verdict bounds what the judge sees and asks.
	Verdict verdict.Config `koanf:"verdict"`
}

// DefaultConfig serves on port 9094.
func DefaultConfig() Config {
	return Config{
		Server:    server.DefaultConfig("127.0.0.1:9094"),
		Telemetry: telemetry.DefaultConfig(),
		LLM:       llm.DefaultConfig(),
		Verdict:   verdict.Config{Parallel: 4, MaxGroups: 8, MaxEnds: 8, MaxPaths: 2},
	}
}

// Validate names the first setting that cannot be.
func (c Config) Validate() error {
	if v := c.Verdict; min(v.Parallel, v.MaxGroups, v.MaxEnds, v.MaxPaths) < 1 {
		return errors.New("the numbers under verdict must be at least 1")
	}
	return nil
}

// Run serves until ctx ends.
func Run(ctx context.Context, cfg Config) error {
	return stage.Run(ctx, "evaluator", cfg.Telemetry, cfg.Server, func(tel *telemetry.Telemetry) (stage.Service, error) {
		completer, err := model.New(cfg.LLM, tel)
		if err != nil {
			return nil, err
		}
		return New(cfg, completer), nil
	})
}
