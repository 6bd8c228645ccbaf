//go:build cluster

package cluster

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// loading is a pod that generates load.
type loading struct {
	tb   testing.TB
	name string
}

var loads atomic.Int64

// begin starts a load pod, and waits until it runs.
func begin(tb testing.TB, args ...string) *loading {
	tb.Helper()
	l := &loading{tb, fmt.Sprintf("load-%d-%d", time.Now().Unix(), loads.Add(1))}
	quoted, err := json.Marshal(args)
	if err != nil {
		tb.Fatal(err)
	}
	apply(tb, inRepository(fmt.Sprintf(`
apiVersion: v1
kind: Pod
metadata:
  name: %s
  labels: {app.kubernetes.io/name: load, triplemesh.dev/caller: "true"}
spec:
  restartPolicy: Never
  serviceAccountName: load
  terminationGracePeriodSeconds: 1
  securityContext: {runAsNonRoot: true, runAsUser: 65532, seccompProfile: {type: RuntimeDefault}}
  containers:
    - name: load
      image: localhost/triplemesh/load:dev
      args: %s
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: {drop: [ALL]}
`, l.name, quoted)))
	tb.Cleanup(func() { _, _ = try("delete", "pod", l.name, "--wait=false") })
	await(tb, "start of the load", patience, func() error {
		if phase := l.phase(); phase == "Pending" {
			return fmt.Errorf("the pod %s is %s: %s", l.name, phase, kubectl(tb, "get", "pod", l.name,
				"-o", "jsonpath={.status.containerStatuses[0].state.waiting.reason} "+
					"{.status.containerStatuses[0].state.waiting.message}"))
		}
		return nil
	})
	return l
}

func (l *loading) phase() string {
	l.tb.Helper()
	return kubectl(l.tb, "get", "pod", l.name, "-o", "jsonpath={.status.phase}")
}

// goesOn reports whether it is still asking.
func (l *loading) goesOn() bool { return l.phase() == "Running" }

// report waits for the end, and records the result.
func (l *loading) report(what string) Report {
	l.tb.Helper()
	await(l.tb, "end of the load", time.Hour, func() error {
		if l.goesOn() {
			return fmt.Errorf("%s continues", l.name)
		}
		return nil
	})
	out := kubectl(l.tb, "logs", l.name)
	var r Report
	if err := json.Unmarshal([]byte(out[strings.LastIndex(out, "\n")+1:]), &r); err != nil {
		l.tb.Fatalf("read the report of the load: %v: %s", err, out)
	}
	figure(what, "%d of %d failed, %d of %d attempts, %.1f/s, p50 %.0f ms, p95 %.0f ms, p99 %.0f ms, max %.0f ms",
		r.Failed, r.Asked, r.FailedAttempts, r.Attempts, r.PerSecond, r.P50, r.P95, r.P99, r.Max)
	for _, kind := range slices.Sorted(maps.Keys(r.Examples)) {
		l.tb.Logf("%s: %d times %s, such as: %s", what, r.Kinds[kind], kind, r.Examples[kind])
	}
	return r
}

// noneFailed requires a correct answer to every question.
func noneFailed(tb testing.TB, r Report) {
	tb.Helper()
	if r.Asked == 0 || r.Failed > 0 {
		tb.Errorf("%d of %d questions failed: %v", r.Failed, r.Asked, r.Kinds)
	}
}
