package mesh

import (
	"io/fs"

	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/prompt"
	"github.com/triplemesh/triplemesh/services/evaluator"
	"github.com/triplemesh/triplemesh/services/generator/prompts"
	"github.com/triplemesh/triplemesh/services/generator/pseudograph"
	"github.com/triplemesh/triplemesh/services/reflector"
)

// warmedPrompts are those that questions reach with the default settings after the pseudo-graph's, the
// first ones first. Each keeps some 10 MB in the model server's prompt cache.
var warmedPrompts = []struct {
	files fs.FS
	names []string
}{
	{prompts.Files, []string{"answer_from_graph", "query_plan", "answer_text_from_graph", "relation_paths_propose",
		"candidate_answers"}},
	{evaluator.Prompts(), []string{"evaluate_question", "evaluate_answer"}},
	{reflector.Prompts(), []string{"reflect"}},
	{prompts.Files, []string{"candidate_answers_review", "claims", "answer_text_direct", "follow_up"}},
}

// Prefixes returns the constant beginnings of the prompts, which the model server evaluates ahead.
func Prefixes() [][]llm.Message {
	all := [][]llm.Message{pseudograph.DefaultConfig().Prompt().Preamble()}
	for _, w := range warmedPrompts {
		for _, name := range w.names {
			all = append(all, prompt.Must(w.files, name).Preamble())
		}
	}
	return all
}
