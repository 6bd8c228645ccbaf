package paths

import (
	"errors"
	"fmt"
)

// The ways in which a model may write plans.
const (
	// FormatWords has relations in the model's own words, joined by "->".
	FormatWords = "words"
	// FormatRoG has the names of relations, as models fine-tuned for RoG write
	// them: "<PATH> r1 <SEP> r2 </PATH>".
	FormatRoG = "rog"
)

// Config sets how the model is asked for plans.
type Config struct {
	// Format is words, or rog for a model that was fine-tuned to know the
	// relations.
	Format string `koanf:"format"`
	// Instruction is what such a model is told; {question} and {entities} stand
	// for the question's own. Without {question}, the question follows it.
	Instruction string `koanf:"instruction"`
	// Samples is how often such a model is asked: one that was trained to write
	// one path at a time writes another one each time. It ends early where there
	// are as many paths as wanted.
	Samples int `koanf:"samples"`
	// ProposeTokens is the most tokens of paths in the model's own words: a handful of short lines.
	ProposeTokens int `koanf:"propose_tokens"`
	// ChooseTokens is the most tokens of a choice among existing paths: a handful of numbers as
	// JSON.
	ChooseTokens int `koanf:"choose_tokens"`
	// FineTunedTokens is the most tokens of a fine-tuned model: some five paths of two relations.
	FineTunedTokens int `koanf:"fine_tuned_tokens"`
}

// DefaultConfig asks for words.
func DefaultConfig() Config {
	return Config{
		Format: FormatWords,
		Instruction: "Plan which relations of a knowledge graph lead from the entities of a question to its answer. " +
			"Write each plan on a line of its own, the likeliest first, as <PATH> relation <SEP> relation </PATH>.\n" +
			"Entities: {entities}\nQuestion: {question}",
		Samples: 1, ProposeTokens: 60, ChooseTokens: 40, FineTunedTokens: 256,
	}
}

// Validate returns an error that names the first invalid setting.
func (c Config) Validate() error {
	switch {
	case c.Format != FormatWords && c.Format != FormatRoG:
		return fmt.Errorf("relation_paths.format: %q is none of %s, %s", c.Format, FormatWords, FormatRoG)
	case c.Format == FormatRoG && c.Instruction == "":
		return errors.New("relation_paths.instruction must say what the model is to write")
	case c.Samples < 1 || c.Samples > maxSamples:
		return fmt.Errorf("relation_paths.samples must be from 1 to %d", maxSamples)
	case min(c.ProposeTokens, c.ChooseTokens, c.FineTunedTokens) < 1:
		return errors.New("relation_paths: propose_tokens, choose_tokens and fine_tuned_tokens must be at least 1")
	}
	return nil
}

// maxSamples bounds the cost of one plan.
const maxSamples = 16
