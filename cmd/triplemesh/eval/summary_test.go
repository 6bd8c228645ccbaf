package eval

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/eval/score"
)

func shows(t *testing.T, name string, got *float64, want float64) {
	t.Helper()
	switch {
	case got == nil:
		t.Errorf("%s is null, want %v", name, want)
	case *got != want:
		t.Errorf("%s is %v, want %v", name, *got, want)
	}
}

func isNull(t *testing.T, name string, got *float64) {
	t.Helper()
	if got != nil {
		t.Errorf("%s is %v, want null", name, *got)
	}
}

func gerRecords() []Record {
	return []Record{
		{ID: "1", Measures: &Measures{
			Answered: true, Scores: score.Scores{Hit: 1, HitsAt1: 1, Precision: 1, Recall: 0.5, F1: 0.75},
			InPaths: new(true), InCandidates: new(true), PathEnds: new(10), Candidates: new(4),
			CandidateScores: &score.Scores{Hit: 1, F1: 0.5},
			Calls:           6, CachedCalls: 2, PromptTokens: 900, CompletionTokens: 50, Milliseconds: 1000,
		}},
		{ID: "2", Measures: &Measures{
			Answered: true, InPaths: new(true), PathEnds: new(30),
			Calls: 2, PromptTokens: 100, CompletionTokens: 10, Milliseconds: 3000,
		}},
		{ID: "3", Measures: &Measures{InPaths: new(false), PathEnds: new(0), Milliseconds: 2000}},
		{ID: "4", Failure: &Failure{Code: "Internal"}},
	}
}

func TestSummaryCountsFailuresAsWrong(t *testing.T) {
	t.Parallel()
	s := Summarise(gerRecords(), false)
	if s.N != 4 || s.Errors != 1 {
		t.Errorf("n %d, errors %d", s.N, s.Errors)
	}
	shows(t, "hit", s.Hit, 0.25)
	shows(t, "hits_at_1", s.HitsAt1, 0.25)
	shows(t, "precision", s.Precision, 0.25)
	shows(t, "recall", s.Recall, 0.125)
	shows(t, "f1", s.F1, 0.1875)
	shows(t, "answer_in_paths", s.AnswerInPaths, 0.5)
	shows(t, "answer_in_candidates", s.AnswerInCandidates, 0.25)
	shows(t, "hit_candidates", s.HitCandidates, 0.25)
	shows(t, "f1_candidates", s.F1Candidates, 0.125)
}

func TestSummaryTakesMeansOverRunsThatCameToIt(t *testing.T) {
	t.Parallel()
	s := Summarise(gerRecords(), false)
	shows(t, "path_ends_per_question", s.PathEnds, 40.0/3)
	shows(t, "candidates_per_question", s.Candidates, 4)
	shows(t, "calls_per_question", s.Calls, 8.0/3)
	shows(t, "cached_calls_per_question", s.CachedCalls, 2.0/3)
	shows(t, "prompt_tokens_per_question", s.PromptTokens, 1000.0/3)
	shows(t, "completion_tokens_per_question", s.CompletionTokens, 20)
	shows(t, "p50_ms", s.P50, 2000)
	shows(t, "p95_ms", s.P95, 3000)
}

func TestSummaryIsNullWhereNothingApplies(t *testing.T) {
	t.Parallel()
	s := Summarise(gerRecords(), false)
	isNull(t, "answer_in_hits", s.AnswerInHits)
	isNull(t, "answer_in_ground", s.AnswerInGround)
	isNull(t, "answer_in_fixed", s.AnswerInFixed)
	isNull(t, "triples_in_ground_per_question", s.TriplesInGround)
}

func TestSummaryOfStoppedRunsHasNoScores(t *testing.T) {
	t.Parallel()
	records := gerRecords()[2:3]
	s := Summarise(records, true)
	isNull(t, "hit", s.Hit)
	isNull(t, "f1", s.F1)
	shows(t, "answer_in_paths", s.AnswerInPaths, 0)

	records[0].Measures.Answered = true // stopped after the stage that answers
	shows(t, "hit", Summarise(records, true).Hit, 0)
}

func TestSummaryOfNothingButFailuresHasNoMeans(t *testing.T) {
	t.Parallel()
	s := Summarise(gerRecords()[3:], false)
	shows(t, "hit", s.Hit, 0)
	isNull(t, "calls_per_question", s.Calls)
	isNull(t, "p50_ms", s.P50)
	isNull(t, "answer_in_paths", s.AnswerInPaths)
}

func TestSummaryHasTheKeysThatProgramsRead(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(Summarise(gerRecords(), false))
	if err != nil {
		t.Fatal(err)
	}
	var summary map[string]*float64
	if err := json.Unmarshal(text, &summary); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"n", "hit", "hits_at_1", "precision", "recall", "f1",
		"answer_in_hits", "answer_in_ground", "answer_in_fixed", "answer_in_paths", "answer_in_candidates",
		"path_ends_per_question", "candidates_per_question", "calls_per_question",
		"prompt_tokens_per_question", "completion_tokens_per_question", "p50_ms", "p95_ms",
		"hit_candidates", "f1_candidates", "triples_in_ground_per_question", "cached_calls_per_question", "errors",
	}
	for key := range summary {
		if !slices.Contains(want, key) {
			t.Errorf("key %s is not expected", key)
		}
	}
	for _, key := range want {
		if _, there := summary[key]; !there {
			t.Errorf("key %s is missing", key)
		}
	}
}

func TestPercentileIsTheNearestRank(t *testing.T) {
	t.Parallel()
	var runs []*Measures
	for ms := 20; ms >= 1; ms-- {
		runs = append(runs, &Measures{Milliseconds: float64(ms)})
	}
	shows(t, "p50 of 20", percentile(runs, 0.50), 10)
	shows(t, "p95 of 20", percentile(runs, 0.95), 19)
	shows(t, "p95 of 1", percentile(runs[:1], 0.95), 20)
}

func TestTable(t *testing.T) {
	t.Parallel()
	m := testManifest()
	m.Method, m.Snapshot, m.Dataset, m.GoldEntities, m.Options.Preset = "ger", 7, "data/webqsp.jsonl", true, "paper"
	var out bytes.Buffer
	if err := writeTable(&out, m, Summarise(gerRecords(), false)); err != nil {
		t.Fatal(err)
	}
	const want = `ger on wikidata@7, 4 questions of webqsp.jsonl by seed 1, gold entities, preset paper

Hit                           25.0 %  papers call it "Hits@1"
Hits@1                        25.0 %  the first answer is right
Precision                     25.0 %
Recall                        12.5 %
F1                            18.8 %
Hit of the candidates         25.0 %  without evaluation and reflection
F1 of the candidates          12.5 %  without evaluation and reflection
Answer in path ends           50.0 %
Answer in candidates          25.0 %
Path ends a question          13.3
Candidates a question         4.0
Calls a question              2.7
Cached calls a question       0.7     tokens and times are those of the other calls
Prompt tokens a question      333.3
Completion tokens a question  20.0
Median time                   2.00 s
95th percentile               3.00 s
Failed questions              1       counted as wrong; the same command asks them again
`
	if got := out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
