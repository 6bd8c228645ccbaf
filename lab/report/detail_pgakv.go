package report

import (
	"fmt"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

func (v *View) pgAkv(g *orchestratorv1.PgAkvGraphs, n *names) {
	v.list("Pseudo-graph", "what the model wrote from memory; names may be wrong",
		first(g.GetPseudoGraph().GetTriples(), maxEdits, n.triple))
	v.Sections[len(v.Sections)-1].Code = clip(g.GetCypher(), maxText)
	if g.GetHits() != nil {
		v.list("Hits", kgtext.FormatCount(len(g.GetHits()), "triple")+" near the pseudo-graph or the question",
			first(g.GetHits(), maxHits, n.scoredTriple))
	}
	if g.GetGroundGraph() != nil || g.GetDropped() != nil {
		subjects := g.GetGroundGraph().GetSubjects()
		v.list("Ground graph", fmt.Sprintf("%s kept, %d dropped", kgtext.FormatCount(len(subjects), "subject"),
			len(g.GetDropped())),
			append(first(subjects, maxSubjects, n.subject), first(g.GetDropped(), maxDropped, n.dropped)...))
	}
	if g.GetEdits() != nil {
		v.list("Edits", "from the pseudo-graph to the fixed graph, mode "+word(g.GetVerification().String(),
			"VERIFICATION_MODE_"), first(g.GetEdits(), maxEdits, n.edit))
	}
	if g.GetFixedGraph() != nil {
		v.list("Fixed graph", "what the answer is written from", first(g.GetFixedGraph().GetTriples(),
			maxFixed, n.fixed))
	}
}

func (n *names) subject(s *graphv1.SubjectEvidence) Row {
	return Row{
		Kind: Subject, Label: clip(s.GetKgName(), 64), Text: clip(s.GetSubject(), maxName),
		Score: round(s.GetConfidence()),
		Gold:  n.gold(Whole, s.GetSubject()), Rows: first(s.GetTriples(), maxPerSubject, n.scoredTriple),
	}
}

func (n *names) dropped(d *graphv1.DroppedSubject) Row {
	why := "no reason given"
	switch d.GetReason() {
	case graphv1.DropReason_DROP_REASON_CANDIDATE_SELECTION:
		why = "other subjects had better hits"
	case graphv1.DropReason_DROP_REASON_CONFIDENCE:
		why = "confidence under the threshold"
	}
	return Row{
		Kind: Quiet, Label: "dropped", Score: round(d.GetConfidence()), Gold: n.gold(Whole, d.GetSubject()),
		Text: fmt.Sprintf("%s: %s", clip(d.GetSubject(), maxName), why),
	}
}

// edit returns a row for the triple that an edit ends with, the draft that gave way
// and the evidence below it.
func (n *names) edit(e *graphv1.Edit) Row {
	var row Row
	switch e.GetKind() {
	case graphv1.EditKind_EDIT_KIND_KEEP:
		row = n.triple(e.GetBefore())
		row.Kind, row.Label = Keep, "keep"
	case graphv1.EditKind_EDIT_KIND_REPLACE:
		row = n.triple(e.GetAfter())
		row.Kind, row.Label = Replace, "replace"
		before := n.triple(e.GetBefore())
		before.Kind, before.Label = Delete, "draft"
		row.Rows = append(row.Rows, before)
	case graphv1.EditKind_EDIT_KIND_ADD:
		row = n.triple(e.GetAfter())
		row.Kind, row.Label = Add, "add"
	case graphv1.EditKind_EDIT_KIND_DELETE:
		row = n.triple(e.GetBefore())
		row.Kind, row.Label = Delete, "delete"
	default:
		return Row{Kind: Quiet, Text: "an edit of no known kind"}
	}
	evidence := first(e.GetEvidence(), maxEvidence, n.scoredTriple)
	for i := range evidence {
		evidence[i].Kind = Quiet
		if evidence[i].Text == "" {
			evidence[i].Label = "evidence"
		}
	}
	row.Rows = append(row.Rows, evidence...)
	return row
}

func (n *names) fixed(t *graphv1.FixedTriple) Row {
	row := n.triple(t.GetTriple())
	if t.GetStatus() == graphv1.TripleStatus_TRIPLE_STATUS_SUPPORTED {
		row.Kind = Right
	} else {
		row.Kind, row.Label = Unsure, "unverified"
	}
	return row
}
