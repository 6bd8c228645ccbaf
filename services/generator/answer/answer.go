// Package answer writes the final answer: from a fixed graph (PG&AKV §III-C),
// from reasoning paths (ToG, RoG), or from the model's own knowledge (IO and
// CoT); as entities in braces, or as a short text.
package answer

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/internal/llm"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
)

// Config bounds what the model sees and writes.
type Config struct {
	// MaxTokens is the most tokens of an answer.
	MaxTokens int `koanf:"max_tokens"`
	// MaxFacts is the most facts shown: the last of the fixed graph, nearest to the question.
	MaxFacts int `koanf:"max_facts"`
	// MaxPaths and MaxEnds are the most reasoning paths shown, best first, and the most entities
	// that one relation path leads to. The defaults together are some 2,500 tokens.
	MaxPaths int `koanf:"max_paths"`
	MaxEnds  int `koanf:"max_ends"`
	// TextFacts is how many relations of a subject a text is written from: the nearest to the
	// question. Two short sentences hold about three.
	TextFacts int `koanf:"text_facts"`
	// TextObjects is how many objects of each relation a text is written from: a sentence that
	// lists more says nothing else.
	TextObjects int `koanf:"text_objects"`
}

// DefaultConfig is what docs/results.md was measured with.
func DefaultConfig() Config {
	return Config{MaxTokens: 160, MaxFacts: 120, MaxPaths: 16, MaxEnds: 24, TextFacts: 3, TextObjects: 2}
}

// Writer writes answers.
type Writer struct {
	cfg     Config
	model   llm.Completer
	prompts forms
}

// New returns a Writer.
func New(model llm.Completer, cfg Config) *Writer {
	return &Writer{cfg: cfg, model: model, prompts: loadPrompts()}
}

// Request says what to answer and how.
type Request struct {
	Question string
	Style    generatorv1.AnswerStyle
	// Form is taken from the question if it is unspecified.
	Form        graphv1.AnswerForm
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
	Form graphv1.AnswerForm
	// Entities are the answer entities, without braces; none in a text.
	Entities []string
	// Probability of the entities or of the whole text, 0 to 1; nil if the model server returns no
	// token probabilities.
	Probability *float32
	Warnings    []*llmv1.Warning
}

// Write answers a question. Output that cannot be used gives an empty Answer
// with a warning, not an error.
func (w *Writer) Write(ctx context.Context, req Request, ledger *llm.Ledger) (Answer, error) {
	a := Answer{Form: kgtext.ChooseAnswerForm(req.Question, req.Form)}
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
	if known := messages[len(messages)-1].Content; kgtext.IsForeignScript(resp.Text, known) {
		a.warn(llm.WarnUnusable, "the answer is written in another script than the question and what was found for it")
	}
	if a.Form == graphv1.AnswerForm_ANSWER_FORM_TEXT {
		a.Text, a.Probability = extractProse(resp)
		if !strings.ContainsFunc(a.Text, readable) {
			a.warn(llm.WarnUnusable, "what the model wrote holds no text")
		}
		return a, nil
	}
	a.Text = strings.TrimSpace(resp.Text)
	a.Probability = probability(resp.Tokens)
	a.Entities = entities(a.Text, req)
	if style := req.style(); style == generatorv1.AnswerStyle_ANSWER_STYLE_FROM_GRAPH ||
		style == generatorv1.AnswerStyle_ANSWER_STYLE_FROM_PATHS {
		a.dropEchoes(messages[1:len(messages)-1], req)
	}
	if len(a.Entities) == 0 {
		a.warn(llm.WarnUnusable, "no answer could be read off what the model wrote")
	}
	return a, nil
}

func (a *Answer) warn(code, format string, args ...any) {
	a.Warnings = append(a.Warnings, llm.Warn(code, format, args...))
}

// dropEchoes drops what the model repeats of the examples, whose names are invented, here or in the facts that it
// drafted. Nothing is left of a text that has no other answer.
func (a *Answer) dropEchoes(examples []llm.Message, req Request) {
	if len(a.Entities) == 0 {
		return
	}
	found := append(evidence(req.FixedGraph.GetTriples(), req.Paths), req.Question)
	known := kgtext.FoldWords(strings.Join(found, "\n"))
	a.Entities = slices.DeleteFunc(a.Entities, func(name string) bool {
		return !known.Mention(kgtext.Fold(name)) && slices.ContainsFunc(examples, func(m llm.Message) bool {
			return kgtext.Mentions(m.Content, name)
		})
	})
	if len(a.Entities) == 0 {
		a.Text = ""
	}
}

// lacksForm says that there is no answer.
var lacksForm = regexp.MustCompile(`(?i)\b(?:not|n't) (?:be )?(?:provided|mentioned|given|specified|stated|listed|` +
	`available|found|known|included|described)\b|\bno (?:information|data|answer)\b|` +
	`\bI (?:don['’]t|do not|can['’]t|cannot|am not|have no)\b|` +
	`\bdo(?:es)? not (?:say|mention|provide)\b|\bunable to (?:determine|answer|find|say)\b`)

// shortAnswer reads the answer from a text without braces if it is one short line, which does not say that there is
// none. In a longer text any choice would be a guess.
func shortAnswer(text string) []string {
	const longest = 80
	line := strings.Trim(text, " .\"'`")
	if len(line) > longest || strings.ContainsAny(line, "\n{}") || !strings.ContainsFunc(line, readable) ||
		lacksForm.MatchString(line) {
		return nil
	}
	return []string{line}
}

func readable(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

// textLines are the facts that a short text is written from: each subject and relation on a line
// with its objects, those nearest to the question. Unconfirmed drafts are listed only if nothing is
// confirmed.
func (c Config) textLines(facts []*graphv1.FixedTriple) []string {
	confirmed := false
	for _, f := range facts {
		confirmed = confirmed || isSupported(f)
	}
	type fact struct{ subject, relation string }
	var order []fact
	objects := map[fact][]string{}
	for i := len(facts) - 1; i >= 0; i-- { // the nearest stands last
		if t := facts[i].GetTriple(); isSupported(facts[i]) == confirmed {
			k := fact{t.GetSubject(), kgtext.VerbaliseRelation(t.GetRelation())}
			if objects[k] == nil {
				order = append(order, k)
			}
			objects[k] = append(objects[k], kgtext.FormatObject(t))
		}
	}
	order = order[:min(len(order), c.TextFacts)]
	lines := make([]string, len(order))
	for i, k := range order {
		values := objects[k]
		line := k.subject + " | " + k.relation + " | " + strings.Join(values[:min(len(values), c.TextObjects)], "; ")
		if !confirmed {
			line += " (unconfirmed)"
		}
		lines[len(lines)-1-i] = line
	}
	return lines
}

func isSupported(f *graphv1.FixedTriple) bool {
	return f.GetStatus() == graphv1.TripleStatus_TRIPLE_STATUS_SUPPORTED
}

// answerMark separates a model's reasoning from the text of its answer.
var answerMark = regexp.MustCompile(`(?i)(?:^|\n)[ \t*#]*answer[ \t*]*:[ \t*]*`)

// braces belong to the other form of answers.
var braces = strings.NewReplacer("{", "", "}", "")

// extractProse returns the text of an answer without the reasoning before it, and the probability
// of its words.
func extractProse(resp llm.Response) (string, *float32) {
	from := 0
	if marks := answerMark.FindAllStringIndex(resp.Text, -1); len(marks) > 0 {
		from = marks[len(marks)-1][1]
	}
	tokens, at := resp.Tokens, 0
	for len(tokens) > 0 && at < from {
		at += len(tokens[0].Text)
		tokens = tokens[1:]
	}
	return strings.TrimSpace(braces.Replace(resp.Text[from:])), mean(tokens)
}

// maxAnswers bounds the answers of one text, so that a looping model cannot fill a response.
const maxAnswers = 200

// Braces returns the entities that a text holds in braces, in order, without
// repeats. An opening brace that is never closed ends at the line's end; a
// brace within braces starts over; empty ones are skipped.
func Braces(text string) []string {
	var found []string
	seen := map[string]bool{}
	for len(found) < maxAnswers {
		open := strings.IndexByte(text, '{')
		if open < 0 {
			break
		}
		text = text[open+1:]
		end := strings.IndexAny(text, "{}\n")
		entity := text
		if end >= 0 {
			entity = text[:end]
		}
		if end >= 0 && text[end] == '{' {
			text = text[end:]
			continue
		}
		entity = strings.Join(strings.Fields(strings.ToValidUTF8(entity, "\uFFFD")), " ")
		entity = strings.Trim(entity, `"'`)
		if entity != "" && !seen[entity] {
			seen[entity] = true
			found = append(found, entity)
		}
		if end < 0 {
			break
		}
		text = text[end+1:]
	}
	return found
}
