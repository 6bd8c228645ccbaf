package feedback

import (
	"fmt"
	"slices"
	"strings"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// NewMarks returns the marks of one judgement on answers, and on triples as text: "subject | relation
// | object".
func NewMarks(judgement orchestratorv1.Judgement, comment string, answers,
	triples []string) ([]*orchestratorv1.Mark, error) {
	var all []*orchestratorv1.Mark
	for _, answer := range answers {
		all = append(all, &orchestratorv1.Mark{Judgement: judgement, Comment: comment,
			Item: &orchestratorv1.Mark_Answer{Answer: &orchestratorv1.MarkedAnswer{Answer: answer}}})
	}
	for _, text := range triples {
		triple, err := parseTriple(text)
		if err != nil {
			return nil, err
		}
		all = append(all, &orchestratorv1.Mark{Judgement: judgement, Comment: comment,
			Item: &orchestratorv1.Mark_Triple{Triple: triple}})
	}
	return all, nil
}

// parseTriple parses "subject | relation | object".
func parseTriple(text string) (*graphv1.Triple, error) {
	parts := strings.Split(text, "|")
	for i, part := range parts {
		parts[i] = strings.TrimSpace(part)
	}
	if len(parts) != 3 || slices.Contains(parts, "") {
		return nil, fmt.Errorf("%q is no triple: write it as \"subject | relation | object\"", text)
	}
	return &graphv1.Triple{Subject: parts[0], Relation: parts[1], Object: parts[2]}, nil
}
