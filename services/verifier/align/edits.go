package align

import graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"

// FromEdits builds the fixed graph that edits lead to: what has evidence is
// supported and stands last, nearest to the question; the rest is unverified.
func FromEdits(edits []*graphv1.Edit) Alignment {
	var unverified, backed []*graphv1.FixedTriple
	seen := map[string]bool{}
	for _, e := range edits {
		after := e.GetAfter()
		if after == nil || seen[Key(after)] {
			continue
		}
		seen[Key(after)] = true
		if len(e.GetEvidence()) > 0 {
			backed = append(backed, &graphv1.FixedTriple{Triple: after, Status: graphv1.TripleStatus_TRIPLE_STATUS_SUPPORTED})
		} else {
			unverified = append(unverified, &graphv1.FixedTriple{Triple: after, Status: graphv1.TripleStatus_TRIPLE_STATUS_UNVERIFIED})
		}
	}
	return Alignment{FixedGraph: &graphv1.FixedGraph{Triples: append(unverified, backed...)}, Edits: edits}
}
