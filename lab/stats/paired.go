package stats

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Comparison is how two methods differ on the same questions.
type Comparison struct {
	// Difference is the mean of a - b with its 95 % interval by the bootstrap.
	Difference Interval `json:"difference"`
	// Better, Same and Worse count the questions by a > b, a = b and a < b.
	Better int `json:"better"`
	Same   int `json:"same"`
	Worse  int `json:"worse"`
	// P is how likely a difference as large, either way, would be if both
	// methods were the same, 0 to 1: see SignFlip.
	P float64 `json:"p"`
	// Corrected is P corrected for the number of tests beside it: see Holm.
	Corrected float64 `json:"p_corrected"`
}

// Compare compares the scores of two methods on the same questions, a[i] and
// b[i] being those of one question. The test is SignFlip, which for scores of 0
// and 1, such as Hit, is McNemar's exact test. Differences with the same key, if there are keys, are
// resampled together and change their sign together.
func Compare(a, b []float64, keys []string, resamples int, seed int64) (Comparison, error) {
	p, err := SignFlip(a, b, resamples, seed)
	if err != nil {
		return Comparison{}, err
	}
	differences := make([]float64, len(a))
	c := Comparison{}
	for i := range a {
		differences[i] = a[i] - b[i]
		switch {
		case a[i] > b[i]:
			c.Better++
		case a[i] < b[i]:
			c.Worse++
		default:
			c.Same++
		}
	}
	if clusters := group(differences, keys); clusters != nil {
		sums := make([]float64, len(clusters))
		for i, cluster := range clusters {
			sums[i] = cluster.sum
		}
		if p, err = SignFlip(sums, make([]float64, len(sums)), resamples, seed); err != nil {
			return Comparison{}, err
		}
	}
	c.P, c.Corrected = p, p
	c.Difference = BootstrapClusters(differences, keys, resamples, seed)
	return c, nil
}

// McNemar returns the exact two-sided test of McNemar (1947) for two methods that
// are right or wrong on the same questions: only is the number of questions that
// the first alone has right, other the number that the second alone has right.
// It is the chance that fair coins part only + other questions at least as
// unevenly, 0 to 1; 1 if there are none.
func McNemar(only, other int) float64 {
	n, fewer := only+other, min(only, other)
	if fewer < 0 || 2*fewer == n {
		return 1
	}
	// Sum the smaller tail of the binomial distribution, in logarithms, for
	// 2^n is beyond a float64 from n = 1024 on.
	logN, _ := math.Lgamma(float64(n + 1))
	tail := 0.0
	for k := range fewer + 1 {
		logK, _ := math.Lgamma(float64(k + 1))
		logRest, _ := math.Lgamma(float64(n - k + 1))
		tail += math.Exp(logN - logK - logRest - float64(n)*math.Ln2)
	}
	return min(1, 2*tail)
}

// exactFlips is up to how many differences SignFlip tries every assignment of
// signs: 2^30, by way of two halves of 2^15.
const exactFlips = 30

// SignFlip tests by permutation (Fisher, 1935) whether the means of a and b
// differ, a[i] and b[i] being the scores of one question. If both methods were
// the same, every difference a[i] - b[i] could as well have the other sign: P
// is the share of all assignments of signs whose sum is at least as far from 0
// as the one seen. Small is significant.
//
// It is exact where at most 30 questions differ, and for any number of
// questions where all differ by the same amount, as scores of 0 and 1 do. Else
// it is estimated from so many random assignments, Resamples where resamples
// is 0 or less, the one seen counted among them, so that it is never 0.
//
// The error says that a and b are not scores of the same questions.
func SignFlip(a, b []float64, resamples int, seed int64) (p float64, err error) {
	if len(a) != len(b) {
		return 0, fmt.Errorf("compare two methods: %d scores of one and %d of the other; give those of the same "+
			"questions", len(a), len(b))
	}
	var differences []float64
	for i := range a {
		d := a[i] - b[i]
		if math.IsNaN(d) || math.IsInf(d, 0) {
			return 0, errors.New("compare two methods: a score is no number")
		}
		if d != 0 {
			differences = append(differences, d)
		}
	}
	if more, fewer, same := sameSize(differences); same {
		return McNemar(more, fewer), nil
	}
	if len(differences) <= exactFlips {
		return exactSignFlip(differences), nil
	}
	if resamples <= 0 {
		resamples = Resamples
	}
	return randomSignFlip(differences, resamples, seed), nil
}

// sameSize reports whether all differences are of one size, and counts those
// above and below 0.
func sameSize(differences []float64) (above, below int, same bool) {
	for _, d := range differences {
		if math.Abs(math.Abs(d)-math.Abs(differences[0])) > tolerance*math.Abs(d) {
			return 0, 0, false
		}
		if d > 0 {
			above++
		} else {
			below++
		}
	}
	return above, below, true
}

// tolerance is how far two sums of the same numbers may lie apart, relative to
// the sum of their sizes.
const tolerance = 1e-12

// bound returns the size from which on a sum counts as large as the one seen.
func bound(differences []float64) float64 {
	sum, size := 0.0, 0.0
	for _, d := range differences {
		sum += d
		size += math.Abs(d)
	}
	return math.Abs(sum) - tolerance*size
}

// exactSignFlip counts the pairs of a sum over the first half of differences
// and one over the second whose sum is as large as the one seen.
func exactSignFlip(differences []float64) float64 {
	seen := bound(differences)
	if seen <= 0 {
		return 1
	}
	middle := len(differences) / 2
	first, second := signedSums(differences[:middle]), signedSums(differences[middle:])
	slices.Sort(first)
	slices.Sort(second)
	// The higher x is, the more sums of the second half are high enough for
	// it, and the fewer are low enough.
	count, high, low := 0, len(second), len(second)
	for _, x := range first {
		for high > 0 && x+second[high-1] >= seen {
			high--
		}
		for low > 0 && x+second[low-1] > -seen {
			low--
		}
		count += len(second) - high + low
	}
	return float64(count) / (float64(len(first)) * float64(len(second)))
}

// signedSums returns the 2^n sums of n values with every assignment of signs.
func signedSums(values []float64) []float64 {
	sums := make([]float64, 1, 1<<len(values))
	for _, v := range values {
		for i := range sums {
			sums = append(sums, sums[i]-v)
			sums[i] += v
		}
	}
	return sums
}

func randomSignFlip(differences []float64, resamples int, seed int64) float64 {
	seen := bound(differences)
	flip := rand.NewPCG(uint64(seed), uint64(len(differences)))
	count := 1
	for range resamples {
		sum := 0.0
		for rest := differences; len(rest) > 0; rest = rest[min(64, len(rest)):] {
			bits := flip.Uint64()
			for _, d := range rest[:min(64, len(rest))] {
				sum += math.Float64frombits(math.Float64bits(d) ^ bits<<63)
				bits >>= 1
			}
		}
		if math.Abs(sum) >= seen {
			count++
		}
	}
	return float64(count) / float64(resamples+1)
}
