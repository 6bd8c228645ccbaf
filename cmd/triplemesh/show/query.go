package show

import (
	"fmt"
	"strings"

	"github.com/triplemesh/triplemesh/internal/config"
	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// shownRows is the longest table shown.
const shownRows = 20

// query shows a plan, what alignment changed, the plan as Cypher, and the table with the triples of
// each row.
func (p *page) query(g *orchestratorv1.QueryGraphs) {
	p.plan(g)
	p.planEdits(g)
	p.table(g)
}

func (p *page) plan(g *orchestratorv1.QueryGraphs) {
	p.heading("Draft", "what to compute, in the model's words")
	p.item(2, "", "", withFallback(strings.TrimSpace(g.GetDraft()), "(none)"))
}

func (p *page) planEdits(g *orchestratorv1.QueryGraphs) {
	p.heading("Plan", fmt.Sprintf("aligned to the knowledge graph, alignment %.2f", g.GetAlignment()))
	for _, line := range kgtext.DescribePlan(g.GetPlan()) {
		p.item(2, "", "", line)
	}
	if g.GetPlan() == nil {
		p.item(2, "", "", "(none)")
	}
	for _, e := range g.GetEdits() {
		text := withFallback(e.GetBefore(), e.GetAfter())
		if e.GetBefore() != "" && e.GetAfter() != "" && e.GetBefore() != e.GetAfter() {
			text += " => " + e.GetAfter()
		}
		p.item(4, config.EnumName(e.GetKind())+"  ", bold, text)
		p.item(6, "", dim, e.GetReason())
		for _, t := range e.GetEvidence()[:min(len(e.GetEvidence()), shownEvidence)] {
			p.item(6, "", dim, evidenceTriple(t))
		}
	}
}

func (p *page) table(g *orchestratorv1.QueryGraphs) {
	p.heading("Cypher", "as it was run on the part of the graph that was read")
	p.block(2, withFallback(g.GetCypher(), "(none)"))
	t := g.GetTable()
	p.heading("Table", fmt.Sprintf("%d in all", t.GetTotal()))
	if t.GetReason() != "" {
		p.item(2, "", "", "none: "+t.GetReason())
	}
	if t.GetValue() != "" {
		p.item(2, "value: ", bold, strings.TrimSpace(t.GetValue()+" "+t.GetUnit()))
	}
	if t.GetCompared() > 0 {
		p.itemf(2, "", "over %d, of which %d have no value that can be compared", t.GetCompared(), t.GetLacking())
	}
	for _, limit := range t.GetLimits() {
		p.item(2, "", dim, "a lower bound: "+limit)
	}
	if len(t.GetRows()) > 0 {
		p.item(2, "", dim, strings.Join(t.GetColumns(), " | "))
	}
	for i, row := range t.GetRows() {
		if p.truncation(2, i, shownRows, len(t.GetRows())) {
			break
		}
		p.item(2, "", bold, rowText(row))
		for _, triple := range row.GetTriples()[:min(len(row.GetTriples()), shownEvidence)] {
			p.item(4, "", dim, evidenceTriple(triple))
		}
	}
}

func rowText(row *graphv1.QueryRow) string {
	cells := make([]string, len(row.GetCells()))
	for i, c := range row.GetCells() {
		cells[i] = c.GetName()
	}
	return strings.Join(cells, " | ")
}
