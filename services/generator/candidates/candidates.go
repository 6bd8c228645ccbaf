// Package candidates reads candidate answers off reasoning paths (Ger §3.2).
package candidates

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/prompt"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	"github.com/triplemesh/triplemesh/services/generator/answer"
	"github.com/triplemesh/triplemesh/services/generator/prompts"
)

// Config bounds what the model sees and writes.
type Config struct {
	// MaxGroups is the most relation paths shown.
	MaxGroups int `koanf:"max_groups"`
	// MaxEnds is the most ends shown of one relation path.
	MaxEnds int `koanf:"max_ends"`
	// MaxTokens is the most tokens written.
	MaxTokens int `koanf:"max_tokens"`
}

// DefaultConfig is what docs/results.md was measured with.
func DefaultConfig() Config { return Config{MaxGroups: 12, MaxEnds: 12, MaxTokens: 128} }

// Reader reads candidates.
type Reader struct {
	cfg    Config
	model  llm.Completer
	prompt *prompt.Prompt
	review *prompt.Prompt
}

// New returns a Reader.
func New(model llm.Completer, cfg Config) *Reader {
	return &Reader{
		cfg: cfg, model: model,
		prompt: prompt.Must(prompts.Files, "candidate_answers"),
		review: prompt.Must(prompts.Files, "candidate_answers_review"),
	}
}

// Read asks the model which ends of the paths answer the question; with feedback, a second time
// with the verdicts on its candidates. Names that no path ends in are dropped. If none remains, the
// candidates judged right are kept or, if there are none, the ends of the best relation path, with
// a warning: the evaluator judges them anyway.
func (r *Reader) Read(ctx context.Context, question string, paths []*graphv1.ReasoningPath,
	feedback *generatorv1.Feedback, ledger *llm.Ledger) ([]*graphv1.CandidateAnswer, []*llmv1.Warning, error) {
	groups := kgtext.GroupPaths(paths)
	if len(groups) == 0 {
		return nil, nil, nil
	}
	var warnings []*llmv1.Warning
	if len(groups) > r.cfg.MaxGroups {
		warnings = append(warnings, llm.Warn(llm.WarnShortened,
			"the best %d of %d relation paths were shown to the model", r.cfg.MaxGroups, len(groups)))
		groups = groups[:r.cfg.MaxGroups]
	}
	messages, err := r.messages(question, groups, feedback)
	if err != nil {
		return nil, nil, err
	}
	resp, err := r.model.Complete(ctx, llm.Request{
		Task: "candidate-answers", Messages: messages, MaxTokens: r.cfg.MaxTokens, Ledger: ledger,
	})
	if err != nil && !errors.Is(err, llm.ErrUnusable) {
		return nil, nil, err
	}
	warnings = append(warnings, resp.Warnings()...)
	named, unknown := match(answer.Braces(resp.Text), groups)
	if unknown > 0 {
		warnings = append(warnings, llm.Warn(llm.WarnDropped, "%d answers that no reasoning path ends in were left out",
			unknown))
	}
	named = r.complete(named, groups)
	if len(named) == 0 {
		named = acceptedEnds(feedback, groups)
		if len(named) > 0 {
			warnings = append(warnings, llm.Warn(llm.WarnUnusable,
				"the model named no end of a reasoning path; the candidates judged right remain"))
		}
	}
	if len(named) == 0 {
		warnings = append(warnings, llm.Warn(llm.WarnUnusable,
			"the model named no end of a reasoning path; the ends of the best relation path were taken"))
		named = groups[0].Ends[:min(len(groups[0].Ends), r.cfg.MaxEnds)]
	}
	return collect(named, groups), warnings, nil
}

func (r *Reader) messages(question string, groups []*kgtext.PathGroup,
	feedback *generatorv1.Feedback) ([]llm.Message, error) {
	if feedback.GetQuestion() == nil && len(feedback.GetAnswers()) == 0 {
		return r.Messages(question, groups)
	}
	return r.ReviewMessages(question, groups, feedback)
}

// Messages is the prompt: the question and the relation paths with their ends, within the
// configured bounds.
func (r *Reader) Messages(question string, groups []*kgtext.PathGroup) ([]llm.Message, error) {
	return r.prompt.Messages(struct {
		Question string
		Lines    []string
	}{question, kgtext.FormatGroups(groups, r.cfg.MaxGroups, r.cfg.MaxEnds)})
}

// match returns the ends that the model's names refer to and counts the unknown names.
func match(names []string, groups []*kgtext.PathGroup) (ends []string, unknown int) {
	exact := map[string]string{}
	for _, g := range groups {
		for _, end := range g.Ends {
			if k := fold(end); exact[k] == "" {
				exact[k] = end
			}
		}
	}
	seen := map[string]bool{}
	for _, name := range names {
		end := exact[fold(name)]
		if end == "" {
			unknown++
			continue
		}
		if !seen[end] {
			seen[end] = true
			ends = append(ends, end)
		}
	}
	return ends, unknown
}

// complete adds the ends beyond MaxEnds of each relation path of which the model named every shown
// end: it meant the path, not its first ends.
func (r *Reader) complete(named []string, groups []*kgtext.PathGroup) []string {
	has := map[string]bool{}
	for _, n := range named {
		has[n] = true
	}
	for _, g := range groups {
		if len(g.Ends) <= r.cfg.MaxEnds {
			continue
		}
		all := true
		for _, end := range g.Ends[:r.cfg.MaxEnds] {
			all = all && has[end]
		}
		if !all {
			continue
		}
		for _, end := range g.Ends[r.cfg.MaxEnds:] {
			if !has[end] {
				has[end] = true
				named = append(named, end)
			}
		}
	}
	return named
}

// collect assigns each answer the reasoning paths that end in it.
func collect(answers []string, groups []*kgtext.PathGroup) []*graphv1.CandidateAnswer {
	candidates := make([]*graphv1.CandidateAnswer, len(answers))
	index := map[string]*graphv1.CandidateAnswer{}
	for i, a := range answers {
		candidates[i] = &graphv1.CandidateAnswer{Answer: a}
		index[a] = candidates[i]
	}
	for _, g := range groups {
		for _, p := range g.Paths {
			if c := index[kgtext.PathEnd(p)]; c != nil {
				c.Paths = append(c.Paths, p)
				c.AnswerId = cmp.Or(c.AnswerId, kgtext.PathEndID(p))
			}
		}
	}
	return candidates
}

// fold normalises the case and spacing of a name.
func fold(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }
