package reflector

import (
	"context"
	"errors"

	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/server"
	"github.com/triplemesh/triplemesh/internal/stage"
	"github.com/triplemesh/triplemesh/internal/telemetry"
	"github.com/triplemesh/triplemesh/services/reflector/reflection"
)

// Config is what the reflector can be told.
type Config struct {
	Server    server.Config    `koanf:"server"`
	Telemetry telemetry.Config `koanf:"telemetry"`
	LLM       llm.Config       `koanf:"llm"`
	// Reflection says how much the model sees and how far a verdict binds it.
	Reflection reflection.Config `koanf:"reflection"`
}

// DefaultConfig serves on port 9095.
func DefaultConfig() Config {
	return Config{
		Server:    server.DefaultConfig("127.0.0.1:9095"),
		Telemetry: telemetry.DefaultConfig(),
		LLM:       llm.DefaultConfig(),
		Reflection: reflection.Config{
			MaxGroups: 8, MaxEnds: 8, MaxOthers: 12, MaxTokens: 160, KeepAbove: 0.8, DropBelow: 0.1,
		},
	}
}

// Validate names the first setting that cannot be.
func (c Config) Validate() error {
	if r := c.Reflection; min(r.MaxGroups, r.MaxEnds, r.MaxTokens) < 1 || r.MaxOthers < 0 {
		return errors.New("the numbers under reflection must be at least 1, max_others at least 0")
	}
	return nil
}

// Run serves until ctx ends.
func Run(ctx context.Context, cfg Config) error {
	return stage.Run(ctx, "reflector", cfg.Telemetry, cfg.Server, func(tel *telemetry.Telemetry) (stage.Service, error) {
		model, err := llm.New(cfg.LLM, tel)
		if err != nil {
			return nil, err
		}
		return New(cfg, model), nil
	})
}
