package tests

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/triplemesh/triplemesh/internal/testkit"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// sizes are the memory requests (which are also GOMEMLIMIT) and limits of each stage in Kubernetes,
// in MiB.
var sizes = map[string]struct{ limit, most int }{
	"orchestrator": {96, 256}, "generator": {96, 256}, "retriever": {512, 1024},
	"verifier": {64, 192}, "evaluator": {64, 192}, "reflector": {64, 192},
}

// TestMemoryIsBoundedWithManyQuestionsUnderWay has IN_FLIGHT (100) concurrent questions in six
// processes, each of which holds its graphs and waits for its last model call, and measures the
// memory of each stage.
func TestMemoryIsBoundedWithManyQuestionsUnderWay(t *testing.T) {
	inFlight := 100
	if s := os.Getenv("IN_FLIGHT"); s != "" {
		var err error
		if inFlight, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	model := scripted(t)
	release := make(chan struct{})
	arrived := make(chan struct{}, 2*inFlight)
	var failed sync.Once // reports the first failure
	model.On(testkit.Task("answer"), testkit.Contains(employer)).ReplyFunc(func(testkit.Request) string {
		arrived <- struct{}{}
		<-release
		return "Robert Stam worked at {" + employer + "}."
	})
	// Admission control is off: all questions are to run at once.
	env := map[string][]string{}
	for name, size := range sizes {
		env[name] = []string{
			fmt.Sprintf("GOMEMLIMIT=%dMiB", size.limit),
			"TRIPLEMESH_SERVER_MAX_IN_FLIGHT=0", "TRIPLEMESH_LLM_MAX_IN_FLIGHT=" + strconv.Itoa(inFlight),
			"TRIPLEMESH_LLM_TIMEOUT=1h",
		}
	}
	all := six(t, binaries(t), graphs(t), t.TempDir(), model, env)
	mesh := orchestratorv1.NewOrchestratorServiceClient(dial(t, all[len(all)-1].addr))
	warm := question("pg-akv")
	warm.Options = &orchestratorv1.AskOptions{Until: orchestratorv1.Stage_STAGE_VERIFY}
	if _, err := mesh.Ask(timeoutContext(t, patience), warm); err != nil {
		t.Fatal(err)
	}
	idle := residents(t, all)

	ctx := timeoutContext(t, patience+time.Duration(inFlight)*time.Second/2)
	var questions sync.WaitGroup
	for range inFlight {
		questions.Go(func() {
			resp, err := mesh.Ask(ctx, question("pg-akv"))
			if err != nil || resp.GetRun().GetPartial() || names(resp.GetRun()) != employer {
				failed.Do(func() { t.Errorf("got %v, %v", resp.GetRun(), err) })
				arrived <- struct{}{} // it will not reach the model
			}
		})
	}
	for range inFlight {
		<-arrived
	}
	full := residents(t, all)
	close(release)
	questions.Wait()
	after := residents(t, all)
	var costs []string
	for _, p := range all {
		size := sizes[p.name]
		costs = append(costs, fmt.Sprintf("%s %d MiB of %d (%d KiB a question)", p.name,
			max(full[p.name], after[p.name])>>10, size.most, (full[p.name]-idle[p.name])/inFlight))
		if most := max(full[p.name], after[p.name]); most > size.most<<10 {
			t.Errorf("the %s took %d MiB, and may have %d", p.name, most>>10, size.most)
		}
	}
	testkit.Measured(t, "%d questions under way: %s", inFlight, strings.Join(costs, ", "))
}

// residents returns the resident memory of each process in KiB.
func residents(t *testing.T, all []*process) map[string]int {
	t.Helper()
	kib := map[string]int{}
	for _, p := range all {
		status, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(p.cmd.Process.Pid), "status"))
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(status) {
			if text, ok := strings.CutPrefix(string(line), "VmRSS:"); ok {
				if kib[p.name], err = strconv.Atoi(strings.Fields(text)[0]); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	return kib
}
