package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/confidence"
)

// newExamples are runs of io whose words have a probability, right or wrong by right.
func newExamples(n int, right func(i int, p float64) bool) []example {
	draw := rand.New(rand.NewPCG(1, 2))
	var all []example
	for i := range n {
		p := draw.Float64()
		all = append(all, example{ID: fmt.Sprint(i), Right: right(i, p), Run: &orchestratorv1.Run{
			Answers: []*orchestratorv1.Answer{{Answer: "x"}}, AnswerProbability: new(float32(p)),
		}})
	}
	return all
}

func TestFit(t *testing.T) {
	draw := rand.New(rand.NewPCG(3, 4))
	for _, c := range []struct {
		name      string
		examples  []example
		low, high [2]float64 // bounds of the confidence at probabilities .1 and .9
		auroc     [2]float64
	}{
		{"runs that are right as often as the model says",
			newExamples(2000, func(_ int, p float64) bool { return draw.Float64() < p }),
			[2]float64{.05, .2}, [2]float64{.8, .95}, [2]float64{.8, .87}},
		{"separable runs have finite weights", newExamples(200, func(_ int, p float64) bool { return p > .5 }),
			[2]float64{.01, .05}, [2]float64{.95, .99}, [2]float64{.99, 1}},
		{"a probability that says the opposite counts for nothing",
			newExamples(500, func(_ int, p float64) bool { return p < .5 }),
			[2]float64{.45, .55}, [2]float64{.45, .55}, [2]float64{.3, .6}},
		{"chance", newExamples(500, func(i int, _ float64) bool { return i%4 == 0 }),
			[2]float64{.15, .35}, [2]float64{.15, .35}, [2]float64{.35, .6}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := fit(c.examples, confidence.Provenance{Model: "m"})
			if err != nil {
				t.Fatal(err)
			}
			w := m.Families[confidence.Own]
			low, high := w.Probability(map[string]float64{"probability": .1}),
				w.Probability(map[string]float64{"probability": .9})
			if low < c.low[0] || low > c.low[1] || high < c.high[0] || high > c.high[1] {
				t.Errorf("confidences %.3f and %.3f", low, high)
			}
			q := w.Provenance.CrossValidated
			if q.AUROC < c.auroc[0] || q.AUROC > c.auroc[1] || q.ECE > .1 || q.Runs != len(c.examples) ||
				w.Provenance.Model != "m" || w.Provenance.Runs != len(c.examples) {
				t.Errorf("%+v", w.Provenance)
			}
			if err := m.Check(); err != nil {
				t.Errorf("its own weights are refused: %v", err)
			}
			again, _ := fit(c.examples, confidence.Provenance{Model: "m"})
			if !reflect.DeepEqual(m, again) {
				t.Error("a second fit differs")
			}
			if got := measure(m, c.examples); len(got) != 1 || got[confidence.Own].Runs != len(c.examples) {
				t.Errorf("measured %v", got)
			}
		})
	}
}

func TestFitNeedsRightAndWrongRuns(t *testing.T) {
	for _, c := range []struct {
		name     string
		examples []example
	}{
		{"none", nil},
		{"too few", newExamples(19, func(i int, _ float64) bool { return i%2 == 0 })},
		{"all right", newExamples(50, func(int, float64) bool { return true })},
		{"all wrong", newExamples(50, func(int, float64) bool { return false })},
		{"runs without an answer", []example{{ID: "1", Run: &orchestratorv1.Run{}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if m, err := fit(c.examples, confidence.Provenance{}); err == nil || !strings.Contains(err.Error(),
				"right ones and wrong ones") {
				t.Errorf("got %v, %v", m, err)
			}
		})
	}
}

func TestGradientVanishesAtTheFit(t *testing.T) {
	examples := newExamples(300, func(i int, p float64) bool { return p+float64(i%3)/3 > .8 })
	rows, _ := rowsOf(confidence.Own, examples)
	means, spreads := moments([]string{"probability"}, rows)
	x := design([]string{"probability"}, means, spreads, rows)
	beta := newton(x, rows)
	gradient := []float64{0, -ridge * beta[1]}
	for i, line := range x {
		for j := range gradient {
			gradient[j] += line[j] * (rows[i].right - sigmoid(dot(line, beta)))
		}
	}
	if size := norm(gradient); size > 1e-3 {
		t.Errorf("the gradient is %g at %v", size, beta)
	}
}

func TestQuality(t *testing.T) {
	rows := []row{{right: 1}, {right: 0}, {right: 1}, {right: 0}}
	for _, c := range []struct {
		name        string
		confidences []float64
		want        confidence.Quality
	}{
		{"sure and right", []float64{.99, .01, .99, .01}, confidence.Quality{Runs: 4, AUROC: 1, ECE: .01, Brier: .0001,
			BrierBase: .25}},
		{"sure and wrong", []float64{.01, .99, .01, .99}, confidence.Quality{Runs: 4, AUROC: 0, ECE: .99, Brier: .9801,
			BrierBase: .25}},
		{"the base rate", []float64{.5, .5, .5, .5}, confidence.Quality{Runs: 4, AUROC: .5, ECE: 0, Brier: .25,
			BrierBase: .25}},
		{"a tie counts as half", []float64{.9, .5, .5, .1}, confidence.Quality{Runs: 4, AUROC: .875, ECE: .05,
			Brier: .13, BrierBase: .25}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := quality(c.confidences, rows); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
	if got := quality([]float64{.5}, rows[:1]).AUROC; !(got == .5) || math.IsNaN(got) {
		t.Errorf("one kind alone has an AUROC of %g", got)
	}
}

func TestAFeatureThatIsLeftOutHasNoWeight(t *testing.T) {
	examples := newExamples(200, func(_ int, p float64) bool { return p > .5 })
	examples = append(examples, example{ID: "two", Run: &orchestratorv1.Run{
		Answers: []*orchestratorv1.Answer{{Answer: "x"}, {Answer: "y"}}, AnswerProbability: new(float32(.4))}})
	all, err := fit(examples, confidence.Provenance{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := fit(examples, confidence.Provenance{}, "probability")
	if err != nil {
		t.Fatal(err)
	}
	weights, without := all.Families[confidence.Own].Features, m.Families[confidence.Own].Features
	if _, has := weights["probability"]; !has {
		t.Errorf("weights of all features: %v", weights)
	}
	if _, has := without["probability"]; has || len(without) == 0 {
		t.Errorf("weights without one: %v", without)
	}
}
