//go:build cluster

package cluster

import (
	"testing"
	"time"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

func activation(snapshot uint64) *retrieverv1.ActivateRequest {
	return &retrieverv1.ActivateRequest{Kg: &graphv1.KnowledgeGraphRef{Name: wikidata, Snapshot: snapshot}}
}

// switchesSnapshots activates one and the other by one pod while questions are
// read by several. Each question's answer has to be what its own snapshot says;
// whoever makes load looks at that.
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

	// Where one pod has activated, all others answer from it at once.
	doors := map[string]retrieverv1.KnowledgeGraphServiceClient{}
	for _, p := range pods(t, "retriever") {
		doors[p.Metadata.Name] = knowledgeGraphsAt(t, "pod/"+p.Metadata.Name)
	}
	for n := range uint64(10) {
		activate(t, graphs, n%2+1)
		for name, door := range doors {
			if got := active(t, door); got != n%2+1 {
				t.Errorf("%s answers from snapshot %d after %d was activated", name, got, n%2+1)
			}
		}
	}
	activate(t, graphs, 1)
}

// active is the snapshot that a retriever answers from.
func active(tb testing.TB, graphs retrieverv1.KnowledgeGraphServiceClient) uint64 {
	tb.Helper()
	list, err := graphs.List(tb.Context(), &retrieverv1.ListRequest{Kg: wikidata})
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
