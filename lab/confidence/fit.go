package main

import (
	"fmt"
	"maps"
	"math"
	"slices"

	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/confidence"
)

// example is a run with known correctness.
type example struct {
	// ID of the question: cross-validation never splits the runs of one question.
	ID    string
	Run   *orchestratorv1.Run
	Right bool
}

// minExamples is the minimum number of runs of a family, with at least one right and one wrong.
const minExamples = 20

// ridge is the strength of the L2 penalty for each feature of a family: with n features a normal prior
// of variance 1/(n ridge) on each standardised one. It keeps the weights of separable runs finite.
// Of strengths of 1, 3 and 8 for the 19 features of triples the last had the least Brier score on
// held-out questions of every set (ADR 31).
const ridge = 0.4

// folds of the cross-validation.
const folds = 10

// fit fits the weights of each family with enough runs by logistic regression with an L2 penalty,
// and measures them by 10-fold cross-validation by question. from is the provenance to record;
// counts and quality are filled in. without are features to leave out. The order of the examples changes the result
// by rounding only.
//
// Runs without an answer are skipped. It is an error if no family has enough runs.
func fit(examples []example, from confidence.Provenance, without ...string) (*confidence.Model, error) {
	m := &confidence.Model{Families: map[string]*confidence.Weights{}}
	counts := map[string][2]int{}
	for _, name := range confidence.Families() {
		rows, right := rowsOf(name, examples, without...)
		counts[name] = [2]int{len(rows), right}
		if len(rows) < minExamples || right == 0 || right == len(rows) {
			continue
		}
		w := fitRows(name, rows)
		w.Provenance = from
		w.Provenance.Runs, w.Provenance.Right = len(rows), right
		w.Provenance.CrossValidated = crossValidate(name, rows)
		m.Families[name] = w
	}
	if len(m.Families) == 0 {
		return nil, fmt.Errorf("fit confidences: of every family at least %d runs with answers are needed, right "+
			"ones and wrong ones; there are, by family, [all right]: %v", minExamples, counts)
	}
	return m, nil
}

// row is an example with its features.
type row struct {
	id     string
	values map[string]float64
	right  float64
}

// rowsOf returns the examples of a family in a deterministic order, without some features.
func rowsOf(family string, examples []example, without ...string) (rows []row, right int) {
	for _, e := range examples {
		of, values := confidence.Features(e.Run)
		if of != family {
			continue
		}
		maps.DeleteFunc(values, func(name string, _ float64) bool { return slices.Contains(without, name) })
		rows = append(rows, row{e.ID, values, indicator(e.Right)})
		if e.Right {
			right++
		}
	}
	return rows, right
}

// fitRows fits the weights of a family. It drops features whose weight has the wrong sign and
// refits, so that the confidence is monotone in each feature.
func fitRows(family string, rows []row) *confidence.Weights {
	signs := confidence.Signs(family)
	names := slices.Sorted(maps.Keys(signs))
	means, spreads := moments(names, rows)
	names = slices.DeleteFunc(names, func(n string) bool { return spreads[n] == 0 })
	for {
		beta := newton(design(names, means, spreads, rows), rows)
		worst, at := 0.0, -1
		for i, name := range names {
			if v := signs[name] * beta[i+1]; v < worst {
				worst, at = v, i
			}
		}
		if at >= 0 {
			names = slices.Delete(names, at, at+1)
			continue
		}
		w := &confidence.Weights{Intercept: beta[0], Features: map[string]confidence.Weight{}}
		for i, name := range names {
			w.Features[name] = confidence.Weight{Weight: beta[i+1] / spreads[name], Mean: means[name]}
		}
		return w
	}
}

// moments returns mean and standard deviation of each feature over the runs that have it.
func moments(names []string, rows []row) (means, spreads map[string]float64) {
	means, spreads = map[string]float64{}, map[string]float64{}
	for _, name := range names {
		var n, sum, squares float64
		for _, r := range rows {
			if v, ok := r.values[name]; ok {
				n++
				sum += v
				squares += v * v
			}
		}
		if n == 0 {
			continue
		}
		mean := sum / n
		means[name] = mean
		if variance := squares/n - mean*mean; variance > 1e-9 {
			spreads[name] = math.Sqrt(variance)
		}
	}
	return means, spreads
}

// design returns the design matrix: 1, then the standardised features, 0 if missing.
func design(names []string, means, spreads map[string]float64, rows []row) [][]float64 {
	x := make([][]float64, len(rows))
	for i, r := range rows {
		x[i] = make([]float64, len(names)+1)
		x[i][0] = 1
		for j, name := range names {
			if v, ok := r.values[name]; ok {
				x[i][j+1] = (v - means[name]) / spreads[name]
			}
		}
	}
	return x
}

// newton maximises the penalised likelihood of a logistic regression (iteratively reweighted least
// squares) until no coefficient moves. The intercept has only a tiny penalty, which keeps the
// equations solvable.
func newton(x [][]float64, rows []row) []float64 {
	k := len(x[0])
	beta := make([]float64, k)
	penalty := ridge * float64(k-1)
	for range 100 {
		gradient := make([]float64, k)
		hessian := make([][]float64, k)
		for j := range hessian {
			hessian[j] = make([]float64, k)
			hessian[j][j] = 1e-6
			if j > 0 {
				hessian[j][j] += penalty
				gradient[j] = -penalty * beta[j]
			}
		}
		for i, line := range x {
			p := sigmoid(dot(line, beta))
			for j, a := range line {
				gradient[j] += a * (rows[i].right - p)
				for l, b := range line {
					hessian[j][l] += a * b * p * (1 - p)
				}
			}
		}
		step := solve(hessian, gradient)
		// Far from the optimum a full step may overshoot.
		if size := norm(step); size > 2 {
			for j := range step {
				step[j] *= 2 / size
			}
		}
		for j := range beta {
			beta[j] += step[j]
		}
		if norm(step) < 1e-10 {
			break
		}
	}
	return beta
}

// solve solves a x = b for a symmetric positive definite a by Cholesky decomposition, in place.
func solve(a [][]float64, b []float64) []float64 {
	n := len(b)
	for j := range n {
		for l := range j {
			a[j][j] -= a[j][l] * a[j][l]
		}
		a[j][j] = math.Sqrt(math.Max(a[j][j], 1e-12))
		for i := j + 1; i < n; i++ {
			for l := range j {
				a[i][j] -= a[i][l] * a[j][l]
			}
			a[i][j] /= a[j][j]
		}
	}
	for i := range n {
		for l := range i {
			b[i] -= a[i][l] * b[l]
		}
		b[i] /= a[i][i]
	}
	for i := n - 1; i >= 0; i-- {
		for l := i + 1; l < n; l++ {
			b[i] -= a[l][i] * b[l]
		}
		b[i] /= a[i][i]
	}
	return b
}

func dot(a, b []float64) (sum float64) {
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

func norm(v []float64) float64 { return math.Sqrt(dot(v, v)) }

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

func indicator(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
