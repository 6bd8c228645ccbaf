package reflector

import (
	"context"
	"errors"
	"fmt"

	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/server"
	"github.com/triplemesh/triplemesh/internal/stage"
	"github.com/triplemesh/triplemesh/internal/stage/model"
	"github.com/triplemesh/triplemesh/internal/telemetry"
	reflectorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/reflector/v1"
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
			Mode: "weigh", Margin: 0.08, VerdictWeight: 0.2,
			MaxGroups: 8, MaxEnds: 8, MaxOthers: 12, MaxTokens: 160, KeepAbove: 0.7, DropBelow: 0.1,
		},
	}
}

// Validate names the first setting that cannot be.
func (c Config) Validate() error {
	if r := c.Reflection; min(r.MaxGroups, r.MaxEnds, r.MaxTokens) < 1 || r.MaxOthers < 0 {
		return errors.New("the numbers under reflection must be at least 1, max_others at least 0")
	}
	_, err := c.mode()
	return err
}

func (c Config) mode() (reflectorv1.ReflectionMode, error) {
	switch c.Reflection.Mode {
	case "weigh":
		return reflectorv1.ReflectionMode_REFLECTION_MODE_WEIGH, nil
	case "model":
		return reflectorv1.ReflectionMode_REFLECTION_MODE_MODEL, nil
	}
	return 0, fmt.Errorf("reflection.mode: %q is neither weigh nor model", c.Reflection.Mode)
}

// Run serves until ctx ends.
func Run(ctx context.Context, cfg Config) error {
	return stage.Run(ctx, "reflector", cfg.Telemetry, cfg.Server, func(tel *telemetry.Telemetry) (stage.Service, error) {
		completer, err := model.New(cfg.LLM, tel)
		if err != nil {
			return nil, err
		}
		return New(cfg, completer)
	})
}
