package verifier

import (
	"context"
	"errors"
	"fmt"

	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/server"
	"github.com/triplemesh/triplemesh/internal/stage"
	"github.com/triplemesh/triplemesh/internal/stage/model"
	"github.com/triplemesh/triplemesh/internal/telemetry"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
	"github.com/triplemesh/triplemesh/services/verifier/align"
	"github.com/triplemesh/triplemesh/services/verifier/judge"
)

// Config is what the verifier can be told.
type Config struct {
	Server    server.Config    `koanf:"server"`
	Telemetry telemetry.Config `koanf:"telemetry"`
	LLM       llm.Config       `koanf:"llm"`
	// Mode is how graphs are verified where the caller does not say: align,
	// edits or rewrite. docs/results.md has what each is worth with which model.
	Mode string `koanf:"mode"`
	// Align is how near evidence must be to replace a draft.
	Align align.Config `koanf:"align"`
	// MaxEvidence is the most triples of the ground graph shown to the model.
	MaxEvidence int `koanf:"max_evidence"`
	// Judge is how near evidence must be to decide of a claim.
	Judge judge.Config `koanf:"judge"`
}

// DefaultConfig serves on port 9093 and verifies by alignment.
func DefaultConfig() Config {
	return Config{
		Server:      server.DefaultConfig("127.0.0.1:9093"),
		Telemetry:   telemetry.DefaultConfig(),
		LLM:         llm.DefaultConfig(),
		Mode:        "align",
		Align:       align.Config{MinSimilarity: 0.4, NameWeight: 0.3, Added: 3, MaxTriples: 40},
		MaxEvidence: 40,
		Judge:       judge.DefaultConfig(),
	}
}

// Validate names the first setting that cannot be.
func (c Config) Validate() error {
	if c.Align.MaxTriples < 1 || c.MaxEvidence < 1 || c.Align.Added < 0 {
		return errors.New("align.max_triples and max_evidence must be at least 1, align.added at least 0")
	}
	if c.Judge.MaxSeveral < 0 || c.Judge.MaxSeveral > 1 {
		return fmt.Errorf("judge.max_several: %g is not from 0 to 1", c.Judge.MaxSeveral)
	}
	_, err := c.mode()
	return err
}

func (c Config) mode() (verifierv1.VerificationMode, error) {
	switch c.Mode {
	case "align":
		return verifierv1.VerificationMode_VERIFICATION_MODE_ALIGN, nil
	case "edits":
		return verifierv1.VerificationMode_VERIFICATION_MODE_EDITS, nil
	case "rewrite":
		return verifierv1.VerificationMode_VERIFICATION_MODE_REWRITE, nil
	}
	return 0, fmt.Errorf("mode: %q is none of align, edits, rewrite", c.Mode)
}

// Run serves until ctx ends.
func Run(ctx context.Context, cfg Config) error {
	return stage.Run(ctx, "verifier", cfg.Telemetry, cfg.Server, func(tel *telemetry.Telemetry) (stage.Service, error) {
		completer, err := model.New(cfg.LLM, tel)
		if err != nil {
			return nil, err
		}
		return New(cfg, completer, tel)
	})
}
