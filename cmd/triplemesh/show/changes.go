package show

import (
	"fmt"
	"io"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	reflectorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/reflector/v1"
)

// shownChanges is how many changes are listed; --explain lists them all.
const shownChanges = 12

// Changes prints what the knowledge graph changed about the model's first thought, with what speaks
// for it: ~ is replaced, + added, - taken away. Methods that change nothing print nothing.
func Changes(w io.Writer, run *orchestratorv1.Run, style Style) error {
	p := newPage(w, style)
	switch g := run.GetGraphs().(type) {
	case *orchestratorv1.Run_PgAkv:
		p.editedTriples(g.PgAkv)
	case *orchestratorv1.Run_Ger:
		p.reflectedAnswers(g.Ger.GetReflections())
	}
	return p.err
}

func (p *page) editedTriples(g *orchestratorv1.PgAkvGraphs) {
	if len(g.GetEdits()) == 0 {
		return
	}
	if g.GetPseudoGraph() == nil {
		p.heading("Facts", "of the knowledge graph that the question alone finds")
	} else {
		p.heading("Changes", "from pseudo-graph to fixed graph")
	}
	changed := slices.DeleteFunc(slices.Clone(g.GetEdits()), func(e *graphv1.Edit) bool {
		return e.GetKind() == graphv1.EditKind_EDIT_KIND_KEEP
	})
	for _, e := range changed[:min(len(changed), shownChanges)] {
		switch e.GetKind() {
		case graphv1.EditKind_EDIT_KIND_REPLACE:
			p.item(2, "~ ", yellow, triple(e.GetBefore()))
			p.item(4, "→ ", green, triple(e.GetAfter()))
		case graphv1.EditKind_EDIT_KIND_ADD:
			p.item(2, "+ ", green, triple(e.GetAfter()))
		case graphv1.EditKind_EDIT_KIND_DELETE:
			p.item(2, "- ", red, triple(e.GetBefore()))
		}
		p.evidence(e)
	}
	p.notShown(len(changed), len(g.GetEdits())-len(changed), "triple")
}

// evidence is the best triple that speaks for an edit; where it says just what
// the edit says, its score is enough.
func (p *page) evidence(e *graphv1.Edit) {
	if len(e.GetEvidence()) == 0 {
		return
	}
	best := e.GetEvidence()[0]
	by := fmt.Sprintf("by %.2f  ", best.GetScore())
	if proto.Equal(best.GetTriple(), e.GetAfter()) {
		p.item(6, by, dim, "this triple of the knowledge graph")
		return
	}
	p.item(6, by, dim, evidenceTriple(best.GetTriple()))
}

func (p *page) reflectedAnswers(reflections []*reflectorv1.Reflection) {
	if len(reflections) == 0 {
		return
	}
	p.heading("Changes", "from candidates to answers")
	changed := slices.DeleteFunc(slices.Clone(reflections), func(r *reflectorv1.Reflection) bool {
		return r.GetDecision() == reflectorv1.Decision_DECISION_KEEP
	})
	for _, r := range changed[:min(len(changed), shownChanges)] {
		if r.GetDecision() == reflectorv1.Decision_DECISION_ADD {
			p.item(2, "+ ", green, r.GetAnswer())
			p.paths(6, r.GetPaths())
		} else {
			p.item(2, "- ", red, r.GetAnswer())
		}
	}
	p.notShown(len(changed), len(reflections)-len(changed), "candidate")
}

// notShown ends a list of changes: how many were left out, and what was kept as it was.
func (p *page) notShown(changed, kept int, noun string) {
	if more := changed - shownChanges; more > 0 {
		p.itemf(2, "", "and %d more: --explain shows them all", more)
	}
	if kept > 0 {
		p.itemf(2, "", "%s kept", kgtext.FormatCount(kept, noun))
	}
}

// Stage prints what one stage made, out of the run as it was when the stage
// ended. A stage that makes no graph, such as the answer, prints nothing.
func Stage(w io.Writer, stage orchestratorv1.Stage, run *orchestratorv1.Run, style Style) error {
	p := newPage(w, style)
	if stage == orchestratorv1.Stage_STAGE_CHOOSE {
		p.choice(run.GetChoice())
	}
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
	case *orchestratorv1.Run_Query:
		p.queryStage(stage, g.Query)
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
	case orchestratorv1.Stage_STAGE_CANDIDATES, orchestratorv1.Stage_STAGE_EVALUATE_QUESTION,
		orchestratorv1.Stage_STAGE_EVALUATE_ANSWERS:
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

func (p *page) queryStage(stage orchestratorv1.Stage, g *orchestratorv1.QueryGraphs) {
	switch stage {
	case orchestratorv1.Stage_STAGE_PLAN:
		p.plan(g)
	case orchestratorv1.Stage_STAGE_ALIGN:
		p.planEdits(g)
	case orchestratorv1.Stage_STAGE_EXECUTE:
		p.table(g)
	}
}
