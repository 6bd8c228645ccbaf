package bench

import "github.com/triplemesh/triplemesh/services/retriever/vector"

// recall returns the share of the k best that were found, counted with ties: a hit
// counts when its score is at least the k-th best of all, whichever of several
// equal rows it is.
func recall(found, best [][]vector.Hit) float64 {
	right, all := 0, 0
	for q := range best {
		all += len(best[q])
		if len(best[q]) == 0 {
			continue
		}
		least := best[q][len(best[q])-1].Score - sameScore
		for _, h := range found[q] {
			if h.Score >= least {
				right++
			}
		}
	}
	if all == 0 {
		return 0
	}
	return float64(right) / float64(all)
}

// sameScore is how far two ways of adding up the same products may differ.
const sameScore = 2e-6

// fromPeer makes hits of a peer's scores.
func fromPeer(scores [][]float32) [][]vector.Hit {
	hits := make([][]vector.Hit, len(scores))
	for q, list := range scores {
		for _, s := range list {
			hits[q] = append(hits[q], vector.Hit{Score: s})
		}
	}
	return hits
}
