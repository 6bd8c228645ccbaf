package dataset

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"slices"
	"strconv"
)

// Sample chooses n questions by a seed, or all of them where n is 0 or more
// than there are. The choice depends on the seed and the questions' ids alone:
// on no random number generator, no version of Go, and no order of the file.
//
// Questions are sorted by the SHA-256 sum of "<seed>\n<id>", the seed in
// decimal, and the first n are taken. So a smaller sample is the beginning of
// a larger one by the same seed, and a run can be extended by raising n.
func Sample(questions []Question, n int, seed int64) []Question {
	type draw struct {
		sum      [sha256.Size]byte
		question Question
	}
	prefix := strconv.FormatInt(seed, 10) + "\n"
	draws := make([]draw, len(questions))
	for i, q := range questions {
		draws[i] = draw{sha256.Sum256([]byte(prefix + q.ID)), q}
	}
	slices.SortFunc(draws, func(a, b draw) int {
		return cmp.Or(bytes.Compare(a.sum[:], b.sum[:]), cmp.Compare(a.question.ID, b.question.ID))
	})
	if n <= 0 || n > len(draws) {
		n = len(draws)
	}
	sample := make([]Question, n)
	for i := range sample {
		sample[i] = draws[i].question
	}
	return sample
}
