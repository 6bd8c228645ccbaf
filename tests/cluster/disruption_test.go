//go:build cluster

package cluster

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// twice runs every stage in two pods until the test ends, so that a stage can lose one without
// failing a question.
func twice(t *testing.T) {
	for _, s := range stages {
		kubectl(t, "scale", "deployment/"+s, "--replicas=2")
	}
	waitForRollout(t, stages...)
	t.Cleanup(func() {
		for _, s := range stages {
			kubectl(t, "scale", "deployment/"+s, "--replicas=1")
		}
		waitForRollout(t, stages...)
	})
}

// rollsOut scales and rolls out as long as there is load, at least once. One pod of each stage
// suffices.
func rollsOut(t *testing.T) {
	l := begin(t, "-rate", rateFlag(), "-count", countFlag(1))
	scalings, rollouts := 0, 0
	for l.goesOn() || rollouts == 0 {
		scale(t, "retriever", 3)
		scale(t, "retriever", 1)
		scalings++
		for _, s := range stages {
			kubectl(t, "rollout", "restart", "deployment/"+s)
		}
		waitForRollout(t, stages...)
		rollouts++
	}
	what := "retriever scaled 1 → 3 → 1, all six stages rolled out"
	r := l.report(what)
	figure(what, "%d times scaled, %d rollouts of six Deployments", scalings, rollouts)
	noneFailed(t, r)
}

// deletesPods deletes a pod every few seconds, as draining a node does.
func deletesPods(t *testing.T) {
	twice(t)
	what := "pods deleted at random"
	r, lost := disturb(t, what, func(p pod) { kubectl(t, "delete", "pod", p.Metadata.Name, "--wait=false") })
	figure(what, "%d pods, of two for each stage", lost)
	noneFailed(t, r)
}

// killsPods kills pods like a crash or the OOM killer: without a signal or time to drain.
func killsPods(t *testing.T) {
	twice(t)
	what, kill := "pods killed (SIGKILL)", func(p pod) {
		id := p.Status.ContainerStatuses[0].ContainerID
		if _, err := run("", onNode("kill.sh"), id[strings.LastIndex(id, "/")+1:]); err != nil {
			t.Log(err)
		}
	}
	if *node == "" {
		what, kill = "pods deleted without a grace period", func(p pod) {
			kubectl(t, "delete", "pod", p.Metadata.Name, "--wait=false", "--force", "--grace-period=0")
		}
	}
	r, lost := disturb(t, what, kill)
	figure(what, "%d pods, of two for each stage", lost)
	noneFailed(t, r)
}

// disturb disrupts a random pod, again and again while there is load. It waits until the stage has
// two pods again, so that a stage never loses its last.
func disturb(t *testing.T, what string, do func(pod)) (Report, int) {
	l := begin(t, "-rate", rateFlag(), "-count", countFlag(1))
	lost := 0
	for l.goesOn() {
		stage := stages[rand.N(len(stages))]
		both := pods(t, stage)
		if len(both) < 2 {
			time.Sleep(time.Second)
			continue
		}
		do(both[rand.N(len(both))])
		lost++
		time.Sleep(2 * time.Second)
		await(t, fmt.Sprintf("second pod of the %s", stage), patience, func() error {
			if n := len(pods(t, stage)); n < 2 {
				return fmt.Errorf("there are %d", n)
			}
			return nil
		})
	}
	return l.report(what), lost
}
