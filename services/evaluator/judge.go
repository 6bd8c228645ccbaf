package evaluator

import (
	"context"
	"errors"
	"math"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/prompt"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
)

// JudgeConfig bounds what the model sees and writes.
type JudgeConfig struct {
	// Parallel is the most concurrent answer-level calls.
	Parallel int `koanf:"parallel"`
	// MaxGroups and MaxEnds are the most relation paths shown, and the most ends of each.
	MaxGroups int `koanf:"max_groups"`
	MaxEnds   int `koanf:"max_ends"`
	// MaxPaths is the most reasoning paths shown for one candidate.
	MaxPaths int `koanf:"max_paths"`
	// QuestionTokens is the most tokens of the question-level verdict: a short reason and two
	// booleans as JSON.
	QuestionTokens int `koanf:"question_tokens"`
	// YesNoTokens is the most tokens of a yes/no answer. Two are enough for a word after a space.
	YesNoTokens int `koanf:"yes_no_tokens"`
	// ThinkingTokens is the most tokens of the second attempt, which is made if the first was cut
	// before yes or no, as with a model that thinks first. 0 disables it.
	ThinkingTokens int `koanf:"thinking_tokens"`
}

// DefaultJudgeConfig is what docs/results.md was measured with.
func DefaultJudgeConfig() JudgeConfig {
	return JudgeConfig{
		Parallel: 4, MaxGroups: 8, MaxEnds: 8, MaxPaths: 2, QuestionTokens: 96, YesNoTokens: 2, ThinkingTokens: 1024,
	}
}

// Judge asks the model for verdicts.
type Judge struct {
	cfg      JudgeConfig
	model    llm.Completer
	question *prompt.Prompt
	answer   *prompt.Prompt
	relation *prompt.Prompt
	enough   *prompt.Prompt
}

// NewJudge returns a Judge.
func NewJudge(model llm.Completer, cfg JudgeConfig) *Judge {
	return &Judge{
		cfg: cfg, model: model,
		question: prompt.Must(Prompts(), "evaluate_question"),
		answer:   prompt.Must(Prompts(), "evaluate_answer"),
		relation: prompt.Must(Prompts(), "evaluate_relation"),
		enough:   prompt.Must(Prompts(), "judge_sufficiency"),
	}
}

var questionSchema = &llm.Schema{Name: "verdict",
	JSON: []byte(
		`{"type":"object","additionalProperties":false,"required":["reason","correct","incomplete"],` +
			`"properties":{"reason":{"type":"string","maxLength":160},"correct":{"type":"boolean"},` +
			`"incomplete":{"type":"boolean"}}}`)}

// Question judges the candidate set as a whole. The verdict is nil, with a warning, if the model's
// output cannot be used.
func (j *Judge) Question(ctx context.Context, question string, candidates []*graphv1.CandidateAnswer,
	paths []*graphv1.ReasoningPath, ledger *llm.Ledger) (*graphv1.QuestionVerdict, []*llmv1.Warning, error) {
	if len(candidates) == 0 {
		return &graphv1.QuestionVerdict{Incomplete: len(paths) > 0, Reason: "there are no candidates"}, nil, nil
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
		Task: "evaluate-question", Messages: messages, MaxTokens: j.cfg.QuestionTokens, Schema: questionSchema,
		Ledger: ledger,
	})
	if errors.Is(err, llm.ErrUnusable) {
		return nil, []*llmv1.Warning{llm.Warn(llm.WarnUnusable, "there is no verdict on the candidate set: %v", err)},
			nil
	}
	if err != nil {
		return nil, nil, err
	}
	return &graphv1.QuestionVerdict{Correct: said.Correct, Incomplete: said.Incomplete, Reason: said.Reason},
		resp.Warnings(), nil
}

// QuestionMessages is the prompt about a candidate set.
func (j *Judge) QuestionMessages(question string, candidates []*graphv1.CandidateAnswer,
	paths []*graphv1.ReasoningPath) ([]llm.Message, error) {
	var names []string
	for _, c := range candidates {
		names = append(names, c.GetAnswer())
	}
	return j.question.Messages(struct {
		Question          string
		Lines, Candidates []string
	}{question, kgtext.FormatGroups(kgtext.GroupPaths(paths), j.cfg.MaxGroups, j.cfg.MaxEnds), names})
}

// Answers judges each candidate alone, by its own paths, several concurrently. Verdicts are in the
// order of the candidates. A failed verdict is marked unknown; if the budget runs out, the
// remaining ones are unknown, with a warning.
func (j *Judge) Answers(ctx context.Context, question string, candidates []*graphv1.CandidateAnswer,
	ledger *llm.Ledger) ([]*graphv1.AnswerVerdict, []*llmv1.Warning, error) {
	return j.judgeEach(ctx, j.answer, question, candidates, ledger)
}

// Relations is Answers, but judges whether the relations of the paths are those that the question asks
// for: the examples of its prompt differ in the relation alone.
func (j *Judge) Relations(ctx context.Context, question string, candidates []*graphv1.CandidateAnswer,
	ledger *llm.Ledger) ([]*graphv1.AnswerVerdict, []*llmv1.Warning, error) {
	return j.judgeEach(ctx, j.relation, question, candidates, ledger)
}

func (j *Judge) judgeEach(ctx context.Context, asks *prompt.Prompt, question string,
	candidates []*graphv1.CandidateAnswer, ledger *llm.Ledger) ([]*graphv1.AnswerVerdict, []*llmv1.Warning, error) {
	verdicts := make([]*graphv1.AnswerVerdict, len(candidates))
	failures := make([]error, len(candidates))
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(j.cfg.Parallel)
	for i, c := range candidates {
		group.Go(func() error {
			verdict, err := j.judgeAnswer(groupCtx, asks, question, c, ledger)
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

func (j *Judge) judgeAnswer(ctx context.Context, asks *prompt.Prompt, question string, c *graphv1.CandidateAnswer,
	ledger *llm.Ledger) (*graphv1.AnswerVerdict, error) {
	verdict := &graphv1.AnswerVerdict{Answer: c.GetAnswer(), Unknown: true}
	messages, err := j.candidateMessages(asks, question, c)
	if err != nil {
		return verdict, err
	}
	answer, err := j.askYesNo(ctx, "evaluate-answer", messages, ledger)
	if err != nil {
		return verdict, err
	}
	verdict.Correct, verdict.Probability, verdict.Unknown = answer.Yes, answer.Probability, !answer.Known
	return verdict, nil
}

// AnswerMessages is the prompt about one candidate.
func (j *Judge) AnswerMessages(question string, c *graphv1.CandidateAnswer) ([]llm.Message, error) {
	return j.candidateMessages(j.answer, question, c)
}

func (j *Judge) candidateMessages(asks *prompt.Prompt, question string,
	c *graphv1.CandidateAnswer) ([]llm.Message, error) {
	var paths []string
	for _, p := range c.GetPaths()[:min(len(c.GetPaths()), j.cfg.MaxPaths)] {
		paths = append(paths, kgtext.FormatPath(p))
	}
	return asks.Messages(struct {
		Question, Answer string
		Paths            []string
	}{question, c.GetAnswer(), paths})
}

// Sufficient judges whether the paths suffice to answer. Paths that differ only in their ends share
// a line of the prompt. If the model says neither yes nor no, they do not suffice.
func (j *Judge) Sufficient(ctx context.Context, question string, paths []*graphv1.ReasoningPath,
	ledger *llm.Ledger) (YesNo, []*llmv1.Warning, error) {
	shown := paths[:min(len(paths), j.cfg.MaxGroups*j.cfg.MaxEnds)]
	messages, err := j.enough.Messages(struct {
		Question string
		Paths    []string
	}{question, kgtext.FormatReadablePaths(shown)})
	if err != nil {
		return YesNo{}, nil, err
	}
	answer, err := j.askYesNo(ctx, "judge-sufficiency", messages, ledger)
	if err != nil && !errors.Is(err, llm.ErrUnusable) {
		return YesNo{}, nil, err
	}
	if !answer.Known {
		return answer, []*llmv1.Warning{llm.Warn(llm.WarnUnusable,
			"the model said neither yes nor no; the paths are treated as insufficient")}, nil
	}
	return answer, nil, nil
}

// askYesNo asks a yes/no question. A model that reasons in its answer uses up the few tokens of the
// word, so an answer that was cut before it is asked for once more, with ThinkingTokens. (Those that
// think before the answer get llm.Config.ReasoningTokens from the client.)
func (j *Judge) askYesNo(ctx context.Context, task string, messages []llm.Message, ledger *llm.Ledger) (YesNo, error) {
	req := llm.Request{
		Task: task, Messages: messages, MaxTokens: j.cfg.YesNoTokens, TopLogProbs: topLogProbs, Ledger: ledger,
	}
	resp, err := j.model.Complete(ctx, req)
	answer := ReadYesNo(resp)
	cut := err == nil && !answer.Known && resp.FinishReason == llm.FinishLength
	if cut && j.cfg.ThinkingTokens > j.cfg.YesNoTokens {
		req.MaxTokens = j.cfg.ThinkingTokens
		resp, err = j.model.Complete(ctx, req)
		answer = ReadYesNo(resp)
	}
	if err != nil {
		return YesNo{}, err
	}
	return answer, nil
}

func warnings(verdicts []*graphv1.AnswerVerdict, failures []error) []*llmv1.Warning {
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
	return []*llmv1.Warning{llm.Warn(llm.WarnUnusable, "the model said neither yes nor no of: %s",
		strings.Join(unknown, "; "))}
}

// topLogProbs is the number of requested alternatives to the first token: the spellings of yes and
// no are among the likeliest.
const topLogProbs = 10

// YesNo is a model's answer to a yes-or-no question.
type YesNo struct {
	Yes bool
	// Probability of yes against no, 0 to 1, by the first token that is either;
	// nil if the endpoint gave no probabilities.
	Probability *float32
	// Known is false if the answer was neither.
	Known bool
}

// ReadYesNo reads yes or no from a response. With token probabilities the answer is yes if yes is
// at least as probable as no: a greedy answer hides how close it was.
func ReadYesNo(resp llm.Response) YesNo {
	for _, token := range resp.Tokens {
		if p, ok := probability(token); ok {
			return YesNo{Yes: p >= 0.5, Probability: &p, Known: true}
		}
		if strings.TrimSpace(token.Text) != "" {
			break
		}
	}
	var first string
	if words := strings.Fields(resp.Text); len(words) > 0 {
		first = words[0]
	}
	yes, known := yesNo(first)
	return YesNo{Yes: yes, Known: known}
}

// probability weighs the spellings of yes among a token's alternatives against those of no.
func probability(token llm.Token) (float32, bool) {
	alternatives := token.Top
	if len(alternatives) == 0 {
		alternatives = []llm.Alternative{{Text: token.Text, LogProb: token.LogProb}}
	}
	var yes, no float64
	for _, a := range alternatives {
		if y, known := yesNo(a.Text); known && y {
			yes += math.Exp(a.LogProb)
		} else if known {
			no += math.Exp(a.LogProb)
		}
	}
	if yes+no == 0 || math.IsNaN(yes+no) || math.IsInf(yes+no, 0) {
		return 0, false
	}
	return float32(yes / (yes + no)), true
}

func yesNo(word string) (yes, known bool) {
	switch strings.ToLower(strings.Trim(word, " \t\r\n.,!:;\"'*`")) {
	case "yes", "y", "true", "correct":
		return true, true
	case "no", "n", "false", "incorrect":
		return false, true
	}
	return false, false
}
