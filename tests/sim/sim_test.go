// Package sim simulates a mesh: the real stages and clients on an in-memory network with a fake
// clock, with faults drawn from seeds. See docs/adr/0022-simulation.md.
package sim

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"buf.build/go/protovalidate"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/internal/testkit"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

var (
	seeds = flag.Uint64("seeds", 20, "how many seeds of each kind to simulate")
	first = flag.Uint64("first", 1, "the first of them")
	seed  = flag.Uint64("seed", 0, "one seed alone, with all that happened")
)

// shared is what all simulations read and none changes.
var shared fixtures

type fixtures struct {
	graphs    store.Store
	listed    []store.ListedSnapshot
	runs      string
	validator protovalidate.Validator
	// expected are the answers without faults, by question.key.
	expected map[string]*orchestratorv1.Run
}

func (f *fixtures) catalogue() *catalogue {
	return &catalogue{Store: f.graphs, listed: f.listed, active: 1}
}

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "triplemesh-sim-")
	if err == nil {
		err = shared.prepare(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "prepare the simulations:", err)
		os.Exit(1)
	}
	// Thousands of meshes are created, and little of each is retained.
	debug.SetGCPercent(400)
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

func (f *fixtures) prepare(dir string) error {
	tenants, err := build(dir)
	if err != nil {
		return err
	}
	if f.graphs, err = tenants.ForTenant(auth.DefaultTenant()); err != nil {
		return err
	}
	if f.listed, err = f.graphs.List(context.Background(), kg); err != nil {
		return err
	}
	f.runs = filepath.Join(dir, "runs")
	f.validator, err = protovalidate.New()
	return err
}

// expect asks every question of a mesh without faults.
func (f *fixtures) expect(t *testing.T) {
	if f.expected != nil {
		return
	}
	f.expected = map[string]*orchestratorv1.Run{}
	synctest.Test(t, func(t *testing.T) {
		m, err := newMesh(t, newPlan(kind{}, 0))
		if err != nil {
			t.Fatal(err)
		}
		defer m.close()
		for snapshot := uint64(1); snapshot <= 2; snapshot++ {
			m.graphs.active = snapshot
			for _, p := range people {
				for _, q := range []question{{method: "pg-akv"}, {method: "pg-akv", calls: 1},
					{method: "pg-akv", calls: 2}, {method: "ger"}} {
					q.about, q.within = p, patient
					o := m.ask(t.Context(), q)
					if o.err != nil {
						t.Fatalf("%s: %v", q, o.err)
					}
					f.expected[q.key(snapshot)] = withoutVolatile(o.run)
					if want := p.employer[snapshot-1]; q.method == "pg-akv" && q.calls == 0 &&
						!strings.Contains(o.run.GetText(), want) {
						t.Fatalf("%s is answered %q, want %s", q, o.run.GetText(), want)
					}
					if want := p.study[snapshot-1]; q.method == "ger" && !strings.Contains(o.run.GetText(), want) {
						t.Fatalf("%s is answered %q, want %s", q, o.run.GetText(), want)
					}
				}
			}
		}
	})
}

func TestSimulation(t *testing.T) {
	shared.expect(t)
	all := kinds()
	rows := make([]row, len(all))
	// The kinds run in parallel.
	t.Cleanup(func() { testkit.Measured(t, "%s", table(rows)) })
	for i, k := range all {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			of := row{kind: k}
			from, to := *first, *first+*seeds
			if *seed != 0 {
				from, to = *seed, *seed+1
			}
			for s := from; s < to; s++ {
				r := watched(t, newPlan(k, s))
				of.add(r)
				if len(r.wrong) > 0 {
					r.report(t)
				}
				if *seed != 0 {
					t.Log(strings.Join(r.history, "\n"), "\n", r.log)
				}
			}
			rows[i] = of
			t.Logf("%d seeds, %d failed, %d questions lost", of.seeds, of.failed, of.lost)
		})
	}
}

// stuck is the real time after which a seed, which takes some hundredths of a second, counts as
// hanging: the fake clock does not advance while a goroutine is runnable.
const stuck = 5 * time.Minute

// watched simulates, and panics with the seed if it hangs.
func watched(t *testing.T, p plan) result {
	watch := time.AfterFunc(stuck, func() {
		panic(fmt.Sprintf("TestSimulation/%s, seed %d: the fake clock does not advance because a goroutine is always "+
			"runnable",
			p.kind.name, p.seed))
	})
	defer watch.Stop()
	return simulate(t, p)
}

// report fails the test with the violations and how to reproduce them.
func (r result) report(t *testing.T) {
	var faults []string
	for _, f := range r.plan.faults {
		faults = append(faults, f.String())
	}
	t.Errorf("go test ./tests/sim -run 'TestSimulation/^%s$' -v -args -seed %d\nseed %d, %d of each stage, "+
		"%s\n%s\nWhat happened:\n%s",
		r.plan.kind.name, r.plan.seed, r.plan.seed, r.plan.replicas, strings.Join(faults, "; "),
		strings.Join(r.wrong, "\n"), strings.Join(r.history, "\n"))
}
