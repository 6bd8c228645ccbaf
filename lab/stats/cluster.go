package stats

import (
	"math/rand/v2"
	"slices"
)

// cluster holds the values that share a subject.
type cluster struct{ sum, n float64 }

// group puts values together by their keys, in the order in which the keys come first. It returns nil
// if every value has a key of its own, or there are no keys.
func group(values []float64, keys []string) []cluster {
	var clusters []cluster
	place := make(map[string]int, len(keys))
	for i, key := range keys {
		at, seen := place[key]
		if !seen {
			at = len(clusters)
			place[key] = at
			clusters = append(clusters, cluster{})
		}
		clusters[at].sum += values[i]
		clusters[at].n++
	}
	if len(clusters) == len(values) {
		return nil
	}
	return clusters
}

// BootstrapClusters returns Bootstrap of values of which several share a subject: those of one key are
// drawn together (Davison and Hinkley, 1997, section 3.8), since they are no independent draws. Without
// keys, or with a key for each value, it is Bootstrap.
func BootstrapClusters(values []float64, keys []string, resamples int, seed int64) Interval {
	clusters := group(values, keys)
	if clusters == nil {
		return Bootstrap(values, resamples, seed)
	}
	i := BootstrapOf(len(clusters), resamples, seed, func(random *rand.Rand) float64 {
		var all cluster
		for j := range clusters {
			c := clusters[j]
			if random != nil {
				c = clusters[random.IntN(len(clusters))]
			}
			all.sum, all.n = all.sum+c.sum, all.n+c.n
		}
		return all.sum / all.n
	})
	i.N, i.Clusters = len(values), len(clusters)
	return i
}

// Holm corrects the p-values of several tests for their number (Holm, 1979): the chance that any test of
// true hypotheses is below a level is at most that level. They stay in their order.
func Holm(ps []float64) []float64 {
	order := make([]int, len(ps))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		switch {
		case ps[i] < ps[j]:
			return -1
		case ps[i] > ps[j]:
			return 1
		}
		return 0
	})
	corrected, above := make([]float64, len(ps)), 0.0
	for rank, i := range order {
		above = min(1, max(above, ps[i]*float64(len(ps)-rank)))
		corrected[i] = above
	}
	return corrected
}
