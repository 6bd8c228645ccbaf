// Package answer writes the final answer: from a fixed graph (PG&AKV §III-C),
// from reasoning paths (ToG, RoG), or from the model's own knowledge (IO and
// CoT); as entities in braces, or as a short text.
package answer

import (
	"context"
	"errors"
	"strings"
	"unicode"

	"github.com/triplemesh/triplemesh/internal/answerform"
	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/sentence"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
)

// Config bounds what the model sees and writes.
type Config struct {
	// MaxTokens is the most tokens of an answer.
	MaxTokens int
	// TextFacts is how many relations of a subject a text is written from: the
	// ones nearest to the question. Two short sentences hold about three.
	TextFacts int
}

// Writer writes answers.
type Writer struct {
	cfg     Config
	model   llm.Completer
	prompts forms
}

// New returns a Writer.
func New(model llm.Completer, cfg Config) *Writer {
	return &Writer{cfg: cfg, model: model, prompts: load()}
}

// Request says what to answer and how.
type Request struct {
	Question string
	Style    generatorv1.AnswerStyle
	// Form is taken from the question where it is unspecified.
	Form        generatorv1.AnswerForm
	FixedGraph  *graphv1.FixedGraph
	Paths       []*graphv1.ReasoningPath
	Temperature float32
	Seed        int64
	// Delta, if set, gets the text as it is written.
	Delta func(string)
}

// Answer is what the model wrote.
type Answer struct {
	Text string
	// Form is the one that was taken.
	Form generatorv1.AnswerForm
	// Entities are the answer entities, without braces; none in a text.
	Entities []string
	// Probability is how sure the model was of them, or of the whole text, 0 to
	// 1; nil where the model server tells none.
	Probability *float32
	Warnings    []*llmv1.Warning
}

// Write answers a question. Output that cannot be used gives an empty Answer
// with a warning, not an error.
func (w *Writer) Write(ctx context.Context, req Request, ledger *llm.Ledger) (Answer, error) {
	a := Answer{Form: answerform.Of(req.Question, req.Form)}
	messages, err := w.messages(req, &a)
	if err != nil {
		return Answer{}, err
	}
	resp, err := w.model.Complete(ctx, llm.Request{
		Task:        "answer",
		Messages:    messages,
		MaxTokens:   w.cfg.MaxTokens,
		Temperature: req.Temperature,
		Seed:        req.Seed,
		Delta:       req.Delta,
		TopLogProbs: 1,
		Ledger:      ledger,
	})
	switch {
	case errors.Is(err, llm.ErrUnusable):
		a.warn(llm.WarnUnusable, "the model gave no usable answer: %v", err)
		return a, nil
	case err != nil && resp.Text == "":
		return Answer{}, err
	case err != nil:
		a.warn(llm.WarnTruncated, "the answer broke off and what had come of it was used: %v", err)
	}
	a.Warnings = append(a.Warnings, resp.Warnings()...)
	if known := messages[len(messages)-1].Content; sentence.Foreign(resp.Text, known) {
		a.warn(llm.WarnUnusable, "the answer is written in another script than the question and what was found for it")
	}
	if a.Form == generatorv1.AnswerForm_ANSWER_FORM_TEXT {
		a.Text, a.Probability = prose(resp)
		if !strings.ContainsFunc(a.Text, readable) {
			a.warn(llm.WarnUnusable, "what the model wrote holds no text")
		}
		return a, nil
	}
	a.Text = strings.TrimSpace(resp.Text)
	a.Probability = probability(resp.Tokens)
	a.Entities = entities(a.Text, req)
	if len(a.Entities) == 0 {
		a.warn(llm.WarnUnusable, "no answer could be read off what the model wrote")
	}
	return a, nil
}

func (a *Answer) warn(code, format string, args ...any) {
	a.Warnings = append(a.Warnings, llm.Warn(code, format, args...))
}

// unbraced reads the answer off a text without braces: the whole of a text of
// one short line. Anything longer is left unread: to guess which part of it is
// the answer would make one up.
func unbraced(text string) []string {
	const longest = 80
	line := strings.Trim(text, " .\"'`")
	if len(line) > longest || strings.ContainsAny(line, "\n{}") || !strings.ContainsFunc(line, readable) {
		return nil
	}
	return []string{line}
}

func readable(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }
