package onnx

import (
	"cmp"
	"math"
	"slices"
)

// maxBatch is how many texts are encoded together; more is no faster.
const maxBatch = 32

// plan puts texts of about one length together, so that little is padded, the
// longest first, so that cores finish together. A few texts are split over all
// cores too, into parts with about as many tokens each.
func plan(tokens [][]int64, workers int) [][]int {
	if len(tokens) == 0 {
		return nil
	}
	order := make([]int, len(tokens))
	total := 0
	for i := range order {
		order[i] = i
		total += len(tokens[i])
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(len(tokens[b]), len(tokens[a])) })

	parts := max(workers, (len(tokens)+maxBatch-1)/maxBatch)
	var batches [][]int
	from, done := 0, 0
	for i, text := range order {
		done += len(tokens[text])
		// A part ends where its share of the tokens is reached, or half of
		// the next text would be too much.
		next := 0
		if i+1 < len(order) {
			next = len(tokens[order[i+1]])
		}
		share := (len(batches) + 1) * total
		if i+1-from == maxBatch || i+1 == len(order) || (2*done+next)*parts > 2*share {
			batches = append(batches, order[from:i+1])
			from = i + 1
		}
	}
	return batches
}

// pool averages the hidden states of a text's tokens and scales the result to
// length 1 (Reimers and Gurevych 2019, §3, mean pooling).
func pool(hidden []float32, tokens, dims int) []float32 {
	vector := make([]float32, dims)
	for t := range tokens {
		for d, x := range hidden[t*dims : (t+1)*dims] {
			vector[d] += x
		}
	}
	var sum float64
	for _, x := range vector {
		sum += float64(x) * float64(x)
	}
	if sum > 0 {
		scale := float32(1 / math.Sqrt(sum))
		for d := range vector {
			vector[d] *= scale
		}
	}
	return vector
}
