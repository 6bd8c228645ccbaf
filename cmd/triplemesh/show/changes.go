package show

import (
	"fmt"
	"io"

	"google.golang.org/protobuf/proto"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	reflectorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/reflector/v1"
)

// shownChanges is how many changes are listed; --explain lists them all.
const shownChanges = 12

// Changes prints what the knowledge graph changed about the model's first
// thought, with what speaks for it: ~ is replaced, + added, - taken away.
// Methods that change nothing print nothing.
func Changes(w io.Writer, run *orchestratorv1.Run, style Style) error {
	p := newPage(w, style)
	switch g := run.GetGraphs().(type) {
	case *orchestratorv1.Run_PgAkv:
		p.editedTriples(g.PgAkv.GetEdits())
	case *orchestratorv1.Run_Ger:
		p.reflectedAnswers(g.Ger.GetReflections())
	case *orchestratorv1.Run_Auto:
		p.editedTriples(g.Auto.GetPgAkv().GetEdits())
		p.reflectedAnswers(g.Auto.GetGer().GetReflections())
	}
	return p.err
}

func (p *page) editedTriples(edits []*graphv1.Edit) {
	if len(edits) == 0 {
		return
	}
	p.heading("Changes", "from pseudo-graph to fixed graph")
	kept, shown := 0, 0
	for _, e := range edits {
		if e.GetKind() == graphv1.EditKind_EDIT_KIND_KEEP {
			kept++
			continue
		}
		if shown++; shown > shownChanges {
			continue
		}
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
	p.notShown(shown-shownChanges, kept, "triple", "triples")
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
	p.item(6, by, dim, triple(best.GetTriple()))
}

func (p *page) reflectedAnswers(reflections []*reflectorv1.Reflection) {
	if len(reflections) == 0 {
		return
	}
	p.heading("Changes", "from candidates to answers")
	kept, shown := 0, 0
	for _, r := range reflections {
		if r.GetDecision() == reflectorv1.Decision_DECISION_KEEP {
			kept++
			continue
		}
		if shown++; shown > shownChanges {
			continue
		}
		if r.GetDecision() == reflectorv1.Decision_DECISION_ADD {
			p.item(2, "+ ", green, r.GetAnswer())
			p.paths(6, r.GetPaths())
		} else {
			p.item(2, "- ", red, r.GetAnswer())
		}
	}
	p.notShown(shown-shownChanges, kept, "candidate", "candidates")
}

// notShown ends a list of changes: how many were left out, and what was kept as
// it was.
func (p *page) notShown(more, kept int, one, many string) {
	if more > 0 {
		p.itemf(2, "", "and %d more: --explain shows them all", more)
	}
	if kept > 0 {
		p.itemf(2, "", "%s kept", count(kept, one, many))
	}
}
