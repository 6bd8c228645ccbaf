package sft

import (
	"strings"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/lab/dataset"
)

// planPaths teaches to plan: the question in, the best relation paths out, one a
// line, or each as an example of its own.
func (s Settings) planPaths(sc scene, topics []string, plans []plan, apart bool) ([]Example, error) {
	if len(plans) == 0 {
		return nil, nil
	}
	prompt, err := s.Prompts.PlanRelationPaths(sc.question, topics)
	if err != nil {
		return nil, err
	}
	var lines []string
	for _, p := range plans {
		lines = append(lines, formatRoGPath(p.path.GetSteps()))
	}
	lines = dataset.Distinct(lines) // the same relations in another direction
	if !apart {
		lines = []string{strings.Join(lines, "\n")}
	}
	var examples []Example
	for _, line := range lines {
		examples = append(examples, example(RelationPaths, sc.id, prompt, line, false))
	}
	return examples, nil
}

// readCandidates teaches to read answers off reasoning paths, of which some lead
// elsewhere.
func (s Settings) readCandidates(sc scene) ([]Example, error) {
	cfg := s.Candidates
	answers := dropUnquotable(endNames(sc.ends(cfg.MaxGroups, cfg.MaxEnds), true))
	if len(answers) == 0 {
		return nil, nil
	}
	prompt, err := s.Prompts.ReadCandidates(sc.question, kgtext.GroupPaths(sc.paths))
	if err != nil {
		return nil, err
	}
	return []Example{example(CandidateAnswers, sc.id, prompt, formatBraces(answers), false)}, nil
}
