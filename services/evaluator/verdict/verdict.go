// Package verdict judges candidate answers at both levels (Ger §3.3), and
// whether paths suffice to answer (ToG's reasoning step).
package verdict

import (
	"context"
	"errors"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/prompt"
	"github.com/triplemesh/triplemesh/internal/verbalise"
	evaluatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/evaluator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	"github.com/triplemesh/triplemesh/services/evaluator/prompts"
)

// Config bounds what the judge sees and asks.
type Config struct {
	// Parallel is the most answer-level calls under way at once.
	Parallel int `koanf:"parallel"`
	// MaxGroups and MaxEnds are the most relation paths shown, and the most ends
	// of each.
	MaxGroups int `koanf:"max_groups"`
	MaxEnds   int `koanf:"max_ends"`
	// MaxPaths is the most reasoning paths shown for one candidate.
	MaxPaths int `koanf:"max_paths"`
}

// maxVerdictTokens holds a short reason and two booleans as JSON.
const maxVerdictTokens = 96

// Judge judges.
type Judge struct {
	cfg      Config
	model    llm.Completer
	question *prompt.Prompt
	answer   *prompt.Prompt
	enough   *prompt.Prompt
}

// NewJudge returns a Judge.
func NewJudge(model llm.Completer, cfg Config) *Judge {
	return &Judge{
		cfg: cfg, model: model,
		question: prompt.Must(prompts.Files, "evaluate_question"),
		answer:   prompt.Must(prompts.Files, "evaluate_answer"),
		enough:   prompt.Must(prompts.Files, "judge_sufficiency"),
	}
}

var questionSchema = &llm.Schema{Name: "verdict", JSON: []byte(`{"type":"object","additionalProperties":false,"required":["reason","correct","incomplete"],"properties":{"reason":{"type":"string","maxLength":160},"correct":{"type":"boolean"},"incomplete":{"type":"boolean"}}}`)}

// Question judges the candidate set as a whole. The verdict is nil, with a
// warning, where none could be had.
func (j *Judge) Question(ctx context.Context, question string, candidates []*graphv1.CandidateAnswer, paths []*graphv1.ReasoningPath, ledger *llm.Ledger) (*evaluatorv1.QuestionVerdict, []*llmv1.Warning, error) {
	if len(candidates) == 0 {
		return &evaluatorv1.QuestionVerdict{Incomplete: len(paths) > 0, Reason: "there are no candidates"}, nil, nil
	}
	messages, err := j.QuestionMessages(question, candidates, paths)
	if err != nil {
		return nil, nil, err
	}
	said, resp, err := llm.CompleteJSON[struct {
		Reason     string `json:"reason"`
		Correct    bool   `json:"correct"`
		Incomplete bool   `json:"incomplete"`
	}](ctx, j.model, llm.Request{
		Task: "evaluate-question", Messages: messages, MaxTokens: maxVerdictTokens, Schema: questionSchema, Ledger: ledger,
	})
	if errors.Is(err, llm.ErrUnusable) {
		return nil, []*llmv1.Warning{llm.Warn(llm.WarnUnusable, "there is no verdict on the candidate set: %v", err)}, nil
	}
	if err != nil {
		return nil, nil, err
	}
	return &evaluatorv1.QuestionVerdict{Correct: said.Correct, Incomplete: said.Incomplete, Reason: said.Reason}, resp.Warnings(), nil
}

// QuestionMessages are what the model is asked of a candidate set.
func (j *Judge) QuestionMessages(question string, candidates []*graphv1.CandidateAnswer, paths []*graphv1.ReasoningPath) ([]llm.Message, error) {
	var names []string
	for _, c := range candidates {
		names = append(names, c.GetAnswer())
	}
	return j.question.Messages(struct {
		Question          string
		Lines, Candidates []string
	}{question, verbalise.Lines(verbalise.Group(paths), j.cfg.MaxGroups, j.cfg.MaxEnds), names})
}

// Answers judges each candidate alone, by its own paths, several at a time.
// Verdicts are in the order of the candidates; one that could not be had is
// marked unknown. Where the budget runs out, the rest are unknown, with a
// warning.
func (j *Judge) Answers(ctx context.Context, question string, candidates []*graphv1.CandidateAnswer, ledger *llm.Ledger) ([]*evaluatorv1.AnswerVerdict, []*llmv1.Warning, error) {
	verdicts := make([]*evaluatorv1.AnswerVerdict, len(candidates))
	failures := make([]error, len(candidates))
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(j.cfg.Parallel)
	for i, c := range candidates {
		group.Go(func() error {
			verdict, err := j.one(groupCtx, question, c, ledger)
			verdicts[i] = verdict
			if errors.Is(err, llm.ErrUnusable) || errors.Is(err, llm.ErrBudget) {
				failures[i] = err
				return nil
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, nil, err
	}
	return verdicts, warnings(verdicts, failures), nil
}

func (j *Judge) one(ctx context.Context, question string, c *graphv1.CandidateAnswer, ledger *llm.Ledger) (*evaluatorv1.AnswerVerdict, error) {
	verdict := &evaluatorv1.AnswerVerdict{Answer: c.GetAnswer(), Unknown: true}
	messages, err := j.AnswerMessages(question, c)
	if err != nil {
		return verdict, err
	}
	said, err := j.ask(ctx, "evaluate-answer", messages, ledger)
	if err != nil {
		return verdict, err
	}
	verdict.Correct, verdict.Probability, verdict.Unknown = said.Yes, said.Probability, !said.Known
	return verdict, nil
}

// AnswerMessages are what the model is asked of one candidate.
func (j *Judge) AnswerMessages(question string, c *graphv1.CandidateAnswer) ([]llm.Message, error) {
	var paths []string
	for _, p := range c.GetPaths()[:min(len(c.GetPaths()), j.cfg.MaxPaths)] {
		paths = append(paths, verbalise.Path(p))
	}
	return j.answer.Messages(struct {
		Question, Answer string
		Paths            []string
	}{question, c.GetAnswer(), paths})
}

// Sufficient judges whether the paths suffice to answer. Those that differ in
// their ends only are shown on one line. Where the model says neither yes nor
// no, they do not suffice.
func (j *Judge) Sufficient(ctx context.Context, question string, paths []*graphv1.ReasoningPath, ledger *llm.Ledger) (YesNo, []*llmv1.Warning, error) {
	shown := paths[:min(len(paths), j.cfg.MaxGroups*j.cfg.MaxEnds)]
	messages, err := j.enough.Messages(struct {
		Question string
		Paths    []string
	}{question, verbalise.Walks(shown)})
	if err != nil {
		return YesNo{}, nil, err
	}
	said, err := j.ask(ctx, "judge-sufficiency", messages, ledger)
	if err != nil && !errors.Is(err, llm.ErrUnusable) {
		return YesNo{}, nil, err
	}
	if !said.Known {
		return said, []*llmv1.Warning{llm.Warn(llm.WarnUnusable, "the model said neither yes nor no; the paths were taken not to suffice")}, nil
	}
	return said, nil, nil
}

// ask puts a yes-or-no question. Two tokens are enough for a word that a
// space goes before.
func (j *Judge) ask(ctx context.Context, task string, messages []llm.Message, ledger *llm.Ledger) (YesNo, error) {
	resp, err := j.model.Complete(ctx, llm.Request{
		Task: task, Messages: messages, MaxTokens: 2, TopLogProbs: topLogProbs, Ledger: ledger,
	})
	if err != nil {
		return YesNo{}, err
	}
	return ReadYesNo(resp), nil
}

func warnings(verdicts []*evaluatorv1.AnswerVerdict, failures []error) []*llmv1.Warning {
	var unknown []string
	var spent error
	for i, v := range verdicts {
		if v.GetUnknown() {
			unknown = append(unknown, v.GetAnswer())
		}
		if errors.Is(failures[i], llm.ErrBudget) {
			spent = failures[i]
		}
	}
	switch {
	case len(unknown) == 0:
		return nil
	case spent != nil:
		return []*llmv1.Warning{llm.Warn(llm.WarnBudget, "%d candidates were not judged: %v", len(unknown), spent)}
	}
	return []*llmv1.Warning{llm.Warn(llm.WarnUnusable, "the model said neither yes nor no of: %s", strings.Join(unknown, "; "))}
}
