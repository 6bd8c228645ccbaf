package align

import graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"

// FromEdits builds the fixed graph that edits lead to: what has evidence is
// supported and stands last, nearest to the question; the rest is unverified.
func FromEdits(edits []*graphv1.Edit) Alignment {
	var backed []*graphv1.FixedTriple
	seen := map[string]bool{}
	for _, e := range edits {
		if after := e.GetAfter(); after != nil && len(e.GetEvidence()) > 0 && !seen[Key(after)] {
			seen[Key(after)] = true
			backed = append(backed, &graphv1.FixedTriple{Triple: after, Status: graphv1.TripleStatus_TRIPLE_STATUS_SUPPORTED})
		}
	}
	return Alignment{FixedGraph: &graphv1.FixedGraph{Triples: append(unverified(edits), backed...)}, Edits: edits}
}

// unverified lists what edits leave and none has evidence for, each triple once.
func unverified(edits []*graphv1.Edit) []*graphv1.FixedTriple {
	seen := map[string]bool{}
	for _, e := range edits {
		if len(e.GetEvidence()) > 0 {
			seen[Key(e.GetAfter())] = true
		}
	}
	var left []*graphv1.FixedTriple
	for _, e := range edits {
		if after := e.GetAfter(); after != nil && !seen[Key(after)] {
			seen[Key(after)] = true
			left = append(left, &graphv1.FixedTriple{Triple: after, Status: graphv1.TripleStatus_TRIPLE_STATUS_UNVERIFIED})
		}
	}
	return left
}
