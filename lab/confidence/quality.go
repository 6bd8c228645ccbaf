package main

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"

	"github.com/triplemesh/triplemesh/services/orchestrator/confidence"
)

// measure returns the quality of a model on examples, by family; families without examples are
// left out.
func measure(m *confidence.Model, examples []example) map[string]confidence.Quality {
	out := map[string]confidence.Quality{}
	for family, w := range m.Families {
		rows, _ := rowsOf(family, examples)
		if len(rows) == 0 {
			continue
		}
		confidences := make([]float64, len(rows))
		for i, r := range rows {
			confidences[i] = w.Probability(r.values)
		}
		out[family] = quality(confidences, rows)
	}
	return out
}

// crossValidate gives every run a confidence by weights fitted without its question.
func crossValidate(family string, rows []row) confidence.Quality {
	confidences := make([]float64, len(rows))
	for fold := range folds {
		var train []row
		for _, r := range rows {
			if foldOf(r.id) != fold {
				train = append(train, r)
			}
		}
		if len(train) == len(rows) || len(train) == 0 {
			continue
		}
		w := fitRows(family, train)
		for i, r := range rows {
			if foldOf(r.id) == fold {
				confidences[i] = w.Probability(r.values)
			}
		}
	}
	return quality(confidences, rows)
}

// foldOf assigns a question to a fold, deterministically.
func foldOf(id string) int {
	sum := sha256.Sum256([]byte(id))
	return int(binary.BigEndian.Uint32(sum[:4]) % folds)
}

func quality(confidences []float64, rows []row) confidence.Quality {
	q := confidence.Quality{Runs: len(rows)}
	right := 0.0
	var bins [10]struct{ n, confidence, right float64 }
	for i, c := range confidences {
		b := &bins[min(9, int(c*10))]
		b.n++
		b.confidence += c
		b.right += rows[i].right
		right += rows[i].right
		q.Brier += (c - rows[i].right) * (c - rows[i].right)
	}
	n := float64(len(rows))
	for _, b := range bins {
		q.ECE += math.Abs(b.confidence-b.right) / n
	}
	q.Brier /= n
	q.BrierBase = right / n * (1 - right/n)
	q.AUROC = auroc(confidences, rows)
	for _, v := range []*float64{&q.AUROC, &q.ECE, &q.Brier, &q.BrierBase} {
		*v = math.Round(*v*1e4) / 1e4
	}
	return q
}

// auroc counts pairs of a right and a wrong run by ranks, ties as half.
func auroc(confidences []float64, rows []row) float64 {
	order := make([]int, len(rows))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		switch {
		case confidences[a] < confidences[b]:
			return -1
		case confidences[a] > confidences[b]:
			return 1
		}
		return 0
	})
	var won, right, wrong float64
	for i := 0; i < len(order); {
		var r, w float64
		c := confidences[order[i]]
		for ; i < len(order) && confidences[order[i]] == c; i++ {
			r += rows[order[i]].right
			w += 1 - rows[order[i]].right
		}
		won += r*wrong + r*w/2
		right, wrong = right+r, wrong+w
	}
	if right == 0 || wrong == 0 {
		return .5
	}
	return won / (right * wrong)
}
