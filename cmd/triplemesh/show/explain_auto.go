package show

import (
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

func (p *page) auto(g *orchestratorv1.AutoGraphs) {
	p.chosen(g)
	if g.GetGer() != nil {
		p.ger(g.GetGer())
	}
	if g.GetPgAkv() != nil {
		p.pgakv(g.GetPgAkv())
	}
}

func (p *page) chosen(g *orchestratorv1.AutoGraphs) {
	p.heading("Method", "")
	p.item(2, orElse(g.GetMethod(), "(none chosen)")+": ", bold, g.GetReason())
}
