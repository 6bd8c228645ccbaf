//go:build cluster

package cluster

import (
	"fmt"
	"os"
	"testing"
	"time"
)

// autoscales wants more retrievers under load and fewer after it. The windows
// are shorter than an operator's would be.
func autoscales(t *testing.T) {
	scale(t, "retriever", 1)
	manifest, err := os.ReadFile("autoscale.yaml")
	if err != nil {
		t.Fatal(err)
	}
	apply(t, string(manifest))
	t.Cleanup(func() {
		kubectl(t, "delete", "hpa", "retriever", "--ignore-not-found")
		scale(t, "retriever", 1)
	})
	await(t, "metrics of the pods", patience, func() error {
		_, err := try("get", "hpa", "retriever")
		if err == nil {
			_, err = try("top", "pods", "-l", "app.kubernetes.io/name=retriever")
		}
		return err
	})
	l := begin(t, "-addr", "kubernetes:///retriever:9090", "-ask", "groundings", "-distinct", "-rate", "0", "-askers", "8", "-for", "60s")
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
	figure("HPA on CPU", "1 → 3 retrievers, ready %.0f s after the load began", time.Since(begun).Seconds())
	noneFailed(t, l.report("load that the HPA followed"))
	begun = time.Now()
	await(t, "one retriever after the load", patience, wanted(func(n string) bool { return n == "1" }))
	figure("HPA on CPU", "back to 1 retriever %.0f s after the load ended", time.Since(begun).Seconds())
}

// scalesThroughput asks the retriever as fast as it can, with pods that may use
// a tenth of a core each, so that four of them do not meet the machine's bound
// but their own.
func scalesThroughput(t *testing.T) {
	limit(t, "retriever", "100m", "100m")
	t.Cleanup(func() {
		kubectl(t, "rollout", "undo", "deployment/retriever")
		scale(t, "retriever", 1)
	})
	single, most := 0.0, 0.0
	for _, n := range []int{1, 2, 4} {
		scale(t, "retriever", n)
		before := map[string]float64{}
		for _, p := range pods(t, "retriever") {
			before[p.Metadata.Name] = scrape(t, p, "process_cpu_seconds_total")
		}
		what := fmt.Sprintf("groundings, %d retrievers of 0.1 cores", n)
		r := begin(t, "-addr", "kubernetes:///retriever:9090", "-ask", "groundings", "-distinct", "-rate", "0", "-askers", fmt.Sprint(4*n), "-for", "30s").report(what)
		noneFailed(t, r)
		cpu := 0.0
		for _, p := range pods(t, "retriever") {
			cpu += scrape(t, p, "process_cpu_seconds_total") - before[p.Metadata.Name]
		}
		if n == 1 {
			single = r.PerSecond
			continue
		}
		most = r.PerSecond
		share := r.PerSecond / single / float64(n)
		figure(what, "%.2f of linear; %.1f groundings a second of CPU", share, float64(r.Asked)/cpu)
		if share < .9 {
			t.Errorf("%d retrievers answer %.2f of %d times what one does, want 0.9", n, share, n)
		}
	}
	// The orchestrator's part, by what it uses for each question.
	o, r := pods(t, "orchestrator")[0], pods(t, "retriever")
	own, theirs := scrape(t, o, "process_cpu_seconds_total"), 0.0
	for _, p := range r {
		theirs -= scrape(t, p, "process_cpu_seconds_total")
	}
	asked := begin(t, "-distinct", "-rate", "0", "-askers", "16", "-for", "30s").report("questions, 4 retrievers of 0.1 cores")
	noneFailed(t, asked)
	own = scrape(t, o, "process_cpu_seconds_total") - own
	for _, p := range r {
		theirs += scrape(t, p, "process_cpu_seconds_total")
	}
	figure("questions beside groundings, 4 retrievers of 0.1 cores", "%.2f of as many a second; a question takes %.1f ms of CPU in the orchestrator, %.1f ms in retrievers",
		asked.PerSecond/most, 1000*own/float64(asked.Asked), 1000*theirs/float64(asked.Asked))
	// A question pins its snapshot by a call of its own before it is grounded.
	if asked.PerSecond < .8*most {
		t.Errorf("%.1f questions a second where retrievers ground %.1f: the orchestrator holds them up", asked.PerSecond, most)
	}
}

// limit gives a Deployment's pods a bound on CPU.
func limit(tb testing.TB, deployment, requests, limits string) {
	tb.Helper()
	kubectl(tb, "set", "resources", "deployment/"+deployment, "-c", "stage", "--requests=cpu="+requests, "--limits=cpu="+limits)
	settled(tb, deployment)
}
