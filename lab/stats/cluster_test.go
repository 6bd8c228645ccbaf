package stats

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestRepeatedRowsDoNotNarrowTheInterval(t *testing.T) {
	t.Parallel()
	var once, twice []float64
	var keys []string
	for i := range 40 {
		v := float64(i % 2)
		once = append(once, v)
		for range 4 {
			twice, keys = append(twice, v), append(keys, fmt.Sprint(i))
		}
	}
	want, naive, got := Bootstrap(once, 0, 1), Bootstrap(twice, 0, 1), BootstrapClusters(twice, keys, 0, 1)
	if width := got.High - got.Low; math.Abs(width-(want.High-want.Low)) > .03 || width < 1.5*(naive.High-naive.Low) {
		t.Errorf("by cluster %+v, once each %+v, as if independent %+v", got, want, naive)
	}
	if got.Mean != want.Mean || got.N != 160 || got.Clusters != 40 {
		t.Errorf("got %+v", got)
	}
}

func TestClustersOfOneAreTheBootstrap(t *testing.T) {
	t.Parallel()
	values := []float64{1, 0, .5, 1}
	for _, keys := range [][]string{nil, {"a", "b", "c", "d"}} {
		if got, want := BootstrapClusters(values, keys, 500, 1), Bootstrap(values, 500, 1); got != want {
			t.Errorf("keys %q: got %+v, want %+v", keys, got, want)
		}
	}
	one := BootstrapClusters(values, []string{"a", "a", "a", "a"}, 500, 1)
	if one.Low != one.Mean || one.High != one.Mean {
		t.Errorf("one cluster has the interval %+v", one)
	}
}

func TestAMeanOverUnequalClustersIsThatOfTheRows(t *testing.T) {
	t.Parallel()
	got := BootstrapClusters([]float64{1, 1, 1, 0}, []string{"a", "a", "a", "b"}, 500, 1)
	if got.Mean != .75 || got.Low != 0 || got.High != 1 {
		t.Errorf("got %+v", got)
	}
}

func TestPairedTestsOfRepeatedRowsCountSubjects(t *testing.T) {
	t.Parallel()
	var a, b []float64
	var keys []string
	for i := range 5 {
		for range 10 {
			a, b, keys = append(a, 1), append(b, 0), append(keys, fmt.Sprint(i))
		}
	}
	got, err := Compare(a, b, keys, 0, 1)
	if err != nil || math.Abs(got.P-2./32) > 1e-12 || got.Better != 50 {
		t.Errorf("got %+v, %v: want p of five pairs", got, err)
	}
}

func TestHolm(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		ps, want []float64
	}{
		{"no tests", nil, []float64{}},
		{"one test is as it is", []float64{.04}, []float64{.04}},
		{"the least is multiplied by the number of tests", []float64{.03, .01, .02}, []float64{.04, .03, .04}},
		{"none falls below one before it, or rises above 1", []float64{.5, .6, .001}, []float64{1, 1, .003}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := Holm(c.ps)
			if !slices.EqualFunc(got, c.want, func(x, y float64) bool { return math.Abs(x-y) < 1e-12 }) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestHolmIsBetweenEachPAndBonferroni(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		ps := rapid.SliceOfN(rapid.Float64Range(0, 1), 1, 20).Draw(t, "p")
		for i, p := range Holm(ps) {
			if p < ps[i] || p > min(1, ps[i]*float64(len(ps)))+1e-12 {
				t.Fatalf("%v became %v of %d", ps[i], p, len(ps))
			}
		}
	})
}
