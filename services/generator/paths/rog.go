package paths

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/prompt"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
)

const (

	// longestRelation is more letters than the name of a relation has; Freebase
	// has some of 146.
	longestRelation = 160
	// samplingTemperature makes every sample but the first another one.
	samplingTemperature = 0.7
)

// proposeFineTuned asks a model that was trained on the relations for at most limit paths (RoG
// §4.1). If a sample after the first fails, the paths so far are returned.
func (p *Planner) proposeFineTuned(ctx context.Context, question string, topicEntities []string, limit int,
	ledger *llm.Ledger) ([]*graphv1.RelationPath, []*llmv1.Warning, error) {
	var paths []*graphv1.RelationPath
	for sample := range p.cfg.Samples {
		req := llm.Request{
			Task: "relation-paths", Messages: p.instruct(question, topicEntities), MaxTokens: p.cfg.FineTunedTokens,
			Ledger: ledger,
		}
		if sample > 0 {
			req.Temperature, req.Seed = samplingTemperature, int64(sample)
		}
		resp, err := p.model.Complete(ctx, req)
		switch {
		case errors.Is(err, llm.ErrUnusable):
			continue
		case err != nil && len(paths) > 0:
			return paths, []*llmv1.Warning{llm.Warn(llm.WarnUnavailable,
				"the model planned %d of %d relation paths: %v", len(paths), limit, err)}, nil
		case err != nil:
			return nil, nil, err
		}
		text := resp.Text
		if resp.Truncated() {
			text = closedPaths(text)
		}
		for _, path := range ParseRoG(text, limit) {
			if len(paths) < limit && !slices.ContainsFunc(paths,
				func(other *graphv1.RelationPath) bool { return samePath(path, other) }) {
				paths = append(paths, path)
			}
		}
		if len(paths) == limit {
			break
		}
	}
	if len(paths) == 0 {
		return nil, []*llmv1.Warning{llm.Warn(llm.WarnUnusable,
			"no relation path could be read off the model's output")}, nil
	}
	return paths, nil, nil
}

// instruct fills the question into the configured instruction. There is no system message: such
// models are trained without one.
func (p *Planner) instruct(question string, topicEntities []string) []llm.Message {
	text := p.cfg.Instruction
	if !strings.Contains(text, "{question}") {
		text = strings.TrimRight(text, " ") + " {question}"
	}
	entities := make([]string, len(topicEntities))
	for i, e := range topicEntities {
		entities[i] = prompt.Line(e)
	}
	text = strings.NewReplacer("{question}", prompt.Line(question), "{entities}",
		strings.Join(entities, "; ")).Replace(text)
	return []llm.Message{{Role: llm.RoleUser, Content: text}}
}

var (
	opening   = regexp.MustCompile(`(?i)<\s*path\s*>`)
	closing   = regexp.MustCompile(`(?i)<\s*/\s*path\s*>`)
	separator = regexp.MustCompile(`(?i)<\s*/?\s*sep\s*/?\s*>`)
	// controls are marks of chat templates that some servers leave in a text.
	controls = regexp.MustCompile(`<\|[a-z_]+\|>|</?s>|[\x00\x01]`)
)

// ParseRoG reads relation paths off the text of a model that writes
// "<PATH> r1 <SEP> r2 </PATH>": any number of them, on lines or not; the names
// of relations are kept to the letter. A path that is not closed ends with its
// line, one that is not opened begins with it. Text without any such mark is
// read as Parse reads it. The first limit distinct paths are returned.
func ParseRoG(text string, limit int) []*graphv1.RelationPath {
	text = controls.ReplaceAllString(strings.ToValidUTF8(text, "\uFFFD"), "\n")
	if !opening.MatchString(text) && !closing.MatchString(text) && !separator.MatchString(text) {
		return Parse(text, limit)
	}
	// What stands before an opening on its line, or after a closing, is prose.
	var paths []*graphv1.RelationPath
	for line := range strings.Lines(closing.ReplaceAllString(opening.ReplaceAllString(text, "\n\x00"), "\x01\n")) {
		if len(paths) == limit {
			break
		}
		marked := strings.ContainsAny(line, "\x00\x01") || separator.MatchString(line)
		if path := relations(line); marked && path != nil &&
			!slices.ContainsFunc(paths, func(other *graphv1.RelationPath) bool { return samePath(path, other) }) {
			paths = append(paths, path)
		}
	}
	return paths
}

// relations parses the text between a path's marks; nil if it is no path.
func relations(line string) *graphv1.RelationPath {
	path := &graphv1.RelationPath{}
	for _, name := range separator.Split(line, -1) {
		name = strings.Trim(strings.Join(strings.FieldsFunc(name, func(r rune) bool {
			return unicode.IsSpace(r) ||
				unicode.IsControl(r)
		}), " "), "\"'`")
		if name == "" {
			continue
		}
		if len(name) > longestRelation || !strings.ContainsFunc(name, unicode.IsLetter) || len(path.Steps) == maxHops {
			return nil
		}
		path.Steps = append(path.Steps, &graphv1.RelationStep{Relation: name})
	}
	if len(path.Steps) == 0 {
		return nil
	}
	return path
}

// closedPaths cuts a truncated text after its last closed path: half a relation name matches
// nothing.
func closedPaths(text string) string {
	if closed := closing.FindAllStringIndex(text, -1); len(closed) > 0 {
		return text[:closed[len(closed)-1][1]]
	}
	return text
}

// samePath reports whether two paths have the same relations.
func samePath(a, b *graphv1.RelationPath) bool {
	return slices.EqualFunc(a.GetSteps(), b.GetSteps(),
		func(x, y *graphv1.RelationStep) bool { return x.GetRelation() == y.GetRelation() })
}
