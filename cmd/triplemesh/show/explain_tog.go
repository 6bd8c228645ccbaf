package show

import (
	"fmt"

	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

func (p *page) tog(g *orchestratorv1.TogGraphs) {
	p.topics(g.GetTopicEntities())
	for i, d := range g.GetDepths() {
		p.depth(i, d)
	}
	p.reasoningPaths(g.GetReasoningPaths())
}

// depth is the i-th hop, counted from 0.
func (p *page) depth(i int, d *orchestratorv1.TogDepth) {
	p.heading(fmt.Sprintf("Hop %d", i+1), fmt.Sprintf("%s to %s", count(len(d.GetRelations()), "relation", "relations"),
		count(int(d.GetEntities()), "entity", "entities")))
	for _, r := range d.GetRelations() {
		for _, from := range r.GetTopicEntities() {
			p.item(2, fmt.Sprintf("%.2f  ", r.GetScore()), dim, from+": "+relationPath(r))
		}
	}
	for j, path := range d.GetReasoningPaths() {
		if j == 0 {
			p.item(2, "", "", "kept:")
		}
		p.item(4, fmt.Sprintf("%.2f  ", path.GetScore()), dim, reasoningPath(path))
	}
	p.sufficient(d)
}

// sufficient is what the model said of the paths found up to a hop.
func (p *page) sufficient(d *orchestratorv1.TogDepth) {
	said := "not enough to answer from"
	if d.GetSufficient() {
		said = "enough to answer from"
	}
	if d.Probability != nil {
		said += fmt.Sprintf(" (probability of enough %.2f)", d.GetProbability())
	}
	p.item(2, "judged: ", dim, said)
}
