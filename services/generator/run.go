package generator

import (
	"context"
	"errors"

	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/server"
	"github.com/triplemesh/triplemesh/internal/stage"
	"github.com/triplemesh/triplemesh/internal/stage/model"
	"github.com/triplemesh/triplemesh/internal/telemetry"
	"github.com/triplemesh/triplemesh/services/generator/candidate"
	"github.com/triplemesh/triplemesh/services/generator/followup"
	"github.com/triplemesh/triplemesh/services/generator/relationpath"
)

// Config is what the generator can be told.
type Config struct {
	Server    server.Config    `koanf:"server"`
	Telemetry telemetry.Config `koanf:"telemetry"`
	LLM       llm.Config       `koanf:"llm"`
	// PseudoGraphTokens is the most tokens of a pseudo-graph's Cypher.
	PseudoGraphTokens int `koanf:"pseudo_graph_tokens"`
	// MaxPaths is how many relation paths are asked of the model where the
	// caller does not say.
	MaxPaths int `koanf:"max_paths"`
	// RelationPaths is how the model is asked for them.
	RelationPaths relationpath.Config `koanf:"relation_paths"`
	// Candidates bounds the reading of candidate answers.
	Candidates candidate.Config `koanf:"candidates"`
	// AnswerTokens is the most tokens of an answer.
	AnswerTokens int `koanf:"answer_tokens"`
	// TextFacts is how many relations of a subject an answer in the form of a
	// text is written from: the ones nearest to the question.
	TextFacts int `koanf:"text_facts"`
	// ClaimTokens is the most tokens of the claims of a sentence.
	ClaimTokens int `koanf:"claim_tokens"`
	// FollowUps bounds the rewriting of questions that follow others.
	FollowUps followup.Config `koanf:"follow_ups"`
}

// DefaultConfig serves on port 9091.
func DefaultConfig() Config {
	return Config{
		Server:            server.DefaultConfig("127.0.0.1:9091"),
		Telemetry:         telemetry.DefaultConfig(),
		LLM:               llm.DefaultConfig(),
		PseudoGraphTokens: 192,
		MaxPaths:          3,
		RelationPaths:     relationpath.DefaultConfig(),
		Candidates:        candidate.Config{MaxGroups: 12, MaxEnds: 12, MaxTokens: 128},
		AnswerTokens:      160,
		TextFacts:         3,
		ClaimTokens:       160,
		FollowUps:         followup.DefaultConfig(),
	}
}

// Validate names the first setting that cannot be.
func (c Config) Validate() error {
	for _, v := range []int{c.PseudoGraphTokens, c.MaxPaths, c.AnswerTokens, c.TextFacts, c.ClaimTokens, c.Candidates.MaxGroups, c.Candidates.MaxEnds, c.Candidates.MaxTokens,
		c.FollowUps.MaxTurns, c.FollowUps.MaxTurnRunes, c.FollowUps.MaxTokens} {
		if v < 1 {
			return errors.New("pseudo_graph_tokens, max_paths, answer_tokens, text_facts, claim_tokens and the numbers under candidates and follow_ups must be at least 1")
		}
	}
	return c.RelationPaths.Validate()
}

// Run serves until ctx ends.
func Run(ctx context.Context, cfg Config) error {
	return stage.Run(ctx, "generator", cfg.Telemetry, cfg.Server, func(tel *telemetry.Telemetry) (stage.Service, error) {
		completer, err := model.New(cfg.LLM, tel)
		if err != nil {
			return nil, err
		}
		return New(cfg, completer), nil
	})
}
