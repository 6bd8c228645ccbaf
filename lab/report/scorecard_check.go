package report

import (
	"fmt"
	"strings"

	"github.com/triplemesh/triplemesh/lab/results"
)

// ThresholdCheck is a threshold with what the results say to it.
type ThresholdCheck struct {
	Threshold
	// Pass reports whether it is kept.
	Pass bool `json:"pass"`
	// Got is the figure with its interval; nil if it is not there.
	Got *results.Interval `json:"got"`
	// Problem says why there is no figure to compare; empty if there is one.
	Problem string `json:"problem,omitempty"`
}

// CheckThresholds holds every threshold against the results.
func CheckThresholds(thresholds []Threshold, evaluations []*Evaluation) []ThresholdCheck {
	out := make([]ThresholdCheck, len(thresholds))
	for i, t := range thresholds {
		out[i].Threshold = t
		e, problem := t.find(evaluations)
		if problem == "" {
			out[i].Got, problem = figure(e, t.Metric)
		}
		out[i].Problem = problem
		out[i].Pass = problem == "" && t.isMet(*out[i].Got)
	}
	return out
}

// find returns the evaluation that a threshold is for.
func (t Threshold) find(evaluations []*Evaluation) (found *Evaluation, problem string) {
	var dirs []string
	for _, e := range evaluations {
		if t.matches(e) {
			found = e
			dirs = append(dirs, e.Results.Dir)
		}
	}
	switch {
	case found == nil:
		return nil, "there are no results of it; evaluate it, or name the directory that holds them"
	case len(dirs) > 1:
		return nil, "several results fit it: " + strings.Join(dirs, ", ") +
			"; give fewer directories, or say kg or gold_entities"
	case found.Manifest().Asked > len(found.Records):
		return nil, fmt.Sprintf("its evaluation is not finished: %d of %d questions have been asked; run it to its end",
			len(found.Records), found.Manifest().Asked)
	}
	return found, ""
}

func (t Threshold) matches(e *Evaluation) bool {
	m := e.Manifest()
	return t.Dataset == m.Dataset.Name && t.Method == e.Name && (t.KG == "" || t.KG == m.KG) &&
		(t.GoldEntities == nil || *t.GoldEntities == m.GoldEntities)
}

// figure returns a figure of an evaluation by its key.
func figure(e *Evaluation, key string) (got *results.Interval, problem string) {
	exactly := func(n int) *results.Interval {
		return &results.Interval{Value: float64(n), Low: float64(n), High: float64(n)}
	}
	switch key {
	case "n":
		return exactly(e.Summary.N), ""
	case "errors":
		return exactly(e.Summary.Failed), ""
	}
	v, applies := e.Summary.Figures[key]
	if !applies {
		return nil, "its results have no " + key + ": the method does not come to it"
	}
	return &v, ""
}

// tolerance takes what a figure is written with, and no more, for nothing.
const tolerance = 1e-9

func (t Threshold) isMet(got results.Interval) bool {
	if t.AtLeast != nil {
		v := got.Value
		if t.Interval == "low" {
			v = got.Low
		}
		return v >= *t.AtLeast-tolerance
	}
	v := got.Value
	if t.Interval == "high" {
		v = got.High
	}
	return v <= *t.AtMost+tolerance
}
