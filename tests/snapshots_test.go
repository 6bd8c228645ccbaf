package tests

import (
	"testing"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

func TestAQuestionReadsTheActiveSnapshot(t *testing.T) {
	m := start(t, options{model: scripted(t)})
	check := func(when string, snapshot uint64, answer string) {
		t.Helper()
		req := question("pg-akv")
		req.Kg.Snapshot = 0
		run := m.ask(t, req)
		if run.GetKg().GetSnapshot() != snapshot || names(run) != answer {
			t.Errorf("%s snapshot %d answers %s, want %d and %s", when, run.GetKg().GetSnapshot(), names(run),
				snapshot, answer)
		}
	}
	check("after loading twice", 2, otherEmployer)
	if _, err := m.graphs.ActivateSnapshot(timeoutContext(t, patience),
		&retrieverv1.ActivateSnapshotRequest{Kg: &graphv1.KnowledgeGraphRef{Name: wikidata, Snapshot: 1}}); err != nil {
		t.Fatal(err)
	}
	check("after activating the first", 1, employer)
	if _, err := m.graphs.RollbackKnowledgeGraph(timeoutContext(t, patience),
		&retrieverv1.RollbackKnowledgeGraphRequest{Kg: &graphv1.KnowledgeGraphRef{Name: wikidata}}); err != nil {
		t.Fatal(err)
	}
	check("after rolling back", 2, otherEmployer)

	pinned := question("pg-akv")
	pinned.Kg.Snapshot = 1
	if run := m.ask(t, pinned); names(run) != employer {
		t.Errorf("pinned to snapshot 1, the answer is %s", names(run))
	}
}
