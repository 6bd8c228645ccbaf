// Package confidence estimates the probability that the answers of a run are right, from its graphs
// and verdicts. It calls no model and reads no store.
//
// A logistic regression for each family of methods maps a few features of the run to a probability.
// Its weights are data, fitted on runs with known answers (see Fit), and carry their provenance.
// Weights are sign-constrained: a feature that supports an answer never lowers its confidence.
package confidence

import (
	_ "embed" // the weights
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"strings"

	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// Bounds of a confidence: a few hundred questions support nothing beyond them.
const (
	least = 0.01
	most  = 0.99
)

//go:embed weights.json
var embedded []byte

// Model holds the weights of all families.
type Model struct {
	// Families by name, as Families lists them.
	Families map[string]*Weights `json:"families"`
}

// Weights of one family.
type Weights struct {
	// Intercept is the log odds if every feature has its mean.
	Intercept float64 `json:"intercept"`
	// Features by name; a missing feature has no weight.
	Features map[string]Weight `json:"features"`
	// Provenance of the weights.
	Provenance Provenance `json:"provenance"`
}

// Weight of one feature.
type Weight struct {
	// Weight is the log odds per unit above the mean.
	Weight float64 `json:"weight"`
	// Mean over the fitted runs; the default for a run without the feature.
	Mean float64 `json:"mean"`
}

// Provenance describes the runs of a fit, and its quality.
type Provenance struct {
	// Model and Encoder of the runs.
	Model   string `json:"model"`
	Encoder string `json:"encoder"`
	// Questions are the question sets.
	Questions []string `json:"questions"`
	// Runs is the number of runs, Right the number with right answers.
	Runs  int `json:"runs"`
	Right int `json:"right"`
	// Date of the fit, ISO 8601.
	Date string `json:"date"`
	// CrossValidated is the quality of the fit on held-out runs.
	CrossValidated Quality `json:"cross_validated"`
}

// Quality measures how well confidences separate right answers from wrong ones.
type Quality struct {
	// Runs is the number of runs.
	Runs int `json:"runs"`
	// AUROC is the probability that a right answer has a higher confidence than a wrong one; 0.5 is
	// chance.
	AUROC float64 `json:"auroc"`
	// ECE is the expected calibration error: the mean distance of confidence and accuracy over ten
	// bins of equal width.
	ECE float64 `json:"ece"`
	// Brier is the mean squared error of the confidence. BrierBase is that of a constant confidence
	// equal to the accuracy.
	Brier     float64 `json:"brier"`
	BrierBase float64 `json:"brier_base"`
}

// Default returns the embedded model.
func Default() (*Model, error) { return parse(embedded, "the built-in weights of confidence") }

// Load reads a model from a file. Families missing there, or all for an empty name, come from the
// embedded model.
func Load(file string) (*Model, error) {
	m, err := Default()
	if err != nil || file == "" {
		return m, err
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the weights of confidence: %w", err)
	}
	own, err := parse(b, file)
	if err != nil {
		return nil, err
	}
	maps.Copy(m.Families, own.Families)
	return m, nil
}

func parse(b []byte, name string) (*Model, error) {
	m := &Model{}
	if err := json.Unmarshal(b, m); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := m.Check(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return m, nil
}

// Check rejects weights that would make confidences meaningless.
func (m *Model) Check() error {
	if len(m.Families) == 0 {
		return errors.New("it has no families: write it with `go run ./lab/confidence`")
	}
	for name, w := range m.Families {
		signs, known := families[name]
		if !known || w == nil {
			return fmt.Errorf("there is no family %q of methods; there are %s", name, strings.Join(Families(), ", "))
		}
		for feature, weight := range w.Features {
			sign, known := signs[feature]
			switch {
			case !known:
				return fmt.Errorf("the family %s has no feature %q", name, feature)
			case sign*weight.Weight < 0:
				return fmt.Errorf("the family %s: the weight of %s is %g, which turns its meaning round", name,
					feature, weight.Weight)
			}
		}
	}
	return nil
}

// Estimate returns the probability that the answers of a run are right, 0.01 to 0.99; nil if it has
// none or its family is unknown.
func (m *Model) Estimate(run *orchestratorv1.Run) *float32 {
	if g := run.GetQuery(); g != nil {
		return estimateQuery(run, g)
	}
	family, values := Features(run)
	w := m.Families[family]
	if w == nil {
		return nil
	}
	odds := w.logOdds(values)
	if strings.HasSuffix(family, Strong) {
		odds += logit(clamp(float64(readingShare(run)))) - logit(fittedShare)
	}
	c := float32(clamp(sigmoid(odds)))
	return &c
}

// fittedShare is the reading share of the runs that the families of strong readers were fitted on. By
// Bayes' rule, what a reader says who is right more often counts for more.
const fittedShare = 0.85

// readingShare is the share of the model's readings that are right, as far as the run knows.
func readingShare(run *orchestratorv1.Run) float32 {
	return max(run.GetPgAkv().GetReadingShare(), run.GetGer().GetReadingShare())
}

// Probability returns the probability that a run with these features is right, 0.01 to 0.99.
func (w *Weights) Probability(values map[string]float64) float64 {
	return clamp(sigmoid(w.logOdds(values)))
}

func (w *Weights) logOdds(values map[string]float64) float64 {
	odds := w.Intercept
	for name, feature := range w.Features {
		if v, ok := values[name]; ok {
			odds += feature.Weight * (v - feature.Mean)
		}
	}
	return odds
}

func clamp(probability float64) float64 { return min(most, max(least, probability)) }

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

func logit(p float64) float64 { return math.Log(p / (1 - p)) }
