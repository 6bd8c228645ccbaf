package sim

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/triplemesh/triplemesh/internal/testkit/simnet"
)

// plan is what a seed determines before the simulation starts.
type plan struct {
	kind     kind
	seed     uint64
	replicas int
	faults   []fault
	// questions are asked while the faults start and end.
	questions []question
	// link is the initial state of every link.
	link simnet.Link
}

// fault is one fault in a simulation.
type fault struct {
	wrong
	// place is the process that has the fault.
	place string
	// toward and from are the affected directions of its links.
	toward, from bool
	// at is the start, and lasts the duration.
	at, lasts time.Duration
	// size is between 0 and 1; its meaning depends on the fault.
	size float64
}

func (f fault) String() string {
	return fmt.Sprintf("%s at %s (toward %t, from %t, size %.2f) from %v for %v", f.name, f.place, f.toward, f.from,
		f.size, f.at, f.lasts)
}

// patient is the deadline of a question if another replica lives: several times what it takes to
// detect a lost replica.
const patient = time.Minute

// newPlan draws the plan of a seed. Odd seeds have two replicas of everything, even ones one.
func newPlan(k kind, seed uint64) plan {
	r := rand.New(rand.NewPCG(seed, 0x7269706c656d6573))
	p := plan{
		kind: k, seed: seed, replicas: 1 + int(seed%2),
		link: simnet.Link{Latency: time.Duration(1+r.IntN(2000)) * time.Microsecond,
			Jitter: time.Duration(r.IntN(1000)) * time.Microsecond},
	}
	// All faults hit replicas with the same number, so that the others live.
	number := r.IntN(p.replicas)
	for range k.count(r) {
		p.faults = append(p.faults, p.fault(r, number))
	}
	for range k.questions {
		p.questions = append(p.questions, p.question(r))
	}
	return p
}

func (p plan) fault(r *rand.Rand, number int) fault {
	f := fault{wrong: p.kind.of[r.IntN(len(p.kind.of))], size: r.Float64()}
	var at []sort
	for _, s := range sorts() {
		if f.where == nil || f.where(s.name) {
			at = append(at, s)
		}
	}
	f.place = fmt.Sprint(at[r.IntN(len(at))].name, "-", number)
	f.toward = r.IntN(2) == 0
	f.from = !f.toward || r.IntN(3) == 0
	f.at = time.Duration(r.Float64() * 2.5 * float64(time.Second))
	// Log-uniform: as often between 20 and 200 ms as between 2 and 20 s.
	f.lasts = time.Duration(math.Pow(1000, r.Float64()) * 20 * float64(time.Millisecond))
	return f
}

func (p plan) question(r *rand.Rand) question {
	q := question{
		method: []string{"pg-akv", "ger"}[r.IntN(2)], about: people[r.IntN(len(people)-1)], streamed: r.IntN(3) == 0,
		at: time.Duration(r.Float64() * 2 * float64(time.Second)), within: patient,
	}
	if q.method == "pg-akv" && r.IntN(4) == 0 {
		q.calls = 1 + r.Uint32N(2)
	}
	hurry, leaves := r.Float64(), r.Float64()
	switch {
	case p.kind.hurried:
		q.within = time.Duration(math.Pow(2000, hurry) * float64(time.Millisecond))
	case p.replicas == 1:
		// There is no other replica: it only has to end in time.
		q.within = time.Duration(2+hurry*28) * time.Second
	}
	if p.kind.impatient && r.IntN(2) == 0 {
		q.leaves = time.Duration(1 + leaves*2e9)
	}
	return q
}
