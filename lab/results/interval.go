package results

import (
	"math"
	"slices"

	"github.com/triplemesh/triplemesh/lab/stats"
)

// Interval is a figure and the bounds of its 95 % bootstrap interval.
type Interval struct {
	// Value is the figure.
	Value float64 `json:"value"`
	// Low is the lower bound.
	Low float64 `json:"low"`
	// High is the upper bound.
	High float64 `json:"high"`
}

// effort bounds how many values are drawn for one interval: fewer resamples do
// if there are many values.
const effort = 20_000_000

// seed makes the same records have the same intervals everywhere.
const seed = 1

// meanInterval returns the mean of at least one value with its interval. Values with the same key are
// resampled together.
func meanInterval(values []float64, keys []string) Interval {
	resamples := min(max(effort/len(values), 1000), stats.Resamples)
	i := stats.BootstrapClusters(values, keys, resamples, seed)
	return Interval{Value: i.Mean, Low: i.Low, High: i.High}
}

// quantileInterval returns the p-quantile of at least one value by the nearest rank, with
// its interval. No resample need be drawn for it: that the quantile of a
// resample of n values is at most the k-th smallest of them is the chance that
// of n draws at least as many as the quantile's rank are among the k smallest,
// which is binomial.
func quantileInterval(values []float64, p float64) Interval {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	rank := max(1, int(math.Ceil(p*float64(n))))
	bound := func(level float64) float64 {
		low, high := 1, n
		for low < high {
			if k := (low + high) / 2; atLeast(rank, n, float64(k)/float64(n)) >= level {
				high = k
			} else {
				low = k + 1
			}
		}
		return sorted[low-1]
	}
	return Interval{Value: sorted[rank-1], Low: bound(0.025), High: bound(0.975)}
}

// atLeast returns the chance of r or more successes in n tries of chance p.
func atLeast(r, n int, p float64) float64 {
	if p >= 1 {
		return 1
	}
	logN, _ := math.Lgamma(float64(n + 1))
	sum := 0.0
	for k := r; k <= n; k++ {
		logK, _ := math.Lgamma(float64(k + 1))
		logRest, _ := math.Lgamma(float64(n - k + 1))
		sum += math.Exp(logN - logK - logRest + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
	}
	return sum
}
