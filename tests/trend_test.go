package tests

import (
	"fmt"
	"math"
	"slices"
)

// z95 is the number of standard deviations that bound 95 % of a normal distribution.
const z95 = 1.96

// Trend is the change of a measure between consecutive samples: the Theil-Sen median of the slopes
// between all pairs, which is robust against outliers, and its 95 % confidence interval (Sen 1968,
// from the variance of Kendall's S). It assumes that samples vary independently.
type Trend struct {
	Slope, Low, High float64
	// Level is the median of the samples.
	Level float64
	// Count is the number of samples.
	Count int
}

// Estimate returns the trend of at least four samples. The interval of fewer is unbounded.
func Estimate(values []float64) Trend {
	t := Trend{Count: len(values), Low: math.Inf(-1), High: math.Inf(1)}
	if t.Count == 0 {
		return t
	}
	t.Level = medianSorted(slices.Sorted(slices.Values(values)))
	if t.Count < 4 {
		return t
	}
	var slopes []float64
	for i := range values {
		for j := i + 1; j < len(values); j++ {
			slopes = append(slopes, (values[j]-values[i])/float64(j-i))
		}
	}
	slices.Sort(slopes)
	t.Slope = medianSorted(slopes)
	half := z95 * math.Sqrt(variance(values))
	pairs := float64(len(slopes))
	t.Low = slopes[max(0, int(math.Floor((pairs-half)/2)))]
	t.High = slopes[min(len(slopes)-1, int(math.Ceil((pairs+half)/2)))]
	return t
}

// variance of Kendall's S, corrected for ties.
func variance(values []float64) float64 {
	equal := map[float64]int{}
	for _, v := range values {
		equal[v]++
	}
	of := func(n int) float64 { return float64(n * (n - 1) * (2*n + 5)) }
	sum := of(len(values))
	for _, n := range equal {
		sum -= of(n)
	}
	return sum / 18
}

// Drift is the change from the first sample to the last, as a share of the level.
func (t Trend) Drift() float64 {
	if t.Slope == 0 {
		return 0
	}
	return t.Slope * float64(t.Count-1) / t.Level
}

// Grows reports whether the growth is significant and over the whole time exceeds a share of the
// level.
func (t Trend) Grows(share float64) bool { return t.Low > 0 && t.Drift() > share }

// String formats the slope with its interval.
func (t Trend) String() string { return fmt.Sprintf("%.3g [%.3g, %.3g]", t.Slope, t.Low, t.High) }

// medianSorted of sorted values.
func medianSorted(sorted []float64) float64 {
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
