// Package trend tells whether a measure grows over time, or only varies.
package trend

import (
	"fmt"
	"math"
	"slices"
)

// z95 is how many standard deviations bound 95 % of a normal distribution.
const z95 = 1.96

// Trend is how a measure that was taken at even distances changes from one to
// the next: the median of the slopes between all pairs (Theil and Sen), which
// single outliers do not move, and the interval that holds the true one with 95
// % (Sen 1968, by the variance of Kendall's S). It takes measures to vary
// independently of each other.
type Trend struct {
	Slope, Low, High float64
	// Level is the median of the measures.
	Level float64
	// Count is how many there are.
	Count int
}

// Of finds the trend of at least four measures. Fewer say nothing: their
// interval is everything.
func Of(values []float64) Trend {
	t := Trend{Count: len(values), Low: math.Inf(-1), High: math.Inf(1)}
	if t.Count == 0 {
		return t
	}
	t.Level = median(slices.Sorted(slices.Values(values)))
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
	t.Slope = median(slopes)
	half := z95 * math.Sqrt(variance(values))
	pairs := float64(len(slopes))
	t.Low = slopes[max(0, int(math.Floor((pairs-half)/2)))]
	t.High = slopes[min(len(slopes)-1, int(math.Ceil((pairs+half)/2)))]
	return t
}

// variance of Kendall's S, with equal measures taken into account.
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

// Drift is by how much the measure changed from the first to the last, as a
// share of its level.
func (t Trend) Drift() float64 {
	if t.Slope == 0 {
		return 0
	}
	return t.Slope * float64(t.Count-1) / t.Level
}

// Grows says that the measure grows: that is beyond chance, and over all of the
// time more than a share of its level.
func (t Trend) Grows(share float64) bool { return t.Low > 0 && t.Drift() > share }

// String is the slope with its interval.
func (t Trend) String() string { return fmt.Sprintf("%.3g [%.3g, %.3g]", t.Slope, t.Low, t.High) }

// median of sorted values.
func median(sorted []float64) float64 {
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
