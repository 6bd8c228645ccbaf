package sim

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestSeedsThatFoundFaults repeats simulations that once failed.
func TestSeedsThatFoundFaults(t *testing.T) {
	shared.expect(t)
	for _, c := range []struct {
		name, kind string
		seed       uint64
	}{
		{"a model server that hangs takes all the time, and the spare one is never asked", "model-hangs", 1},
		{"so does one that hangs for a moment", "model-hangs", 13},
		{"streamed text is not retracted when a fallback model server writes another answer", "model-cuts", 13},
	} {
		t.Run(c.name, func(t *testing.T) {
			if r := simulate(t, newPlan(kindNamed(t, c.kind), c.seed)); len(r.wrong) > 0 {
				r.report(t)
			}
		})
	}
}

// decided returns the part of a history that a seed determines exactly.
var decided = regexp.MustCompile(`(BEGINS|ASKED): `)

// TestTheSameSeedDecidesTheSame runs seeds twice. See docs/adr/0022-simulation.md for what a seed
// determines.
func TestTheSameSeedDecidesTheSame(t *testing.T) {
	shared.expect(t)
	for _, k := range kinds() {
		var plans, histories []string
		for range 2 {
			p := newPlan(k, 7)
			var lines []string
			for _, line := range simulate(t, p).history {
				if decided.MatchString(line) {
					lines = append(lines, line)
				}
			}
			if len(lines) != len(p.faults)+len(p.questions) {
				t.Errorf("%s: want %d faults and %d questions in\n%s", k.name, len(p.faults), len(p.questions),
					strings.Join(lines, "\n"))
			}
			plans = append(plans, fmt.Sprint(p.link, p.faults, p.questions))
			histories = append(histories, strings.Join(lines, "\n"))
		}
		if plans[0] != plans[1] || histories[0] != histories[1] {
			t.Errorf("%s: seed 7 went\n%s\n%s\nand then\n%s\n%s", k.name, plans[0], histories[0],
				plans[1], histories[1])
		}
		if other := newPlan(k, 8); fmt.Sprint(other.link, other.faults, other.questions) == plans[0] {
			t.Errorf("%s: seed 8 decides as seed 7 does", k.name)
		}
	}
}

func kindNamed(t *testing.T, name string) kind {
	t.Helper()
	all := kinds()
	i := slices.IndexFunc(all, func(k kind) bool { return k.name == name })
	if i < 0 {
		t.Fatalf("there is no kind %q", name)
	}
	return all[i]
}
