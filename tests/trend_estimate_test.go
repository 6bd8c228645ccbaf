package tests

import (
	"math"
	"math/rand/v2"
	"testing"
)

// generate returns samples of a function with a random number each.
func generate(n int, seed uint64, rule func(i int, random *rand.Rand) float64) []float64 {
	random := rand.New(rand.NewPCG(seed, 1))
	values := make([]float64, n)
	for i := range values {
		values[i] = rule(i, random)
	}
	return values
}

const share = 0.05

func TestWhatGrowsIsFound(t *testing.T) {
	for _, c := range []struct {
		name  string
		rule  func(i int, random *rand.Rand) float64
		grows bool
	}{
		{"a constant does not grow", func(int, *rand.Rand) float64 { return 7 }, false},
		{"noise does not grow", func(_ int, r *rand.Rand) float64 { return 100 + 10*r.NormFloat64() }, false},
		{"noise with outliers does not grow", func(_ int, r *rand.Rand) float64 {
			if r.IntN(10) == 0 {
				return 1000
			}
			return 100 + r.NormFloat64()
		}, false},
		{"a leak in noise grows", func(i int, r *rand.Rand) float64 { return 100 + .5*float64(i) + 10*r.NormFloat64() },
			true},
		{"a leak among outliers grows", func(i int, r *rand.Rand) float64 {
			if r.IntN(10) == 0 {
				return 1000
			}
			return 100 + .2*float64(i) + r.NormFloat64()
		}, true},
		{"one file handle in five windows grows", func(i int, _ *rand.Rand) float64 { return 60 + float64(i/5) }, true},
		{"a leak under the share does not count", func(i int, _ *rand.Rand) float64 { return 1000 + .1*float64(i) },
			false},
		{"what shrinks does not grow",
			func(i int, r *rand.Rand) float64 { return 100 - .5*float64(i) + r.NormFloat64() }, false},
		{"zero does not grow", func(int, *rand.Rand) float64 { return 0 }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			for seed := range uint64(20) {
				got := Estimate(generate(60, seed, c.rule))
				// By chance, noise is significant once in forty.
				if got.Grows(share) != c.grows {
					t.Errorf("seed %d: %v, drift %.3f: grows is %v", seed, got, got.Drift(), got.Grows(share))
				}
			}
		})
	}
}

func TestASlowerMachineIsNoGrowth(t *testing.T) {
	for _, c := range []struct {
		name             string
		drift, leak, own float64
		grows            bool
	}{
		{"a machine of one speed", 0, 0, 1, false},
		{"a machine that becomes slower", .2, 0, 1, false},
		{"one that slows the mesh more than the reference work", .2, 0, 1.5, false},
		{"a leak on a machine of one speed", 0, .15, 1, true},
		{"a leak on a machine that becomes slower", .2, .15, 1.5, true},
		{"a leak on a machine that becomes faster", -.2, .15, 1.5, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			for seed := range uint64(20) {
				paces := generate(60, seed, func(i int, r *rand.Rand) float64 {
					return 3 * (1 + c.drift*float64(i)/60) * (1 + .08*r.NormFloat64())
				})
				values := generate(60, seed+100, func(i int, r *rand.Rand) float64 {
					return math.Pow(paces[i], c.own) * (1 + c.leak*float64(i)/60) * (1 + .02*r.NormFloat64())
				})
				if got := Estimate(AtOnePace(values, paces)); got.Grows(share) != c.grows {
					t.Errorf("seed %d: %v, drift %.3f: grows is %v", seed, got, got.Drift(), got.Grows(share))
				}
			}
		})
	}
}

func TestTheIntervalHoldsTheSlope(t *testing.T) {
	const slope, tries = .3, 400
	missed := 0
	for seed := range uint64(tries) {
		got := Estimate(generate(50, seed,
			func(i int, r *rand.Rand) float64 { return 20 + slope*float64(i) + 5*r.NormFloat64() }))
		if got.Low > slope || got.High < slope {
			missed++
		}
	}
	if missed == 0 || missed > tries*8/100 {
		t.Errorf("%d of %d intervals of 95 %% do not hold the slope", missed, tries)
	}
}

func TestFewMeasuresSayNothing(t *testing.T) {
	for n := range 4 {
		if got := Estimate(generate(n, 0,
			func(i int, _ *rand.Rand) float64 { return float64(i) })); got.Grows(0) {
			t.Errorf("%d measures: %v", n, got)
		}
	}
}
