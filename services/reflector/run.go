package reflector

import (
	"context"
	"errors"
	"fmt"

	"github.com/triplemesh/triplemesh/internal/config"
	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/server"
	"github.com/triplemesh/triplemesh/internal/telemetry"
	reflectorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/reflector/v1"
)

// Config holds the settings of the reflector.
type Config struct {
	Server    server.Config    `koanf:"server"`
	Telemetry telemetry.Config `koanf:"telemetry"`
	LLM       llm.Config       `koanf:"llm"`
	// Reflection bounds what the model sees and sets how far verdicts bind.
	Reflection ReflectionConfig `koanf:"reflection"`
}

// DefaultConfig serves on port 9095.
func DefaultConfig() Config {
	return Config{
		Server:    server.DefaultConfig("127.0.0.1:9095"),
		Telemetry: telemetry.DefaultConfig(),
		LLM:       llm.DefaultConfig(),
		Reflection: ReflectionConfig{
			Mode: "auto", Margin: 0.08, VerdictWeight: 0.2, ReadingWeight: 1, ReadingShare: -1,
			MaxGroups: 8, MaxEnds: 8, MaxOthers: 12, MaxTokens: 160, KeepAbove: 0.7, DropBelow: 0.1,
		},
	}
}

// Validate returns an error that names the first invalid setting.
func (c Config) Validate() error {
	if r := c.Reflection; min(r.MaxGroups, r.MaxEnds, r.MaxTokens) < 1 || r.MaxOthers < 0 {
		return errors.New("the numbers under reflection must be at least 1, max_others at least 0")
	}
	_, err := c.mode()
	return err
}

// readingShare resolves ReflectionConfig.ReadingShare.
func (c Config) readingShare() float32 {
	if c.Reflection.ReadingShare >= 0 {
		return c.Reflection.ReadingShare
	}
	return c.LLM.ResolveReadingShare()
}

func (c Config) mode() (reflectorv1.ReflectionMode, error) {
	name := c.Reflection.Mode
	if name == "auto" {
		name = map[string]string{llm.WeakReader: "weigh", llm.StrongReader: "model"}[c.LLM.ResolveReader()]
	}
	mode, err := config.ParseEnum[reflectorv1.ReflectionMode](name)
	if err != nil || name == "" {
		return 0, fmt.Errorf("reflection.mode: got %q, want auto, weigh or model", c.Reflection.Mode)
	}
	return mode, nil
}

// Run serves until ctx ends.
func Run(ctx context.Context, cfg Config) error {
	return server.Run(ctx, "reflector", cfg.Telemetry, cfg.Server, func(tel *telemetry.Telemetry) (server.Service,
		error) {
		completer, err := llm.New(cfg.LLM, tel)
		if err != nil {
			return nil, err
		}
		return New(cfg, completer)
	})
}
