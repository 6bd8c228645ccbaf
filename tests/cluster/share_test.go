//go:build cluster

package cluster

import (
	"fmt"
	"math"
	"testing"
	"time"
)

// calls returns how many calls of the retriever service a pod has answered.
func calls(tb testing.TB, p pod) float64 {
	return scrape(tb, p, "triplemesh_rpc_handled_total", `rpc_service="triplemesh.retriever.v1.RetrieverService"`)
}

// firstCall scales the retriever from one pod to two under load, and waits for the new one's first
// call. It returns the pod and how long it had been ready, at Kubernetes' resolution of one second.
func firstCall(t *testing.T, longest time.Duration) (pod, time.Duration) {
	old := pods(t, "retriever")
	if len(old) != 1 {
		t.Fatalf("there are %d retriever pods, want 1", len(old))
	}
	scale(t, "retriever", 2)
	var fresh pod
	for _, p := range pods(t, "retriever") {
		if p.Metadata.Name != old[0].Metadata.Name {
			fresh = p
		}
	}
	since, ok := fresh.ready()
	if !ok {
		t.Fatalf("of the new pod nothing is known: %+v", fresh)
	}
	await(t, "first call of the new pod", longest, func() error {
		if calls(t, fresh) == 0 {
			return fmt.Errorf("none yet")
		}
		return nil
	})
	return fresh, time.Since(since)
}

// sharesTraffic requires the new pod's share of calls after the first 30 s, as promised, to be
// within 20 % of half.
func sharesTraffic(t *testing.T) {
	scale(t, "retriever", 1)
	l := begin(t, "-rate", rateFlag(), "-count", fmt.Sprint(int(*rate*90)))
	fresh, took := firstCall(t, 30*time.Second)
	figure("first call of a new retriever pod", "at most %.0f s after it was ready", took.Seconds())
	if took > 10*time.Second {
		t.Errorf("the first call came %s after the pod was ready, want 10 s at most", took)
	}
	since, _ := fresh.ready()
	time.Sleep(time.Until(since.Add(30 * time.Second)))
	before := map[string]float64{}
	for _, p := range pods(t, "retriever") {
		before[p.Metadata.Name] = calls(t, p)
	}
	time.Sleep(15 * time.Second)
	own, all := 0.0, 0.0
	for _, p := range pods(t, "retriever") {
		n := calls(t, p) - before[p.Metadata.Name]
		if all += n; p.Metadata.Name == fresh.Metadata.Name {
			own = n
		}
	}
	share := own / all * 2
	figure("share of a new retriever pod, 30 s after it was ready", "%.2f of its fair share (%.0f of %.0f calls)",
		share, own, all)
	if math.Abs(share-1) > .2 {
		t.Errorf("the new pod gets %.2f of its fair share, want 0.8 to 1.2", share)
	}
	scale(t, "retriever", 1) // still under load
	noneFailed(t, l.report("retriever scaled 1 → 2 → 1"))
}

// comparesDNS measures DNS resolution for comparison with the watch. It requires nothing.
func comparesDNS(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes minutes and asserts nothing")
	}
	scale(t, "retriever", 1)
	kubectl(t, "set", "env", "deployment/orchestrator", "TRIPLEMESH_ORCHESTRATOR_RETRIEVER_ADDR=dns:///retriever:9090")
	t.Cleanup(func() {
		kubectl(t, "set", "env", "deployment/orchestrator", "TRIPLEMESH_ORCHESTRATOR_RETRIEVER_ADDR-")
		waitForRollout(t, "orchestrator")
		scale(t, "retriever", 1)
	})
	waitForRollout(t, "orchestrator")
	begin(t, "-rate", rateFlag(), "-count", fmt.Sprint(int(*rate*170)))
	_, took := firstCall(t, 160*time.Second)
	figure("the same by DNS and connections that end after 2 minutes", "%.0f s", took.Seconds())
}
