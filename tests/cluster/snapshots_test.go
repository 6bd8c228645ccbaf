//go:build cluster

package cluster

import (
	"testing"
	"time"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

func activation(snapshot uint64) *retrieverv1.ActivateSnapshotRequest {
	return &retrieverv1.ActivateSnapshotRequest{Kg: &graphv1.KnowledgeGraphRef{Name: wikidata, Snapshot: snapshot}}
}

// switchesSnapshots activates the snapshots in turn through one pod while several pods answer
// questions. The load generator checks each answer against its own snapshot.
func switchesSnapshots(t *testing.T) {
	scale(t, "retriever", 3)
	t.Cleanup(func() { scale(t, "retriever", 1) })
	graphs := knowledgeGraphs(t)
	l := begin(t, "-rate", rateFlag(), "-count", countFlag(2))
	switches := 0
	for l.goesOn() {
		activate(t, graphs, uint64(switches%2+1))
		switches++
		time.Sleep(time.Second)
	}
	activate(t, graphs, 1)
	r := l.report("snapshots switched under load")
	noneFailed(t, r)
	if r.Snapshots[1] == 0 || r.Snapshots[2] == 0 {
		t.Errorf("questions read the snapshots %v, want both", r.Snapshots)
	}
	figure("snapshots switched under load", "%d switches over 3 pods, questions by snapshot %v", switches, r.Snapshots)

	// Once one pod has activated a snapshot, all others answer from it at once.
	clients := map[string]retrieverv1.KnowledgeGraphServiceClient{}
	for _, p := range pods(t, "retriever") {
		clients[p.Metadata.Name] = knowledgeGraphsAt(t, "pod/"+p.Metadata.Name)
	}
	for n := range uint64(10) {
		activate(t, graphs, n%2+1)
		for name, client := range clients {
			if got := active(t, client); got != n%2+1 {
				t.Errorf("%s answers from snapshot %d after %d was activated", name, got, n%2+1)
			}
		}
	}
	activate(t, graphs, 1)
}

// active returns the snapshot that a retriever answers from.
func active(tb testing.TB, graphs retrieverv1.KnowledgeGraphServiceClient) uint64 {
	tb.Helper()
	list, err := graphs.ListKnowledgeGraphs(tb.Context(), &retrieverv1.ListKnowledgeGraphsRequest{KgName: wikidata})
	if err != nil {
		tb.Fatal(err)
	}
	for _, s := range list.GetSnapshots() {
		if s.GetActive() {
			return s.GetKg().GetSnapshot()
		}
	}
	return 0
}
