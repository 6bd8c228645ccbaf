package results

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"github.com/triplemesh/triplemesh/lab/dataset"
	"github.com/triplemesh/triplemesh/lab/score"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

func shows(t *testing.T, s Summary, key string, want float64) {
	t.Helper()
	got, applies := s.Figures[key]
	switch {
	case !applies:
		t.Errorf("%s does not apply, want %v", key, want)
	case math.Abs(got.Value-want) > 1e-12:
		t.Errorf("%s is %v, want %v", key, got.Value, want)
	case got.Low > got.Value || got.High < got.Value:
		t.Errorf("%s is %v, outside of its interval", key, got)
	}
}

func leavesOut(t *testing.T, s Summary, keys ...string) {
	t.Helper()
	for _, key := range keys {
		if got, applies := s.Figures[key]; applies {
			t.Errorf("%s is %v, want none", key, got)
		}
	}
}

func gerRecords() []Record {
	return []Record{
		{ID: "1", Measures: &Measures{
			Answered: true, Scores: score.Scores{Hit: 1, HitsAt1: 1, Precision: 1, Recall: 0.5, F1: 0.75,
				ExactMatch: 1},
			Graphs: Graphs{
				InPaths: new(true), InCandidates: new(true), PathEnds: new(10), Candidates: new(4),
				CandidateScores: &score.Scores{Hit: 1, F1: 0.5},
			},
			Cost: Cost{
				Calls: 6, CachedCalls: 2, PromptTokens: 900, CompletionTokens: 50, USD: 0.3,
				CachedPromptTokens: 400, CachedCompletionTokens: 20, Milliseconds: 1000,
			},
			Stages: map[string]Cost{"paths": {Calls: 1, PromptTokens: 100, Milliseconds: 700},
				"candidates": {CachedCalls: 1, Milliseconds: 3}},
		}},
		{ID: "2", Measures: &Measures{
			Answered: true, Graphs: Graphs{InPaths: new(true), PathEnds: new(30)},
			Cost:   Cost{Calls: 2, PromptTokens: 100, CompletionTokens: 10, Milliseconds: 3000},
			Stages: map[string]Cost{"paths": {Calls: 2, PromptTokens: 50, Milliseconds: 900}},
		}},
		{ID: "3", Measures: &Measures{Graphs: Graphs{InPaths: new(false), PathEnds: new(0)},
			Cost: Cost{Milliseconds: 2000}}},
		{ID: "4", Failure: &Failure{Code: "Internal"}},
	}
}

func TestSummaryCountsFailuresAsWrong(t *testing.T) {
	t.Parallel()
	s := Summarise(gerRecords(), false)
	if s.N != 4 || s.Failed != 1 {
		t.Errorf("n %d, failed %d", s.N, s.Failed)
	}
	for key, want := range map[string]float64{
		"hit": 0.25, "hits_at_1": 0.25, "precision": 0.25, "recall": 0.125, "f1": 0.1875, "exact_match": 0.25,
		"answer_in_paths": 0.5, "answer_in_candidates": 0.25, "hit_candidates": 0.25, "f1_candidates": 0.125,
	} {
		shows(t, s, key, want)
	}
}

func TestSummaryTakesMeansOverRunsThatCameToIt(t *testing.T) {
	t.Parallel()
	s := Summarise(gerRecords(), false)
	for key, want := range map[string]float64{
		"path_ends_per_question": 40.0 / 3, "candidates_per_question": 4, "calls_per_question": 8.0 / 3,
		"method_calls_per_question": 10.0 / 3, "method_tokens_per_question": (1370.0 + 110 + 0) / 3,
		"cached_calls_per_question": 2.0 / 3, "prompt_tokens_per_question": 1000.0 / 3,
		"completion_tokens_per_question": 20, "cost_usd_per_question": 0.1,
	} {
		shows(t, s, key, want)
	}
}

func TestSummaryLeavesOutTokensThatCachedCallsDoNotTell(t *testing.T) {
	t.Parallel()
	s := Summarise([]Record{
		{ID: "1", Measures: &Measures{Cost: Cost{CachedCalls: 2}}},
		{ID: "2", Measures: &Measures{Cost: Cost{Calls: 1, PromptTokens: 7}}},
	}, false)
	shows(t, s, "method_tokens_per_question", 7)
	leavesOut(t, Summarise([]Record{{ID: "1", Measures: &Measures{Cost: Cost{CachedCalls: 2}}}}, false),
		"method_tokens_per_question")
}

func TestSummaryTakesTimesOfRunsWithoutCachedCalls(t *testing.T) {
	t.Parallel()
	s := Summarise(gerRecords(), false)
	shows(t, s, "p50_ms", 2000) // of 2000 and 3000: the run of 1000 had cached calls
	shows(t, s, "p95_ms", 3000)
}

func TestSummaryLeavesOutWhatDoesNotApply(t *testing.T) {
	t.Parallel()
	leavesOut(t, Summarise(gerRecords(), false), "answer_in_hits", "answer_in_ground", "answer_in_fixed",
		"triples_in_ground_per_question", "rouge_l", "abstained", "edits_right_per_question")
}

func TestSummaryOfStoppedRunsHasNoScores(t *testing.T) {
	t.Parallel()
	records := gerRecords()[2:3]
	s := Summarise(records, true)
	leavesOut(t, s, "hit", "f1")
	shows(t, s, "answer_in_paths", 0)

	records[0].Measures.Answered = true // stopped after the stage that answers
	shows(t, Summarise(records, true), "hit", 0)
}

func TestSummaryOfNothingButFailuresHasNoMeans(t *testing.T) {
	t.Parallel()
	s := Summarise(gerRecords()[3:], false)
	shows(t, s, "hit", 0)
	leavesOut(t, s, "calls_per_question", "p50_ms", "answer_in_paths")
	if len(s.Stages) > 0 {
		t.Errorf("stages %v", s.Stages)
	}
}

func TestSummaryScoresOpenQuestionsByRougeAlone(t *testing.T) {
	t.Parallel()
	s := Summarise([]Record{
		{ID: "1", Kind: dataset.Open, Measures: &Measures{Answered: true, Scores: score.Scores{RougeL: 0.5}}},
		{ID: "2", Kind: dataset.Open, Failure: &Failure{}},
	}, false)
	shows(t, s, "rouge_l", 0.25)
	leavesOut(t, s, "hit", "f1", "exact_match")
}

func TestSummaryOfStagesIsInTheOrderOfAQuestion(t *testing.T) {
	t.Parallel()
	s := Summarise(gerRecords(), false)
	if len(s.Stages) != 2 || s.Stages[0].Name != "paths" || s.Stages[1].Name != "candidates" {
		t.Fatalf("got %+v", s.Stages)
	}
	paths, candidates := s.Stages[0], s.Stages[1]
	if paths.Runs != 2 || paths.Calls != 1.5 || paths.PromptTokens != 75 || *paths.P50 != 700 || *paths.P95 != 900 {
		t.Errorf("paths %+v", paths)
	}
	if candidates.Runs != 1 || candidates.CachedCalls != 1 || candidates.P50 != nil {
		t.Errorf("candidates %+v: a stage from the cache has no time", candidates)
	}
}

func TestEveryStageHasItsPlace(t *testing.T) {
	t.Parallel()
	s := stageNames()
	if len(slices.Compact(slices.Sorted(slices.Values(s)))) != len(stagesOfTheContract()) {
		t.Errorf("%v are not the %d stages of the contract", s, len(stagesOfTheContract()))
	}
}

func TestSummaryHasTheKeysThatProgramsRead(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(Summarise(gerRecords(), false))
	if err != nil {
		t.Fatal(err)
	}
	var summary struct {
		N, Errors int
		Hit       *Interval
		Hits      *Interval `json:"answer_in_hits"`
		Stages    map[string]struct{ Calls float64 }
	}
	if err := json.Unmarshal(text, &summary); err != nil {
		t.Fatal(err)
	}
	if summary.N != 4 || summary.Errors != 1 || summary.Hit == nil || summary.Hit.Value != 0.25 ||
		summary.Hits != nil || summary.Stages["paths"].Calls != 1.5 {
		t.Errorf("got %s", text)
	}
	var keys map[string]any
	if err := json.Unmarshal(text, &keys); err != nil {
		t.Fatal(err)
	}
	if got, want := len(keys), len(Figures())+3; got != want {
		t.Errorf("%d keys, want %d: those of all figures, applying or not, n, errors and stages", got, want)
	}
}

func TestIntervalOfAQuantileIsThatOfTheBootstrap(t *testing.T) {
	t.Parallel()
	values := make([]float64, 100)
	for i := range values {
		values[i] = float64(i + 1)
	}
	for _, c := range []struct {
		name string
		p    float64
		want Interval
	}{
		// Drawing 40,000 resamples gives the same bounds.
		{"the median of 1 to 100", 0.50, Interval{50, 40, 60}},
		{"the 95th percentile of 1 to 100", 0.95, Interval{95, 89, 98}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := quantileInterval(values, c.p); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
	if got := quantileInterval([]float64{7}, 0.95); got != (Interval{7, 7, 7}) {
		t.Errorf("of one value: %v", got)
	}
}

func stagesOfTheContract() []int32 {
	var out []int32
	for number := range orchestratorv1.Stage_name {
		if number != 0 {
			out = append(out, number)
		}
	}
	return out
}

func BenchmarkSummarise(b *testing.B) {
	records := make([]Record, 0, 10_000)
	for len(records) < cap(records) {
		records = append(records, gerRecords()[:3]...)
	}
	for b.Loop() {
		Summarise(records, false)
	}
}
