// Package reflection weighs candidates with the verdicts of both levels and
// settles the final answers (Ger §3.4): it drops, keeps and adds.
package reflection

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/prompt"
	"github.com/triplemesh/triplemesh/internal/verbalise"
	evaluatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/evaluator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	reflectorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/reflector/v1"
	"github.com/triplemesh/triplemesh/services/reflector/prompts"
)

// Config says how much the model sees and how far a verdict binds it.
type Config struct {
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
	Answers     []string
	Reflections []*reflectorv1.Reflection
	Warnings    []*llmv1.Warning
}

// Reflect asks the model for the final answers among the candidates and the
// other ends of the paths. What it writes is bound by verdicts that are sure
// enough. Where its output cannot be used, the verdicts alone decide.
func (r *Reflector) Reflect(ctx context.Context, c Case, ledger *llm.Ledger) (Settled, error) {
	groups := verbalise.Group(c.Paths)
	others := r.others(c, groups)
	if len(c.Candidates)+len(others) == 0 {
		return Settled{}, nil
	}
	wanted, warnings, err := r.ask(ctx, c, groups, others, ledger)
	if err != nil {
		return Settled{}, err
	}
	answers := r.bind(c, wanted)
	return Settled{Answers: answers, Reflections: decisions(c, answers, groups), Warnings: warnings}, nil
}

// others are the ends that are no candidates, best path first.
func (r *Reflector) others(c Case, groups []*verbalise.PathGroup) []string {
	seen := map[string]bool{}
	for _, candidate := range c.Candidates {
		seen[candidate.GetAnswer()] = true
	}
	var others []string
	for _, g := range groups {
		for _, end := range g.Ends {
			if !seen[end] && len(others) < r.cfg.MaxOthers {
				seen[end] = true
				others = append(others, end)
			}
		}
	}
	return others
}

func (r *Reflector) ask(ctx context.Context, c Case, groups []*verbalise.PathGroup, others []string, ledger *llm.Ledger) ([]string, []*llmv1.Warning, error) {
	var candidates, options []string
	for _, candidate := range c.Candidates {
		candidates = append(candidates, candidate.GetAnswer()+describe(c.Verdicts[candidate.GetAnswer()]))
		options = append(options, candidate.GetAnswer())
	}
	options = append(options, others...)
	messages, err := r.prompt.Messages(struct {
		Question, Review          string
		Lines, Candidates, Others []string
	}{c.Question, c.Verdict.GetReason(), verbalise.Lines(groups, r.cfg.MaxGroups, r.cfg.MaxEnds), candidates, others})
	if err != nil {
		return nil, nil, err
	}
	said, _, err := llm.CompleteJSON[struct {
		Answers []string `json:"answers"`
	}](ctx, r.model, llm.Request{
		Task: "reflect", Messages: messages, MaxTokens: r.cfg.MaxTokens, Ledger: ledger, Schema: schema(options),
	})
	if errors.Is(err, llm.ErrUnusable) {
		return byVerdict(c), []*llmv1.Warning{llm.Warn(llm.WarnUnusable, "the model's reflection could not be read; the verdicts alone decided: %v", err)}, nil
	}
	if err != nil {
		return nil, nil, err
	}
	known := map[string]bool{}
	for _, o := range options {
		known[o] = true
	}
	var wanted []string
	for _, a := range said.Answers {
		if known[a] {
			known[a] = false // each once
			wanted = append(wanted, a)
		}
	}
	return wanted, nil, nil
}

// describe shows a verdict beside a candidate.
func describe(v *evaluatorv1.AnswerVerdict) string {
	if v == nil || v.GetUnknown() {
		return ""
	}
	word := "wrong"
	if v.GetCorrect() {
		word = "right"
	}
	if v.Probability == nil {
		return " (judged " + word + ")"
	}
	return fmt.Sprintf(" (judged %s, %.2f)", word, v.GetProbability())
}

// bind applies the verdicts that are sure enough to what the model wants, and
// never leaves a question without an answer where a candidate might be one.
func (r *Reflector) bind(c Case, wanted []string) []string {
	has := map[string]bool{}
	var answers []string
	for _, a := range wanted {
		if v := c.Verdicts[a]; has[a] || v != nil && v.Probability != nil && v.GetProbability() < r.cfg.DropBelow {
			continue
		}
		has[a] = true
		answers = append(answers, a)
	}
	for _, candidate := range c.Candidates {
		a := candidate.GetAnswer()
		if v := c.Verdicts[a]; !has[a] && v != nil && v.Probability != nil && v.GetProbability() >= r.cfg.KeepAbove {
			has[a] = true
			answers = append(answers, a)
		}
	}
	if len(answers) == 0 {
		answers = byVerdict(c)
	}
	return answers
}

// byVerdict lets the verdicts alone decide: the candidates judged right, or
// where there are none the one that came nearest.
func byVerdict(c Case) []string {
	var right []string
	var best string
	var score float32
	for _, candidate := range c.Candidates {
		v := c.Verdicts[candidate.GetAnswer()]
		if v.GetCorrect() {
			right = append(right, candidate.GetAnswer())
		}
		if p := v.GetProbability(); best == "" || p > score {
			best, score = candidate.GetAnswer(), p
		}
	}
	if len(right) == 0 && best != "" {
		return []string{best}
	}
	return right
}

// decisions names what became of every candidate and what was added.
func decisions(c Case, answers []string, groups []*verbalise.PathGroup) []*reflectorv1.Reflection {
	final, candidates := map[string]bool{}, map[string]bool{}
	for _, a := range answers {
		final[a] = true
	}
	var out []*reflectorv1.Reflection
	for _, candidate := range c.Candidates {
		candidates[candidate.GetAnswer()] = true
		d := reflectorv1.Decision_DECISION_DROP
		if final[candidate.GetAnswer()] {
			d = reflectorv1.Decision_DECISION_KEEP
		}
		out = append(out, &reflectorv1.Reflection{Answer: candidate.GetAnswer(), Decision: d, Paths: candidate.GetPaths()})
	}
	for _, a := range answers {
		if candidates[a] {
			continue
		}
		added := &reflectorv1.Reflection{Answer: a, Decision: reflectorv1.Decision_DECISION_ADD}
		for _, g := range groups {
			for _, p := range g.Paths {
				if verbalise.End(p) == a {
					added.Paths = append(added.Paths, p)
				}
			}
		}
		out = append(out, added)
	}
	return out
}

// Reason tells in a sentence what reflection changed.
func Reason(s Settled) string {
	byDecision := map[reflectorv1.Decision][]string{}
	for _, r := range s.Reflections {
		byDecision[r.GetDecision()] = append(byDecision[r.GetDecision()], r.GetAnswer())
	}
	var parts []string
	for _, d := range []struct {
		decision reflectorv1.Decision
		verb     string
	}{
		{reflectorv1.Decision_DECISION_KEEP, "kept"},
		{reflectorv1.Decision_DECISION_DROP, "dropped"},
		{reflectorv1.Decision_DECISION_ADD, "added"},
	} {
		if names := byDecision[d.decision]; len(names) > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", d.verb, len(names)))
		}
	}
	return strings.Join(parts, ", ")
}

func schema(options []string) *llm.Schema {
	enum, _ := json.Marshal(options) // a slice of strings always marshals
	return &llm.Schema{Name: "answers", JSON: fmt.Appendf(nil,
		`{"type":"object","additionalProperties":false,"required":["answers"],"properties":{"answers":{"type":"array","minItems":1,"maxItems":%d,"items":{"type":"string","enum":%s}}}}`,
		len(options), enum)}
}
