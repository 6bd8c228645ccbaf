// Package reflection weighs candidates with the verdicts of both levels and
// settles the final answers (Ger §3.4): it drops, keeps and adds.
package reflection

import (
	"context"
	"errors"

	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/prompt"
	"github.com/triplemesh/triplemesh/internal/verbalise"
	evaluatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/evaluator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	reflectorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/reflector/v1"
	"github.com/triplemesh/triplemesh/services/reflector/prompts"
)

// Config says how to reflect, how much the model sees, and how far a verdict
// binds.
type Config struct {
	// Mode is how answers are settled where the caller does not say: weigh or
	// model. docs/results.md has what each is worth with which model.
	Mode string `koanf:"mode"`
	// Margin is how far below the best relation path another may score for its
	// ends to be answers too, when weighing; a cosine.
	Margin float32 `koanf:"margin"`
	// VerdictWeight is what a verdict's probability, less 0.5, counts beside a
	// relation path's cosine when weighing.
	VerdictWeight float32 `koanf:"verdict_weight"`
	// MaxGroups and MaxEnds are the most relation paths shown, and the most ends
	// of each.
	MaxGroups int `koanf:"max_groups"`
	MaxEnds   int `koanf:"max_ends"`
	// MaxOthers is the most ends offered beside the candidates.
	MaxOthers int `koanf:"max_others"`
	// MaxTokens is the most tokens written.
	MaxTokens int `koanf:"max_tokens"`
	// KeepAbove: a candidate judged right with at least this probability stays,
	// whatever the model writes. Above 1, none does.
	KeepAbove float32 `koanf:"keep_above"`
	// DropBelow: a candidate judged right with less than this probability goes,
	// whatever the model writes. 0 binds none.
	DropBelow float32 `koanf:"drop_below"`
}

// Reflector settles answers.
type Reflector struct {
	cfg    Config
	model  llm.Completer
	prompt *prompt.Prompt
}

// New returns a Reflector.
func New(model llm.Completer, cfg Config) *Reflector {
	return &Reflector{cfg: cfg, model: model, prompt: prompt.Must(prompts.Files, "reflect")}
}

// Case is what there is to weigh.
type Case struct {
	Question   string
	Candidates []*graphv1.CandidateAnswer
	Paths      []*graphv1.ReasoningPath
	// Question-level verdict; nil where there is none.
	Verdict *evaluatorv1.QuestionVerdict
	// Verdicts on candidates, by answer; may lack some.
	Verdicts map[string]*evaluatorv1.AnswerVerdict
}

// Settled are the final answers and how they came about.
type Settled struct {
	// Mode that was used.
	Mode        reflectorv1.ReflectionMode
	Answers     []string
	Reflections []*reflectorv1.Reflection
	Warnings    []*llmv1.Warning
}

// Reflect settles the answers among the candidates and the other ends of the
// paths. Verdicts that are sure enough bind what either mode wants. Where the
// model's output cannot be used or the budget is spent, weighing decides, with
// a warning.
func (r *Reflector) Reflect(ctx context.Context, mode reflectorv1.ReflectionMode, c Case, ledger *llm.Ledger) (Settled, error) {
	const weighing = reflectorv1.ReflectionMode_REFLECTION_MODE_WEIGH
	groups := verbalise.Group(c.Paths)
	out := Settled{Mode: mode}
	if len(c.Candidates)+len(groups) == 0 {
		return out, nil
	}
	var wanted []string
	var err error
	if mode != weighing {
		wanted, out.Warnings, err = r.ask(ctx, c, groups, ledger)
		if errors.Is(err, llm.ErrUnusable) || errors.Is(err, llm.ErrBudget) {
			out.Mode = weighing
			out.Warnings = append(out.Warnings, llm.Warn(llm.WarnUnusable, "there is no reflection by the model, so paths and verdicts were weighed: %v", err))
		} else if err != nil {
			return Settled{}, err
		}
	}
	if out.Mode == weighing {
		wanted = r.weigh(c, groups)
	}
	out.Answers = r.bind(c, wanted)
	out.Reflections = decisions(c, out.Answers, groups)
	return out, nil
}
