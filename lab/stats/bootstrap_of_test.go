package stats_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/triplemesh/triplemesh/lab/stats"
)

func TestBootstrapOfAMeanIsAboutBootstrap(t *testing.T) {
	values := []float64{0, 0, 1, 1, 1, 0, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1}
	got := stats.BootstrapOf(len(values), 4000, 1, func(random *rand.Rand) float64 {
		sum := 0.
		for i := range values {
			if random != nil {
				i = random.IntN(len(values))
			}
			sum += values[i]
		}
		return sum / float64(len(values))
	})
	want := stats.Bootstrap(values, 4000, 1)
	if got.N != want.N || got.Mean != want.Mean || math.Abs(got.Low-want.Low) > .051 ||
		math.Abs(got.High-want.High) > .051 {
		t.Errorf("got %+v, want about %+v", got, want)
	}
}

func TestBootstrapOfNothing(t *testing.T) {
	if got := stats.BootstrapOf(0, 10, 1, func(*rand.Rand) float64 { return 1 }); got != (stats.Interval{}) {
		t.Errorf("got %+v", got)
	}
}
