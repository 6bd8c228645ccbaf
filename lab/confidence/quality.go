package main

import (
	"crypto/sha256"
	"encoding/binary"
	"math"

	"github.com/triplemesh/triplemesh/lab/stats"
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
	q := confidence.Quality{Runs: len(rows), AUROC: .5}
	judged := make([]stats.Judgement, len(rows))
	right := 0.0
	for i, r := range rows {
		judged[i] = stats.Judgement{Confidence: confidences[i], Right: r.right == 1}
		right += r.right
		q.Brier += (confidences[i] - r.right) * (confidences[i] - r.right)
	}
	n := float64(len(rows))
	q.Brier /= n
	q.BrierBase = right / n * (1 - right/n)
	q.ECE = stats.Calibrate(judged, 10).ECE
	if area, ok := stats.AUROC(judged); ok {
		q.AUROC = area
	}
	for _, v := range []*float64{&q.AUROC, &q.ECE, &q.Brier, &q.BrierBase} {
		*v = math.Round(*v*1e4) / 1e4
	}
	return q
}
