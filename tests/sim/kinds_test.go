package sim

import (
	"math/rand/v2"
	"slices"
	"time"

	"google.golang.org/grpc/codes"
)

// kind is a kind of simulation.
type kind struct {
	name string
	// of are the faults that it chooses from, and most how many it takes; 0 is 1.
	of   []wrong
	most int
	// questions are how many it asks.
	questions int
	// narrow lets the orchestrators take few questions at once, hurried gives
	// questions little time, impatient has callers go away.
	narrow, hurried, impatient bool
	// codes are those in which a question may end beside UNAVAILABLE and
	// DEADLINE_EXCEEDED.
	codes []codes.Code
	// recovers is the longest that the mesh may take until a question is answered
	// wholly again once the fault is over.
	recovers time.Duration
}

// wrong is a way to go wrong.
type wrong struct {
	name string
	// do does it, and returns what mends it.
	do func(*mesh, fault) (mend func())
	// where tells at which stages it can be; nil is all.
	where func(stage string) bool
	// harmless says that questions are answered wholly with one replica too.
	harmless bool
	// dark says that bytes are lost, until TCP sends them again.
	dark bool
	// codes are as in kind.
	codes []codes.Code
}

// count is how many faults a simulation of this kind has.
func (k kind) count(r *rand.Rand) int {
	switch {
	case len(k.of) == 0:
		return 0
	case k.most > 1:
		return 2 + r.IntN(k.most-1)
	}
	return 1
}

// kinds are all kinds of simulation.
func kinds() []kind {
	all := []kind{{name: "nothing"}}
	for _, w := range wrongs() {
		all = append(all, kind{name: w.name, of: []wrong{w}, codes: w.codes})
	}
	all = append(all,
		kind{name: "several", of: wrongs(), most: 3, codes: []codes.Code{codes.ResourceExhausted}},
		kind{name: "callers-leave", of: wrongs(), impatient: true, codes: []codes.Code{codes.Canceled, codes.ResourceExhausted}},
		kind{name: "hurry", of: wrongs(), hurried: true, codes: []codes.Code{codes.ResourceExhausted}},
		kind{name: "crowd", questions: 14, narrow: true, codes: []codes.Code{codes.ResourceExhausted}},
	)
	for i := range all {
		if all[i].questions == 0 {
			all[i].questions = 3
		}
		if all[i].recovers == 0 {
			all[i].recovers = 5 * time.Second
			if slices.ContainsFunc(all[i].of, func(w wrong) bool { return w.dark }) {
				// What is sent again by TCP comes after as long again as the dark was,
				// 20 s at most.
				all[i].recovers = 25 * time.Second
			}
		}
	}
	return all
}

// wrongs are all ways to go wrong.
func wrongs() []wrong {
	return append(append(processWrongs(), networkWrongs()...), modelWrongs()...)
}
