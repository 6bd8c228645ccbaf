package stats

import (
	"math"
	"slices"
)

// Percentile returns the p-th percentile of values by the nearest rank, p from 0 to
// 100: the smallest of them that at least p % are not above. It is always one
// of the values, 0 if there are none. The order of values does not matter
// and is left as it is.
func Percentile(values []float64, p float64) float64 {
	if len(values) == 0 {
		return 0
	}
	return nearestRank(slices.Sorted(slices.Values(values)), p)
}

// nearestRank returns Percentile of at least one value in rising order.
func nearestRank(sorted []float64, p float64) float64 {
	// The product is exact for whole percentiles, the quotient rounds right.
	rank := int(math.Ceil(p * float64(len(sorted)) / 100))
	return sorted[min(max(rank, 1), len(sorted))-1]
}
