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

// maxElasticity bounds the share by which a measure grows where the reference work takes one per cent longer.
const maxElasticity = 2

// AtOnePace returns what values would be at the median pace of the machine: paces say how long the reference work took
// at each. A measure changes at least as the reference does, and by as much more as it does apart from any trend.
func AtOnePace(values, paces []float64) []float64 {
	logs := func(of []float64) (all []float64) {
		for _, v := range of {
			all = append(all, math.Log(v))
		}
		return all
	}
	logPaces := logs(paces)
	x, y := withoutTrend(logPaces), withoutTrend(logs(values))
	var shared, own float64
	for i := range x {
		shared, own = shared+x[i]*y[i], own+x[i]*x[i]
	}
	elasticity := 1.0
	if own > 0 {
		elasticity = min(max(shared/own, 1), maxElasticity)
	}
	level := medianSorted(slices.Sorted(slices.Values(logPaces)))
	var atOnce []float64
	for i, v := range values {
		atOnce = append(atOnce, v*math.Exp(elasticity*(level-logPaces[i])))
	}
	return atOnce
}

// withoutTrend returns the distances of values from their line of least squares.
func withoutTrend(values []float64) []float64 {
	var mean, slope, spread float64
	middle := float64(len(values)-1) / 2
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for i, v := range values {
		slope, spread = slope+(float64(i)-middle)*(v-mean), spread+(float64(i)-middle)*(float64(i)-middle)
	}
	left := make([]float64, len(values))
	for i, v := range values {
		left[i] = v - mean - slope/max(spread, 1)*(float64(i)-middle)
	}
	return left
}

// medianSorted of sorted values.
func medianSorted(sorted []float64) float64 {
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
