//go:build cluster

package cluster

import (
	"fmt"
	"os"
	"testing"
	"time"
)

// autoscales requires an HPA on CPU. The windows are shorter than in production.
func autoscales(t *testing.T) {
	manifest, err := os.ReadFile("autoscale.yaml")
	if err != nil {
		t.Fatal(err)
	}
	followsLoad(t, "HPA on CPU", string(manifest), 8, func() error {
		_, err := try("top", "pods", "-l", "app.kubernetes.io/name=retriever")
		return err
	})
}

// followsLoad requires that an HPA adds retrievers under load and removes them after it. Its metrics
// are waited for before.
func followsLoad(t *testing.T, what, hpa string, askers int, measured func() error) {
	scale(t, "retriever", 1)
	apply(t, hpa)
	t.Cleanup(func() {
		kubectl(t, "delete", "hpa", "retriever", "--ignore-not-found")
		scale(t, "retriever", 1)
	})
	await(t, "metrics of the pods", patience, measured)
	l := begin(t, "-addr", "kubernetes:///retriever:9090", "-ask", "groundings", "-distinct", "-rate", "0", "-askers",
		fmt.Sprint(askers), "-for", "60s")
	begun := time.Now()
	wanted := func(enough func(string) bool) func() error {
		return func() error {
			n, err := try("get", "deployment", "retriever", "-o", "jsonpath={.status.readyReplicas}")
			if err == nil && !enough(n) {
				err = fmt.Errorf("there are %s retrievers", n)
			}
			return err
		}
	}
	await(t, "a third retriever under load", patience, wanted(func(n string) bool { return n >= "3" }))
	figure(what, "1 → 3 retrievers, ready %.0f s after the load began", time.Since(begun).Seconds())
	noneFailed(t, l.report("load that the "+what+" followed"))
	begun = time.Now()
	await(t, "one retriever after the load", patience, wanted(func(n string) bool { return n == "1" }))
	figure(what, "back to 1 retriever %.0f s after the load ended", time.Since(begun).Seconds())
}

// scalesThroughput asks the retriever as fast as it can, with pods limited to a small part of a
// core, so that the limits, and not the machine, bound four of them with the load and the cluster.
func scalesThroughput(t *testing.T) {
	// One pod at a time has the shared directory of the cache, which costs it writing: each gets its own.
	kubectl(t, "set", "env", "deployment/retriever", "TRIPLEMESH_RETRIEVER_ENCODER_CACHE_DIR=/tmp/vectors")
	limitCores(t, *cores)
	t.Cleanup(func() {
		kubectl(t, "set", "env", "deployment/retriever", "TRIPLEMESH_RETRIEVER_ENCODER_CACHE_DIR-")
		deploy(t)
		scale(t, "retriever", 1)
	})
	single := 0.0
	for _, n := range []int{1, 2, 4} {
		scale(t, "retriever", n)
		cpu := cpuOf(t, "retriever")
		what := fmt.Sprintf("groundings, %d × %g cores", n, *cores)
		r := begin(t, "-addr", "kubernetes:///retriever:9090", "-ask", "groundings", "-distinct", "-rate", "0",
			"-askers", fmt.Sprint(4*n), "-for", "30s").report(what)
		noneFailed(t, r)
		used := cpuOf(t, "retriever") - cpu
		if n == 1 {
			single = r.PerSecond
		}
		share := r.PerSecond / single / float64(n)
		figure(what, "%.2f of linear, %.0f for each second of CPU, %.2f of the cores allowed in use", share,
			float64(r.Asked)/used, used/r.Seconds / *cores / float64(n))
		if share < .9 {
			t.Errorf("%d retrievers answer %.2f of %d times what one does, want 0.9", n, share, n)
		}
	}
	// Whole questions need the other stages too, on the same machine.
	few := *cores / 5
	limitCores(t, few)
	asks := fmt.Sprintf("questions, 4 × %g cores", few)
	own, theirs := cpuOf(t, "orchestrator"), cpuOf(t, "retriever")
	r := begin(t, "-distinct", "-rate", "0", "-askers", "32", "-for", "30s").report(asks)
	noneFailed(t, r)
	own, theirs = cpuOf(t, "orchestrator")-own, cpuOf(t, "retriever")-theirs
	busy := theirs / r.Seconds / few / 4
	figure(asks, "%.1f ms of CPU in the orchestrator, %.1f ms in retrievers, which use %.2f of the cores they are "+
		"allowed",
		1000*own/float64(r.Asked), 1000*theirs/float64(r.Asked), busy)
	if busy < .85 {
		t.Errorf("retrievers use %.2f of what they may: the orchestrator holds questions up", busy)
	}
}

// cpuOf returns the CPU seconds used by a Deployment's pods.
func cpuOf(tb testing.TB, deployment string) float64 {
	tb.Helper()
	sum := 0.0
	for _, p := range pods(tb, deployment) {
		sum += scrape(tb, p, "process_cpu_seconds_total")
	}
	return sum
}

// limitCores has each retriever use no more than a part of a core.
func limitCores(tb testing.TB, cores float64) {
	tb.Helper()
	each := fmt.Sprintf("%.0fm", 1000*cores)
	kubectl(tb, "set", "resources", "deployment/retriever", "-c", "stage", "--requests=cpu="+each, "--limits=cpu="+each)
	waitForRollout(tb, "retriever")
}
