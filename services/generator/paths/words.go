package paths

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/prompt"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	"github.com/triplemesh/triplemesh/services/generator/prompts"
)

const (
	// wordTokens bounds what the model writes for a relation.
	wordTokens = 64
	// maxWords is the number of words of a name: longer ones are definitions.
	maxWords = 3
)

// WordFinder finds the words by which people ask for what a relation leads to: questions that are made of a knowledge
// graph, to train a ranker with, are put into them.
type WordFinder struct {
	model  llm.Completer
	prompt *prompt.Prompt
}

// NewWordFinder returns a WordFinder.
func NewWordFinder(model llm.Completer) *WordFinder {
	return &WordFinder{model: model, prompt: prompt.Must(prompts.Files, "relation_words")}
}

// Find returns names of the objects of a relation, by some of its triples, in lower case; none, with a warning, if the
// model writes none.
func (w *WordFinder) Find(ctx context.Context, examples []*graphv1.Triple, ledger *llm.Ledger) ([]string,
	[]*llmv1.Warning, error) {
	messages, err := w.prompt.Messages(map[string]any{"Facts": examples})
	if err != nil {
		return nil, nil, err
	}
	resp, err := w.model.Complete(ctx, llm.Request{Task: "relation-words", Messages: messages, MaxTokens: wordTokens,
		Stop: []string{"\n"}, Ledger: ledger})
	if err != nil && !errors.Is(err, llm.ErrUnusable) {
		return nil, nil, err
	}
	found := parseWords(resp.Text, examples)
	if len(found) == 0 {
		return nil, []*llmv1.Warning{llm.Warn(llm.WarnUnusable, "the model wrote no words for the relation")}, nil
	}
	return found, resp.Warnings(), nil
}

// parseWords reads names off a list that is separated by semicolons. Those of the examples are none.
func parseWords(text string, examples []*graphv1.Triple) []string {
	var found []string
	for part := range strings.SplitSeq(text, ";") {
		name := kgtext.Fold(part)
		fields := strings.Fields(name)
		isNameOf := func(t *graphv1.Triple) bool {
			return name == kgtext.Fold(t.GetSubject()) || name == kgtext.Fold(t.GetObject())
		}
		if len(fields) > 0 && len(fields) <= maxWords && len(kgtext.NewOpenWords(fields[len(fields)-1])) > 0 &&
			!slices.Contains(found, name) && !slices.ContainsFunc(examples, isNameOf) {
			found = append(found, name)
		}
	}
	return found
}
