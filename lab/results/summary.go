package results

import (
	"encoding/json"
	"slices"
)

// Summary is what an evaluation comes to.
type Summary struct {
	// N is the number of questions.
	N int
	// Failed is how many of them failed.
	Failed int
	// Figures are the figures by key. One that does not apply is not there: of
	// a stage that the method does not have or was not let come to, the scores
	// of runs that were stopped before their answers, a mean over no runs.
	Figures map[string]Interval
	// Stages are the costs of the stages, in the order in which runs come to
	// them.
	Stages []StageSummary
}

// Summarise sums up the records of an evaluation. Stopped says that the runs
// were to end before their answers: then there are no scores, unless a run
// has an answer after all.
func Summarise(records []Record, stopped bool) Summary {
	s := Summary{N: len(records), Figures: make(map[string]Interval)}
	var runs []*Measures
	for _, r := range records {
		if r.Measures != nil {
			runs = append(runs, r.Measures)
		}
	}
	s.Failed = s.N - len(runs)
	for _, f := range Figures() {
		if f.come != nil && !(f.score && !stopped) && !slices.ContainsFunc(runs, f.come) {
			continue
		}
		var values []float64
		var keys []string
		for _, r := range records {
			if value, applies := f.Of(r); applies {
				values, keys = append(values, value), append(keys, r.ClusterKey())
			}
		}
		if len(values) > 0 {
			s.Figures[f.Key] = f.sumUp(values, keys)
		}
	}
	s.Stages = summariseStages(runs)
	return s
}

func (f Figure) sumUp(values []float64, keys []string) Interval {
	if f.Quantile > 0 {
		return quantileInterval(values, f.Quantile)
	}
	return meanInterval(values, keys)
}

// MarshalJSON writes every figure there is under its key, null if it does
// not apply, so that programs find the same keys in every summary.
func (s Summary) MarshalJSON() ([]byte, error) {
	out := map[string]any{"n": s.N, "errors": s.Failed}
	for _, f := range Figures() {
		out[f.Key] = nil
		if interval, applies := s.Figures[f.Key]; applies {
			out[f.Key] = interval
		}
	}
	stages := make(map[string]StageSummary)
	for _, stage := range s.Stages {
		stages[stage.Name] = stage
	}
	out["stages"] = stages
	return json.Marshal(out)
}
