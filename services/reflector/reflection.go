package reflector

import (
	"context"
	"errors"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/prompt"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	reflectorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/reflector/v1"
)

// ReflectionConfig sets the mode, bounds what the model sees, and sets how far verdicts bind.
type ReflectionConfig struct {
	// Mode is how answers are decided by default: weigh or model. docs/results.md compares them by
	// model.
	Mode string `koanf:"mode"`
	// Margin is how far below the best relation path another may score for its
	// ends to be answers too, when weighing; a cosine.
	Margin float32 `koanf:"margin"`
	// VerdictWeight is what a verdict's probability, less 0.5, counts beside a
	// relation path's cosine when weighing.
	VerdictWeight float32 `koanf:"verdict_weight"`
	// ReadingWeight is what the logarithm of a relation path's probability gains if it leads to what
	// the reader took for answers, and what it gains or loses by sure verdicts on its ends.
	ReadingWeight float32 `koanf:"reading_weight"`
	// ReadingShare is the probability that what the reader took for answers is the right set, 0 to 1;
	// -1 chooses by llm.reader: 0.2 for a weak one, llm.reading_share for a strong one.
	ReadingShare float32 `koanf:"reading_share"`
	// MaxGroups and MaxEnds are the most relation paths shown, and the most ends
	// of each.
	MaxGroups int `koanf:"max_groups"`
	MaxEnds   int `koanf:"max_ends"`
	// MaxOthers is the most ends offered beside the candidates.
	MaxOthers int `koanf:"max_others"`
	// MaxTokens is the most tokens written.
	MaxTokens int `koanf:"max_tokens"`
	// KeepAbove: a candidate judged right with at least this probability is kept regardless of the
	// model. Above 1 it has no effect.
	KeepAbove float32 `koanf:"keep_above"`
	// DropBelow: a candidate judged right with less than this probability is dropped regardless of
	// the model. 0 has no effect.
	DropBelow float32 `koanf:"drop_below"`
}

// Reflector decides on the final answers with the verdicts of both levels (Ger §3.4): it drops,
// keeps and adds.
type Reflector struct {
	cfg    ReflectionConfig
	model  llm.Completer
	prompt *prompt.Prompt
}

// NewReflector returns a Reflector.
func NewReflector(model llm.Completer, cfg ReflectionConfig) *Reflector {
	return &Reflector{cfg: cfg, model: model, prompt: prompt.Must(Prompts(), "reflect")}
}

// Case is a question with its candidates, paths and verdicts.
type Case struct {
	Question   string
	Candidates []*graphv1.CandidateAnswer
	Paths      []*graphv1.ReasoningPath
	// Question-level verdict; nil if there is none.
	Verdict *graphv1.QuestionVerdict
	// Verdicts on candidates, by answer; may lack some.
	Verdicts map[string]*graphv1.AnswerVerdict
}

// Outcome holds the final answers and the decisions that led to them.
type Outcome struct {
	// Mode that was used.
	Mode    reflectorv1.ReflectionMode
	Answers []string
	// Probabilities are those of the answers, if relation paths had some.
	Probabilities []float32
	Reflections   []*reflectorv1.Reflection
	Warnings      []*llmv1.Warning
}

// Reflect chooses the answers from the candidates and the other ends of the paths. Confident
// verdicts override either mode. If the model's output cannot be used or the budget is spent,
// weighing decides, with a warning.
func (r *Reflector) Reflect(ctx context.Context, mode reflectorv1.ReflectionMode, c Case,
	ledger *llm.Ledger) (Outcome, error) {
	const weighing = reflectorv1.ReflectionMode_REFLECTION_MODE_WEIGH
	groups := kgtext.GroupPaths(c.Paths)
	out := Outcome{Mode: mode}
	if len(c.Candidates)+len(groups) == 0 {
		return out, nil
	}
	var wanted []string
	var err error
	if mode != weighing {
		wanted, out.Warnings, err = r.ask(ctx, c, groups, ledger)
		if errors.Is(err, llm.ErrUnusable) || errors.Is(err, llm.ErrBudget) {
			out.Mode = weighing
			out.Warnings = append(out.Warnings, llm.Warn(llm.WarnUnusable,
				"the model did not reflect; paths and verdicts were weighed: %v", err))
		} else if err != nil {
			return Outcome{}, err
		}
	}
	expected, ok := Expectation{}, false
	if out.Mode == weighing {
		expected, ok = r.expectF1(c, groups)
	}
	switch {
	case ok:
		out.Answers, out.Probabilities = expected.Answers, expected.Probabilities
	case out.Mode == weighing:
		out.Answers = r.applyVerdicts(c, r.weigh(c, groups))
	default:
		out.Answers = r.applyVerdicts(c, wanted)
	}
	out.Reflections = decisions(c, out.Answers, groups)
	return out, nil
}
