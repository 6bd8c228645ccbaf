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
	// of are the faults to choose from, and most the maximum number of them; 0 is 1.
	of   []wrong
	most int
	// questions is the number of questions.
	questions int
	// narrow limits the concurrent questions of the orchestrators, hurried gives questions short
	// deadlines, impatient has callers cancel.
	narrow, hurried, impatient bool
	// codes are the statuses in which a question may end besides UNAVAILABLE and DEADLINE_EXCEEDED.
	codes []codes.Code
	// recovers is the time limit for the first complete answer after the fault has ended.
	recovers time.Duration
}

// wrong is a type of fault.
type wrong struct {
	name string
	// do starts the fault, and returns a function that ends it.
	do func(*mesh, fault) (mend func())
	// where reports whether a stage can have the fault; nil is every stage.
	where func(stage string) bool
	// harmless means that answers stay complete even with one replica.
	harmless bool
	// dark means that bytes are lost until TCP retransmits them.
	dark bool
	// codes are as in kind.
	codes []codes.Code
}

// count returns the number of faults in a simulation of this kind.
func (k kind) count(r *rand.Rand) int {
	switch {
	case len(k.of) == 0:
		return 0
	case k.most > 1:
		return 2 + r.IntN(k.most-1)
	}
	return 1
}

// kinds returns all kinds of simulation.
func kinds() []kind {
	all := []kind{{name: "nothing"}}
	for _, w := range wrongs() {
		all = append(all, kind{name: w.name, of: []wrong{w}, codes: w.codes})
	}
	all = append(all,
		kind{name: "several", of: wrongs(), most: 3, codes: []codes.Code{codes.ResourceExhausted}},
		kind{name: "callers-leave", of: wrongs(), impatient: true, codes: []codes.Code{codes.Canceled,
			codes.ResourceExhausted}},
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
				// TCP retransmits after at most as long again as the outage, which lasts up to 20
				// s.
				all[i].recovers = 25 * time.Second
			}
		}
	}
	return all
}

// wrongs returns all types of fault.
func wrongs() []wrong {
	return append(append(processWrongs(), networkWrongs()...), modelWrongs()...)
}
