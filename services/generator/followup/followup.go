// Package followup makes questions that follow others stand alone: of "And when
// was he born?", after "Who directed The Quiet Harbour?" and its answer, "When
// was Erik Halvorsen born?".
package followup

import (
	"context"
	"errors"
	"slices"

	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/prompt"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	"github.com/triplemesh/triplemesh/services/generator/prompts"
)

// Config bounds what the model sees and writes.
type Config struct {
	// MaxTurns is how many turns of the conversation the model is shown, the last
	// ones: what a follow-up refers to was said a moment ago.
	MaxTurns int `koanf:"max_turns"`
	// MaxTurnRunes is how much of a turn it is shown, from its beginning, in
	// characters.
	MaxTurnRunes int `koanf:"max_turn_runes"`
	// MaxTokens is the most tokens of a question.
	MaxTokens int `koanf:"max_tokens"`
}

// DefaultConfig shows three questions with their answers.
func DefaultConfig() Config { return Config{MaxTurns: 6, MaxTurnRunes: 400, MaxTokens: 96} }

// Writer rewrites questions.
type Writer struct {
	cfg    Config
	model  llm.Completer
	prompt *prompt.Prompt
}

// New returns a Writer.
func New(model llm.Completer, cfg Config) *Writer {
	return &Writer{cfg: cfg, model: model, prompt: prompt.Must(prompts.Files, "follow_up")}
}

// Rewrite returns the question that stands alone. No model is asked where
// nobody asked anything before, where the question refers to nothing, and where
// it only puts another name into the one before. It is
// the question as it was asked, with a warning, where what the model wrote
// cannot be used: that holds no question, or names what nobody has named.
func (w *Writer) Rewrite(ctx context.Context, question string, history []*generatorv1.Turn, ledger *llm.Ledger) (string, []*llmv1.Warning, error) {
	turns := w.shown(history)
	if !slices.ContainsFunc(turns, turn.asked) || alone(question, turns) {
		return question, nil, nil
	}
	if again, ok := swapped(question, turns); ok {
		return again, nil, nil
	}
	messages, err := w.prompt.Messages(struct {
		Turns    []turn
		Question string
	}{turns, question})
	if err != nil {
		return "", nil, err
	}
	resp, err := w.model.Complete(ctx, llm.Request{
		Task: "rewrite-question", Messages: messages, MaxTokens: w.cfg.MaxTokens, Stop: []string{"\n"}, Ledger: ledger,
	})
	if err == nil {
		rewritten, problem := read(resp, question, turns)
		if problem == "" {
			return rewritten, nil, nil
		}
		return question, []*llmv1.Warning{llm.Warn(llm.WarnUnusable, "the question was taken as it was asked: %s", problem)}, nil
	}
	if errors.Is(err, llm.ErrUnusable) {
		return question, []*llmv1.Warning{llm.Warn(llm.WarnUnusable, "the question was taken as it was asked: %v", err)}, nil
	}
	return "", nil, err
}

// turn is what was said at one time, as the model is shown it.
type turn struct {
	Role generatorv1.Role
	Text string
}

// Speaker is what stands before a turn in a prompt.
func (t turn) Speaker() string {
	if t.asked() {
		return "Question"
	}
	return "Answer"
}

func (t turn) asked() bool { return t.Role == generatorv1.Role_ROLE_USER }

// shown are the last turns, without the braces around answers.
func (w *Writer) shown(history []*generatorv1.Turn) []turn {
	history = history[max(0, len(history)-w.cfg.MaxTurns):]
	turns := make([]turn, len(history))
	for i, t := range history {
		text := []rune(unbraced.Replace(t.GetText()))
		turns[i] = turn{t.GetRole(), string(text[:min(len(text), w.cfg.MaxTurnRunes)])}
	}
	return turns
}
