package verifier

import (
	"context"
	"errors"
	"fmt"

	"github.com/triplemesh/triplemesh/internal/config"
	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/server"
	"github.com/triplemesh/triplemesh/internal/telemetry"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
	"github.com/triplemesh/triplemesh/services/verifier/align"
	"github.com/triplemesh/triplemesh/services/verifier/judge"
	"github.com/triplemesh/triplemesh/services/verifier/query"
)

// Config holds the settings of the verifier.
type Config struct {
	Server    server.Config    `koanf:"server"`
	Telemetry telemetry.Config `koanf:"telemetry"`
	LLM       llm.Config       `koanf:"llm"`
	// Mode is how graphs are verified by default: align, edits or rewrite. docs/results.md compares
	// them by model.
	Mode string `koanf:"mode"`
	// Align is how near evidence must be to replace a draft.
	Align align.Config `koanf:"align"`
	// MaxEvidence is the most triples of the ground graph shown to the model.
	MaxEvidence int `koanf:"max_evidence"`
	// EditTokens is the most tokens that the model writes for each draft in the mode edits.
	EditTokens int `koanf:"edit_tokens"`
	// RewriteTokens is the most tokens of a graph in the mode rewrite: some fifteen triples.
	RewriteTokens int `koanf:"rewrite_tokens"`
	// Judge is how near evidence must be to decide on a claim.
	Judge judge.Config `koanf:"judge"`
	// Query is how near relations and names must be to what a query plan says.
	Query query.Config `koanf:"query"`
}

// DefaultConfig serves on port 9093 and verifies by alignment.
func DefaultConfig() Config {
	return Config{
		Server:      server.DefaultConfig("127.0.0.1:9093"),
		Telemetry:   telemetry.DefaultConfig(),
		LLM:         llm.DefaultConfig(),
		Mode:        "align",
		Align:       align.Config{MinSimilarity: 0.4, NameWeight: 0.3, Added: -1, MaxTriples: 40},
		MaxEvidence: 40, EditTokens: 32, RewriteTokens: 384,
		Judge: judge.DefaultConfig(), Query: query.DefaultConfig(),
	}
}

// Validate returns an error that names the first invalid setting.
func (c Config) Validate() error {
	if min(c.Align.MaxTriples, c.MaxEvidence, c.EditTokens, c.RewriteTokens, c.Judge.MaxEvidence) < 1 ||
		c.Align.Added < -1 {
		return errors.New("align.max_triples, max_evidence, edit_tokens, rewrite_tokens and judge.max_evidence must " +
			"be at least 1, align.added at least -1")
	}
	if c.Judge.MaxSeveral < 0 || c.Judge.MaxSeveral > 1 {
		return fmt.Errorf("judge.max_several: got %g, want 0 to 1", c.Judge.MaxSeveral)
	}
	if c.Judge.MaxSeveralOfOne < 0 || c.Judge.MaxSeveralOfOne > 1 {
		return fmt.Errorf("judge.max_several_of_one: got %g, want 0 to 1", c.Judge.MaxSeveralOfOne)
	}
	_, err := c.mode()
	return err
}

// weakAdded is align.Config.Added of a weak reader.
const weakAdded = 3

// alignment returns how to align, with what depends on the reader.
func (c Config) alignment() align.Config {
	cfg := c.Align
	if cfg.Added < 0 {
		cfg.Added, cfg.AddAll = weakAdded, c.LLM.ResolveReader() == llm.StrongReader
	}
	return cfg
}

func (c Config) mode() (verifierv1.VerificationMode, error) {
	mode, err := config.ParseEnum[verifierv1.VerificationMode](c.Mode)
	if err != nil || c.Mode == "" {
		return 0, fmt.Errorf("mode: got %q, want align, edits or rewrite", c.Mode)
	}
	return mode, nil
}

// Run serves until ctx ends.
func Run(ctx context.Context, cfg Config) error {
	return server.Run(ctx, "verifier", cfg.Telemetry, cfg.Server, func(tel *telemetry.Telemetry) (server.Service,
		error) {
		completer, err := llm.New(cfg.LLM, tel)
		if err != nil {
			return nil, err
		}
		return New(cfg, completer, tel)
	})
}
