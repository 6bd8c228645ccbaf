// Package claims extracts the facts that a text states: PG&AKV's pseudo-graph of a foreign text.
package claims

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"unicode"

	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/prompt"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	"github.com/triplemesh/triplemesh/services/generator/prompts"
)

// Config bounds what the model writes.
type Config struct {
	// MaxTokens is the most tokens written for a sentence.
	MaxTokens int `koanf:"max_tokens"`
}

// DefaultConfig is what docs/results.md was measured with.
func DefaultConfig() Config { return Config{MaxTokens: 160} }

// Reader extracts claims.
type Reader struct {
	cfg    Config
	model  llm.Completer
	prompt *prompt.Prompt
}

// New returns a Reader.
func New(model llm.Completer, cfg Config) *Reader {
	return &Reader{cfg: cfg, model: model, prompt: prompt.Must(prompts.Files, "claims")}
}

// Read asks the model for the facts that a text states and locates them in it. before is the
// preceding text. Claims without a name from either text are dropped, with a warning; those of the preceding text alone
// without one.
func (r *Reader) Read(ctx context.Context, text, before string,
	ledger *llm.Ledger) ([]*generatorv1.ExtractedClaim, []*llmv1.Warning, error) {
	messages, err := r.prompt.Messages(struct{ Text, Context string }{text, before})
	if err != nil {
		return nil, nil, err
	}
	resp, err := r.model.Complete(ctx, llm.Request{Task: "claims", Messages: messages, MaxTokens: r.cfg.MaxTokens,
		Ledger: ledger})
	if errors.Is(err, llm.ErrUnusable) {
		return nil, []*llmv1.Warning{llm.Warn(llm.WarnUnusable, "the model read no claims off a part of the text: %v",
			err)}, nil
	}
	if err != nil {
		return nil, nil, err
	}
	var warnings []*llmv1.Warning
	drafts := Parse(resp.Text)
	if resp.Truncated() {
		warnings = append(warnings, llm.Warn(llm.WarnTruncated,
			"a part of the text states more than the model could write; its first %d claims were taken", len(drafts)))
	}
	if len(drafts) == 0 && !emptyAnswers[strings.ToLower(clean(strings.TrimRight(resp.Text, ".\n ")))] {
		warnings = append(warnings,
			llm.Warn(llm.WarnUnusable, "no claim could be read off what the model wrote of a part of the text"))
	}
	in := newSearchText(text)
	var claims []*generatorv1.ExtractedClaim
	strangers := 0
	for _, d := range drafts {
		if in.repeats(d, before) {
			continue
		}
		c, ok := in.locate(d, before)
		if !ok {
			strangers++
			continue
		}
		claims = append(claims, c)
	}
	if strangers > 0 {
		warnings = append(warnings, llm.Warn(llm.WarnDropped, "%d claims that name nothing of the text were left out",
			strangers))
	}
	sort(claims)
	return claims, warnings, nil
}

// Draft is a claim as the model wrote it.
type Draft struct {
	Subject, Relation, Object string
	// Negated reports that the text says it is not so.
	Negated bool
}

const (
	// maxDrafts is far more than a part of a text states and less than a model
	// that runs wild writes.
	maxDrafts = 64
	// maxPart is more bytes than a name has; what is longer is prose.
	maxPart = 400
)

// instanceOf is the relation of a thing to its kind.
const instanceOf = "instance of"

// Parse reads claims from a model's text: one a line, parts separated by bars; list marks and
// fences are skipped. A line of two parts is an "instance of" claim. Each claim is returned once.
func Parse(text string) []Draft {
	var drafts []Draft
	seen := map[Draft]bool{}
	for line := range strings.Lines(strings.ToValidUTF8(text, "\uFFFD")) {
		d, ok := parseLine(line)
		if !ok || seen[d] {
			continue
		}
		seen[d] = true
		if drafts = append(drafts, d); len(drafts) == maxDrafts {
			break
		}
	}
	return drafts
}

func parseLine(line string) (Draft, bool) {
	line = strings.Trim(listMark.ReplaceAllString(strings.TrimSpace(line), ""), "|")
	parts := strings.Split(line, "|")
	for i := range parts {
		if parts[i] = clean(parts[i]); parts[i] == "" || len(parts[i]) > maxPart {
			return Draft{}, false
		}
	}
	d := Draft{Subject: parts[0]}
	switch len(parts) {
	case 2:
		d.Relation, d.Object = instanceOf, parts[1]
	case 3:
		d.Relation, d.Object = parts[1], parts[2]
	default:
		return Draft{}, false
	}
	d.Relation, d.Negated = affirm(d.Relation)
	return d, d.Subject != "" && d.Relation != "" && !strings.EqualFold(d.Subject, d.Object) &&
		!emptyAnswers[strings.ToLower(d.Object)]
}

// emptyAnswers are words of a model for the lack of an object.
var emptyAnswers = map[string]bool{"none": true, "nothing": true, "nobody": true, "unknown": true, "n/a": true,
	"not specified": true, "not mentioned": true}

// listMark is what a model puts before the lines of a list; numbers belong to
// names more often ("1. FC Velmora"), so that only marks are taken off.
var listMark = regexp.MustCompile(`^(?:[-*•]+|\(?\d+\))\s+`)

// clean strips quotes, brackets and space from a part of a line.
func clean(part string) string {
	part = strings.Join(strings.FieldsFunc(part, func(r rune) bool {
		return unicode.IsSpace(r) ||
			unicode.IsControl(r)
	}), " ")
	return strings.TrimSpace(strings.Trim(part, "\"`{}"))
}

// denials match the words with which a relation is negated.
var denials = regexp.MustCompile(
	`(?i)^(?:is |was |are |were |has |have |had |did |does |do )?(?:not|never|no longer)\s+(?:been |be |a |an |` +
		`the )?|^(?:is|was|are|were|has|have|had|did|does|do)n['’]t\s+`)

// denial is a negation in a sentence, in the languages in Latin script that models know best.
var denial = regexp.MustCompile(
	`(?i)\b(?:not|never|no|nor|neither|none|nobody|without|cannot|refused?|denie[ds]|nicht|kein\w*|nie|niemals|ne|` +
		`pas|jamais|nunca|non|mai|não|niet|geen|inte|ikke|aldrig)\b|n['’]t\b`)

// denies reports whether a text may contain a negation. Small models see negations that are not
// there, since an example has one; in other scripts the model is trusted.
func denies(text string) bool {
	return denial.MatchString(text) || strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsLetter(r) &&
			!unicode.Is(unicode.Latin, r)
	})
}

// affirm removes the negation from a relation.
func affirm(relation string) (string, bool) {
	if at := denials.FindStringIndex(relation); at != nil {
		return strings.TrimSpace(relation[at[1]:]), true
	}
	return relation, false
}

// year is a year of four digits, where a sentence says when something was so.
const year = `([12][0-9]{3})`

// Ways to say when something was so. A model of the kind that reads the claims
// leaves them out as often as not.
var (
	fromTo = regexp.MustCompile(`(?i)\b(?:from|between)\s+(?:\w+\s+)?` + year +
		`\s*(?:to|until|till|and|through|-|–)\s*(?:\w+\s+)?` + year + `\b`)
	since  = regexp.MustCompile(`(?i)\bsince\s+(?:\w+\s+)?` + year + `\b`)
	until  = regexp.MustCompile(`(?i)\b(?:until|till)\s+(?:\w+\s+)?` + year + `\b`)
	during = regexp.MustCompile(`(?i)\b(?:in|during)\s+(?:[A-Z]\w+\s+)?` + year + `\b`)
)

// parseValidity returns the time at which a sentence says that a claim held; nil if it says none,
// or only in the claim's own object.
func parseValidity(sentence, object string) *graphv1.ValidityInterval {
	var v *graphv1.ValidityInterval
	if m := fromTo.FindStringSubmatch(sentence); m != nil {
		v = &graphv1.ValidityInterval{Start: m[1], End: m[2]}
	} else if m := since.FindStringSubmatch(sentence); m != nil {
		v = &graphv1.ValidityInterval{Start: m[1]}
	} else if m := until.FindStringSubmatch(sentence); m != nil {
		v = &graphv1.ValidityInterval{End: m[1]}
	} else if m := during.FindStringSubmatch(sentence); m != nil {
		v = &graphv1.ValidityInterval{Start: m[1], End: m[1]}
	}
	if v != nil && (v.Start != "" && strings.Contains(object, v.Start) || v.End != "" &&
		strings.Contains(object, v.End)) {
		return nil
	}
	return v
}
