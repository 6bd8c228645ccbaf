package generator

import (
	"context"
	"errors"

	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/server"
	"github.com/triplemesh/triplemesh/internal/telemetry"
	"github.com/triplemesh/triplemesh/services/generator/answer"
	"github.com/triplemesh/triplemesh/services/generator/candidates"
	"github.com/triplemesh/triplemesh/services/generator/claims"
	"github.com/triplemesh/triplemesh/services/generator/followup"
	"github.com/triplemesh/triplemesh/services/generator/paths"
	"github.com/triplemesh/triplemesh/services/generator/pseudograph"
	"github.com/triplemesh/triplemesh/services/generator/query"
)

// Config holds the settings of the generator.
type Config struct {
	Server    server.Config    `koanf:"server"`
	Telemetry telemetry.Config `koanf:"telemetry"`
	LLM       llm.Config       `koanf:"llm"`
	// PseudoGraph bounds the drafting of pseudo-graphs.
	PseudoGraph pseudograph.Config `koanf:"pseudo_graph"`
	// MaxPaths is how many relation paths are requested from the model when the caller does not
	// say.
	MaxPaths int `koanf:"max_paths"`
	// RelationPaths is how the model is asked for them.
	RelationPaths paths.Config `koanf:"relation_paths"`
	// Candidates bounds the extraction of candidate answers.
	Candidates candidates.Config `koanf:"candidates"`
	// Answer bounds the writing of answers.
	Answer answer.Config `koanf:"answer"`
	// Claims bounds the extraction of claims.
	Claims claims.Config `koanf:"claims"`
	// FollowUps bounds the rewriting of follow-up questions.
	FollowUps followup.Config `koanf:"follow_ups"`
	// QueryPlan bounds the drafting of query plans.
	QueryPlan query.Config `koanf:"query_plan"`
}

// DefaultConfig serves on port 9091.
func DefaultConfig() Config {
	return Config{
		Server:        server.DefaultConfig("127.0.0.1:9091"),
		Telemetry:     telemetry.DefaultConfig(),
		LLM:           llm.DefaultConfig(),
		PseudoGraph:   pseudograph.DefaultConfig(),
		MaxPaths:      3,
		RelationPaths: paths.DefaultConfig(),
		Candidates:    candidates.DefaultConfig(),
		Answer:        answer.DefaultConfig(),
		Claims:        claims.DefaultConfig(),
		FollowUps:     followup.DefaultConfig(),
		QueryPlan:     query.DefaultConfig(),
	}
}

// Validate returns an error that names the first invalid setting.
func (c Config) Validate() error {
	for _, v := range []int{c.MaxPaths, c.Candidates.MaxGroups, c.Candidates.MaxEnds, c.Candidates.MaxTokens,
		c.Answer.MaxTokens, c.Answer.MaxFacts, c.Answer.MaxPaths, c.Answer.MaxEnds, c.Answer.TextFacts,
		c.Answer.TextObjects, c.Claims.MaxTokens, c.FollowUps.MaxTurns, c.FollowUps.MaxTurnRunes,
		c.FollowUps.MaxTokens, c.QueryPlan.MaxTokens} {
		if v < 1 {
			return errors.New("max_paths and the numbers under candidates, answer, claims, follow_ups and query_plan " +
				"must be " +
				"at least 1")
		}
	}
	return errors.Join(c.PseudoGraph.Validate(), c.RelationPaths.Validate())
}

// Run serves until ctx ends.
func Run(ctx context.Context, cfg Config) error {
	return server.Run(ctx, "generator", cfg.Telemetry, cfg.Server, func(tel *telemetry.Telemetry) (server.Service,
		error) {
		completer, err := llm.New(cfg.LLM, tel)
		if err != nil {
			return nil, err
		}
		return New(cfg, completer), nil
	})
}
