package sim

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// result is the result of a simulation.
type result struct {
	plan plan
	// ends are how the questions ended.
	ends []string
	// recovered is how long after the last fault the first complete answer came.
	recovered time.Duration
	wrong     []string
	// history lists the events, and log is what the processes logged.
	history []string
	log     string
}

// simulate runs the simulation of a seed in a synctest bubble, whose fake clock advances when all
// goroutines wait.
func simulate(t *testing.T, p plan) (r result) {
	r.plan = p
	defer func() {
		if leak := recover(); leak != nil {
			r.wrong = append(r.wrong, fmt.Sprintf("goroutines leaked: %v\n%s", leak, leakedGoroutines()))
		}
	}()
	synctest.Test(t, func(t *testing.T) {
		m, err := newMesh(t, p)
		if err != nil {
			t.Fatal(err)
		}
		outcomes := m.play(p, &r)
		r.history = m.net.Log()
		m.close()
		for _, o := range outcomes {
			end, wrong := o.end(p)
			r.ends = append(r.ends, end)
			r.wrong = append(r.wrong, wrong...)
		}
		r.wrong = append(r.wrong, m.wrong...)
		r.log = m.log.String()
	})
	return r
}

// leakedGoroutines returns the goroutines that outlived their bubble.
func leakedGoroutines() string {
	stacks := make([]byte, 4<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	var in []string
	for stack := range strings.SplitSeq(string(stacks), "\n\n") {
		if first, _, _ := strings.Cut(stack, "\n"); strings.Contains(first, "synctest bubble") {
			in = append(in, stack)
		}
	}
	return strings.Join(in, "\n\n")
}

// play runs the faults and questions of a plan.
func (m *mesh) play(p plan, r *result) []outcome {
	var faults, questions sync.WaitGroup
	for _, f := range p.faults {
		faults.Go(func() {
			time.Sleep(f.at)
			m.net.Logf("BEGINS: %s at %s", f.name, f.place)
			mend := f.do(m, f)
			time.Sleep(f.lasts)
			mend()
			m.net.Logf("IS OVER: %s at %s", f.name, f.place)
		})
	}
	outcomes := make([]outcome, len(p.questions))
	for i, q := range p.questions {
		questions.Go(func() {
			time.Sleep(q.at)
			m.net.Logf("ASKED: %s", q)
			o := m.ask(context.Background(), q)
			end, _ := o.end(p)
			m.net.Logf("ENDED: %s, as %s after %v", q, end, o.took)
			outcomes[i] = o
		})
	}
	if len(p.faults) == 0 {
		questions.Wait()
	}
	faults.Wait()
	r.recovered = m.recover(p)
	questions.Wait()
	return outcomes
}

// recover asks until an answer is complete, and returns how long that took.
func (m *mesh) recover(p plan) time.Duration {
	began := time.Now()
	q := question{method: "pg-akv", about: prober, within: 10 * time.Second}
	for _, f := range p.faults {
		if s := stageOf(f.place); s == "evaluator" || s == "reflector" {
			q.method = "ger"
		}
	}
	for {
		o := m.ask(context.Background(), q)
		if o.err == nil && o.completeness() == whole {
			break
		}
		if time.Since(began) > 2*time.Minute {
			m.violate("no whole answer %v after all was well: %v, %v", time.Since(began), o.run, o.err)
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	took := time.Since(began)
	if took > p.kind.recovers {
		m.violate("a whole answer came %v after all was well", took)
	}
	m.net.Logf("WELL: after %v", took)
	return took
}
