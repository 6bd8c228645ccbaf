package show

import (
	"io"

	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// Stage prints what one stage made, out of the run as it was when the stage
// ended. A stage that makes no graph, such as the answer, prints nothing.
func Stage(w io.Writer, stage orchestratorv1.Stage, run *orchestratorv1.Run, style Style) error {
	p := newPage(w, style)
	switch g := run.GetGraphs().(type) {
	case *orchestratorv1.Run_PgAkv:
		p.pgakvStage(stage, g.PgAkv)
	case *orchestratorv1.Run_Ger:
		p.gerStage(stage, g.Ger)
	case *orchestratorv1.Run_Rag:
		if stage == orchestratorv1.Stage_STAGE_SEARCH {
			p.rag(g.Rag)
		}
	case *orchestratorv1.Run_Sc:
		if stage == orchestratorv1.Stage_STAGE_SAMPLE {
			p.sc(g.Sc)
		}
	case *orchestratorv1.Run_Tog:
		p.togStage(stage, g.Tog)
	case *orchestratorv1.Run_Rog:
		p.rogStage(stage, g.Rog)
	case *orchestratorv1.Run_Auto:
		p.autoStage(stage, g.Auto)
	}
	return p.err
}

func (p *page) pgakvStage(stage orchestratorv1.Stage, g *orchestratorv1.PgAkvGraphs) {
	switch stage {
	case orchestratorv1.Stage_STAGE_PSEUDO_GRAPH:
		p.pseudoGraph(g)
	case orchestratorv1.Stage_STAGE_GROUND_GRAPH:
		p.groundGraph(g)
	case orchestratorv1.Stage_STAGE_VERIFY:
		p.edits(g)
		p.fixedGraph(g)
	}
}

func (p *page) gerStage(stage orchestratorv1.Stage, g *orchestratorv1.GerGraphs) {
	switch stage {
	case orchestratorv1.Stage_STAGE_LINK:
		p.topics(g.GetTopicEntities())
	case orchestratorv1.Stage_STAGE_PATHS:
		p.relationPaths("proposed, in the model's words:", g.GetProposedPaths(), g.GetRelationPaths())
		p.reasoningPaths(g.GetReasoningPaths())
	case orchestratorv1.Stage_STAGE_CANDIDATES, orchestratorv1.Stage_STAGE_EVALUATE_QUESTION, orchestratorv1.Stage_STAGE_EVALUATE_ANSWERS:
		p.evaluation(g)
	case orchestratorv1.Stage_STAGE_REFLECT:
		p.reflections(g)
	}
}

func (p *page) togStage(stage orchestratorv1.Stage, g *orchestratorv1.TogGraphs) {
	switch stage {
	case orchestratorv1.Stage_STAGE_LINK:
		p.topics(g.GetTopicEntities())
	case orchestratorv1.Stage_STAGE_EXPLORE:
		if n := len(g.GetDepths()); n > 0 {
			p.depth(n-1, g.GetDepths()[n-1])
		}
	}
}

func (p *page) rogStage(stage orchestratorv1.Stage, g *orchestratorv1.RogGraphs) {
	switch stage {
	case orchestratorv1.Stage_STAGE_LINK:
		p.topics(g.GetTopicEntities())
	case orchestratorv1.Stage_STAGE_PATHS:
		p.relationPaths("planned:", g.GetPlannedPaths(), g.GetRelationPaths())
		p.reasoningPaths(g.GetReasoningPaths())
	}
}

// autoStage shows the stage of whichever method was begun; both may have been.
func (p *page) autoStage(stage orchestratorv1.Stage, g *orchestratorv1.AutoGraphs) {
	if stage == orchestratorv1.Stage_STAGE_CHOOSE {
		p.chosen(g)
		return
	}
	if g.GetGer() != nil {
		p.gerStage(stage, g.GetGer())
	}
	if g.GetPgAkv() != nil {
		p.pgakvStage(stage, g.GetPgAkv())
	}
}
