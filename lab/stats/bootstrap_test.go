package stats

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestBootstrap(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		values []float64
		want   Interval
	}{
		{"no values have no mean", nil, Interval{}},
		{"one value is its own interval", []float64{0.3}, Interval{N: 1, Mean: 0.3, Low: 0.3, High: 0.3}},
		{"equal values have no width", []float64{1, 1, 1}, Interval{N: 3, Mean: 1, Low: 1, High: 1}},
		// The chance of no right answer in a resample of two is a quarter.
		{"two values reach both ends", []float64{0, 1}, Interval{N: 2, Mean: 0.5, Low: 0, High: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := Bootstrap(c.values, 0, 1); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestBootstrapFindsTheIntervalOfTheBinomialDistribution(t *testing.T) {
	t.Parallel()
	// Of 400 questions 100 are right. The mean of a resample has a standard
	// deviation of sqrt(.25 x .75 / 400) = .02165, and 1.96 of them are .0424.
	values := make([]float64, 400)
	for i := range 100 {
		values[i] = 1
	}
	got := Bootstrap(values, 0, 7)
	if math.Abs(got.Low-(0.25-0.0424)) > 0.003 || math.Abs(got.High-(0.25+0.0424)) > 0.003 {
		t.Errorf("got %+v, want .25 +- .0424", got)
	}
}

func TestBootstrapIsTheSameEverywhere(t *testing.T) {
	t.Parallel()
	values := []float64{0, 0.25, 1, 0.5, 1, 0, 0.75}
	// What this function gave when it was written: reports must not change.
	want := Interval{N: 7, Mean: 0.5, Low: 0.21428571428571427, High: 0.7857142857142857}
	if got := Bootstrap(values, 1000, 42); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestBootstrapProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(-5, 5), 1, 60).Draw(t, "values")
		seed := rapid.Int64().Draw(t, "seed")
		got := Bootstrap(values, 200, seed)
		if again := Bootstrap(values, 200, seed); again != got {
			t.Fatalf("the same seed gave %+v and %+v", got, again)
		}
		low, high := Percentile(values, 0), Percentile(values, 100)
		const rounding = 1e-9
		if got.Low > got.High || got.Low < low-rounding || got.High > high+rounding || got.Mean < low-rounding ||
			got.Mean > high+rounding {
			t.Fatalf("%+v does not lie within the values %v", got, values)
		}
		moved := make([]float64, len(values))
		for i, v := range values {
			moved[i] = v + 3
		}
		if m := Bootstrap(moved, 200, seed); math.Abs(m.Low-got.Low-3) > rounding ||
			math.Abs(m.High-got.High-3) > rounding {
			t.Fatalf("values moved by 3 moved %+v to %+v", got, m)
		}
	})
}

func TestPercentile(t *testing.T) {
	t.Parallel()
	// The example of the nearest-rank method: 15, 20, 35, 40, 50.
	values := []float64{35, 20, 50, 15, 40}
	for p, want := range map[float64]float64{-1: 15, 0: 15, 5: 15, 20: 15, 21: 20, 30: 20, 40: 20, 50: 35, 95: 50,
		100: 50, 101: 50} {
		if got := Percentile(values, p); got != want {
			t.Errorf("percentile %v is %v, want %v", p, got, want)
		}
	}
	if values[0] != 35 {
		t.Error("the values given were put in another order")
	}
	if got := Percentile(nil, 50); got != 0 {
		t.Errorf("a percentile of nothing is %v", got)
	}
}

func TestPercentileIsTheSmallestValueThatEnoughAreNotAbove(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(0, 9), 1, 300).Draw(t, "values")
		p := rapid.IntRange(1, 100).Draw(t, "p")
		got := Percentile(values, float64(p))
		below, notAbove := 0, 0
		for _, v := range values {
			if v < got {
				below++
			}
			if v <= got {
				notAbove++
			}
		}
		if notAbove*100 < p*len(values) || below*100 >= p*len(values) {
			t.Fatalf("percentile %d of %v is %v", p, values, got)
		}
	})
}

func BenchmarkBootstrap(b *testing.B) {
	values := make([]float64, 10_000)
	for i := range values {
		values[i] = float64(i % 7)
	}
	for b.Loop() {
		Bootstrap(values, 0, 1)
	}
}
