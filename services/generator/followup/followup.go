// Package followup makes questions that follow others stand alone: of "And when was he born?",
// after "Who directed The Quiet Harbour?" and its answer, "When was Erik Halvorsen born?".
package followup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/prompt"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	"github.com/triplemesh/triplemesh/services/generator/prompts"
)

// Config bounds what the model sees and writes.
type Config struct {
	// MaxTurns is how many of the last turns the prompt shows: a follow-up refers to recent turns.
	MaxTurns int `koanf:"max_turns"`
	// MaxTurnRunes is the most characters shown of a turn, from its beginning.
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

// Rewrite returns the question as one that stands alone. The model is not called if there is no
// earlier question, if the question refers to nothing, or if it only replaces a name in the
// previous one. If its output is no question or names something that the conversation does not, its pronoun
// means the one name of the conversation, if there is one; otherwise the question is returned
// unchanged, with a warning. Of texts with one question the rest is left out.
func (w *Writer) Rewrite(ctx context.Context, question string, history []*generatorv1.Turn,
	ledger *llm.Ledger) (string, []*llmv1.Warning, error) {
	turns, asked := w.lastTurns(history), question
	question = cmp.Or(kgtext.FindQuestion(question), question)
	if !slices.ContainsFunc(turns, turn.isQuestion) || standsAlone(question, turns) {
		return asked, nil, nil
	}
	if again, ok := replaceName(question, turns); ok {
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
		rewritten, problem := parseRewritten(resp, question, turns)
		if problem == "" {
			if again, ok := replacePronoun(question, turns); ok && rewritten == question {
				return again, nil, nil // the model repeated it
			}
			return rewritten, nil, nil
		}
		err = fmt.Errorf("%w: %s", llm.ErrUnusable, problem)
	}
	if !errors.Is(err, llm.ErrUnusable) {
		return "", nil, err
	}
	if again, ok := replacePronoun(question, turns); ok {
		return again, []*llmv1.Warning{llm.Warn(llm.WarnUnusable,
			"the question was taken to be about what was named before: %v", err)}, nil
	}
	return asked, []*llmv1.Warning{llm.Warn(llm.WarnUnusable, "the question was taken as it was asked: %v", err)}, nil
}

// turn is a turn of the conversation as the prompt shows it.
type turn struct {
	Role generatorv1.Role
	Text string
}

// Speaker is the label of a turn in the prompt.
func (t turn) Speaker() string {
	if t.isQuestion() {
		return "Question"
	}
	return "Answer"
}

func (t turn) isQuestion() bool { return t.Role == generatorv1.Role_ROLE_USER }

// lastTurns returns the last turns without the braces around answers, and without what is said around a
// question.
func (w *Writer) lastTurns(history []*generatorv1.Turn) []turn {
	history = history[max(0, len(history)-w.cfg.MaxTurns):]
	turns := make([]turn, len(history))
	for i, t := range history {
		text := []rune(withoutBraces.Replace(cmp.Or(kgtext.FindQuestion(t.GetText()), t.GetText())))
		turns[i] = turn{t.GetRole(), string(text[:min(len(text), w.cfg.MaxTurnRunes)])}
	}
	return turns
}

// standsAlone reports whether a question certainly refers to nothing before: it asks one thing
// about a full name, and no word of that name occurs in the conversation. In doubt it returns
// false: a model call costs less than an answer to the wrong question.
func standsAlone(question string, turns []turn) bool {
	match := completeQuestion.FindStringSubmatch(strings.TrimSpace(question))
	if match == nil {
		return false
	}
	named := strings.Join(match[1:], " ") // only one alternative has matched
	text := ""
	for _, t := range turns {
		text += " " + t.Text
	}
	said := kgtext.FoldWords(text)
	telling := false
	for word := range strings.FieldsSeq(kgtext.Fold(named)) {
		if referringWords[word] || !stopWords[word] && said.Mention(word) {
			return false
		}
		telling = telling || !stopWords[word]
	}
	return telling
}

// nameExpr matches a full name: capitalised words and the words that join them.
const nameExpr = `((?:[Tt]he )?\p{Lu}[\p{L}\p{N}'’.&-]*(?: (?:(?:of|the|and|in|on|for|to|a|de|du|von|van|` +
	`der) )*[\p{Lu}\p{N}][\p{L}\p{N}'’.&-]*)*)`

// completeQuestion matches complete questions: a question form that ends with a name.
var completeQuestion = regexp.MustCompile(`^(?:` + strings.Join([]string{
	`(?i:who|what|where) (?:is|was|are|were) ` + nameExpr,
	`(?i:who|what|where|when) (?:is|was|are|were) the \p{Ll}+(?: \p{Ll}+){0,2} of ` + nameExpr,
	`(?i:who) \p{Ll}+ed ` + nameExpr,
	`(?i:who) (?:wrote|built|made|led|won|ran|sang) ` + nameExpr,
	`(?i:when|where) (?:was|were) ` + nameExpr +
		` (?:born|built|founded|written|made|released|published|discovered|invented|formed)`,
	`(?i:when|where|how) did ` + nameExpr + ` die`,
	`(?i:please )?(?i:tell me(?: more| something)? about|describe|what do you know about|what can you tell me about) ` +
		nameExpr,
}, "|") + `)[ ?.!]*$`)

// stopWords are words within names that do not identify anything.
var stopWords = map[string]bool{
	"of": true, "the": true, "and": true, "in": true, "on": true, "for": true, "to": true, "a": true,
	"de": true, "du": true, "von": true, "van": true, "der": true,
}

// referringWords refer to something else, capitalised or not.
var referringWords = map[string]bool{
	"he": true, "she": true, "it": true, "they": true, "him": true, "her": true, "them": true, "his": true,
	"its": true, "their": true,
	"this": true, "that": true, "these": true, "those": true, "one": true, "ones": true, "there": true,
	"here": true, "then": true,
	"first": true, "second": true, "third": true, "last": true, "other": true, "others": true, "same": true,
	"both": true, "former": true, "latter": true,
}
