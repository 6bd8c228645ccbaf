//go:build cluster

package cluster

import (
	"fmt"
	"testing"
	"time"
)

// TestWeaviatePods keeps the knowledge graphs in the component weaviate's three pods, and takes one of
// them away under load.
func TestWeaviatePods(t *testing.T) {
	needPrograms(t, "weaviate")
	deleteMesh(t)
	needImages(t)
	needVolumes(t, 5)
	t.Cleanup(func() {
		// Nodes that leave at the same time would wait for each other.
		kubectl(t, "delete", "statefulset", "weaviate", "--cascade=orphan")
		kubectl(t, "delete", "pod", "-l", "app.kubernetes.io/name=weaviate", "--force", "--grace-period=0")
		deleteMesh(t)
	})
	begun := time.Now()
	applyKustomization(t, "weaviate")
	kubectl(t, "rollout", "status", "statefulset/weaviate", "--timeout="+patience.String())
	waitForRollout(t, append(append([]string{}, others...), stages...)...)
	figure("Weaviate in three pods", "all pods ready after %.0f s", time.Since(begun).Seconds())
	loadSnapshots(t)
	asksByGrpcurl(t)
	l := begin(t, "-rate", rateFlag(), "-count", countFlag(1))
	deleted := 0
	for l.goesOn() || deleted == 0 {
		kubectl(t, "delete", "pod", fmt.Sprintf("weaviate-%d", deleted%3), "--wait=false")
		deleted++
		time.Sleep(5 * time.Second)
		kubectl(t, "rollout", "status", "statefulset/weaviate", "--timeout="+patience.String())
	}
	what := "Weaviate pods deleted in turns"
	r := l.report(what)
	figure(what, "%d pods", deleted)
	noneFailed(t, r)
}
