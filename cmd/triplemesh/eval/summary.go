package eval

import (
	"math"
	"slices"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/eval/score"
)

// Summary is what an evaluation comes to. A figure that does not apply is nil,
// null in JSON: a stage that the method does not have or was not let come to,
// the scores of a run that was stopped before its answer, a mean over no runs.
//
// Scores and shares are over all questions: one that failed counts as wrong,
// with its answer in none of the graphs. Means are over the runs that came to
// the stage, or over all runs for costs, so that a failure makes no method look
// cheap.
type Summary struct {
	// N is the number of questions.
	N int `json:"n"`
	// Hit is the share of questions with a right answer among the answers
	// given. Papers call it "Hits@1".
	Hit *float64 `json:"hit"`
	// HitsAt1 is the share whose first answer is right.
	HitsAt1 *float64 `json:"hits_at_1"`
	// Precision is the mean precision; see score.Scores.
	Precision *float64 `json:"precision"`
	// Recall is the mean recall.
	Recall *float64 `json:"recall"`
	// F1 is the mean of the questions' F1.
	F1 *float64 `json:"f1"`
	// AnswerInHits is the share of questions with a right answer in G_t.
	AnswerInHits *float64 `json:"answer_in_hits"`
	// AnswerInGround is the share with one in G_g.
	AnswerInGround *float64 `json:"answer_in_ground"`
	// AnswerInFixed is the share with one in G_f.
	AnswerInFixed *float64 `json:"answer_in_fixed"`
	// AnswerInPaths is the share with one among the path ends.
	AnswerInPaths *float64 `json:"answer_in_paths"`
	// AnswerInCandidates is the share with one among the candidates.
	AnswerInCandidates *float64 `json:"answer_in_candidates"`
	// HitCandidates is the Hit that the candidates alone would have: generation
	// with neither evaluation nor reflection.
	HitCandidates *float64 `json:"hit_candidates"`
	// F1Candidates is the F1 that the candidates alone would have.
	F1Candidates *float64 `json:"f1_candidates"`
	// TriplesInGround is the mean number of triples of G_g.
	TriplesInGround *float64 `json:"triples_in_ground_per_question"`
	// PathEnds is the mean number of distinct path ends.
	PathEnds *float64 `json:"path_ends_per_question"`
	// Candidates is the mean number of candidates.
	Candidates *float64 `json:"candidates_per_question"`
	// Calls is the mean number of calls that reached a model server.
	Calls *float64 `json:"calls_per_question"`
	// CachedCalls is the mean number of calls answered from the cache. Where it
	// is above 0, tokens and times are lower than they would be without one.
	CachedCalls *float64 `json:"cached_calls_per_question"`
	// PromptTokens is the mean number of tokens read by the model.
	PromptTokens *float64 `json:"prompt_tokens_per_question"`
	// CompletionTokens is the mean number of tokens written by the model.
	CompletionTokens *float64 `json:"completion_tokens_per_question"`
	// P50 is the median time of a run, in milliseconds.
	P50 *float64 `json:"p50_ms"`
	// P95 is the time that 95 % of the runs keep within, in milliseconds.
	P95 *float64 `json:"p95_ms"`
	// Errors is the number of questions that failed.
	Errors int `json:"errors"`
}

// Summarise sums up the records of an evaluation. Stopped says that the runs
// were to end before their answers: then there are no scores, unless a run
// has an answer after all.
func Summarise(records []Record, stopped bool) Summary {
	var runs []*Measures
	scored := !stopped
	for _, r := range records {
		if r.Measures != nil {
			runs = append(runs, r.Measures)
			scored = scored || r.Measures.Answered
		}
	}
	s := Summary{N: len(records), Errors: len(records) - len(runs)}
	if scored && s.N > 0 {
		perQuestion := func(pick func(score.Scores) float64) *float64 {
			sum := 0.0
			for _, m := range runs {
				sum += pick(m.Scores)
			}
			return new(sum / float64(s.N))
		}
		s.Hit = perQuestion(func(q score.Scores) float64 { return q.Hit })
		s.HitsAt1 = perQuestion(func(q score.Scores) float64 { return q.HitsAt1 })
		s.Precision = perQuestion(func(q score.Scores) float64 { return q.Precision })
		s.Recall = perQuestion(func(q score.Scores) float64 { return q.Recall })
		s.F1 = perQuestion(func(q score.Scores) float64 { return q.F1 })
	}
	s.AnswerInHits = share(runs, s.N, func(m *Measures) *bool { return m.InHits })
	s.AnswerInGround = share(runs, s.N, func(m *Measures) *bool { return m.InGround })
	s.AnswerInFixed = share(runs, s.N, func(m *Measures) *bool { return m.InFixed })
	s.AnswerInPaths = share(runs, s.N, func(m *Measures) *bool { return m.InPaths })
	s.AnswerInCandidates = share(runs, s.N, func(m *Measures) *bool { return m.InCandidates })
	s.HitCandidates, s.F1Candidates = candidatesAlone(runs, s.N)
	s.TriplesInGround = mean(runs, func(m *Measures) *int { return m.GroundTriples })
	s.PathEnds = mean(runs, func(m *Measures) *int { return m.PathEnds })
	s.Candidates = mean(runs, func(m *Measures) *int { return m.Candidates })
	s.Calls = mean(runs, func(m *Measures) *uint32 { return &m.Calls })
	s.CachedCalls = mean(runs, func(m *Measures) *uint32 { return &m.CachedCalls })
	s.PromptTokens = mean(runs, func(m *Measures) *uint64 { return &m.PromptTokens })
	s.CompletionTokens = mean(runs, func(m *Measures) *uint64 { return &m.CompletionTokens })
	s.P50, s.P95 = percentile(runs, 0.50), percentile(runs, 0.95)
	return s
}

// share is the share of n questions of which something is true; nil where no
// run came to it.
func share(runs []*Measures, n int, of func(*Measures) *bool) *float64 {
	found, come := 0, false
	for _, m := range runs {
		if b := of(m); b != nil {
			come = true
			if *b {
				found++
			}
		}
	}
	if !come {
		return nil
	}
	return new(float64(found) / float64(n))
}

// candidatesAlone is the Hit and the F1 over n questions that the candidates
// would have as answers; nil where no run came to candidates.
func candidatesAlone(runs []*Measures, n int) (hit, f1 *float64) {
	var hits, f1s float64
	come := false
	for _, m := range runs {
		if m.CandidateScores != nil {
			come = true
			hits += m.CandidateScores.Hit
			f1s += m.CandidateScores.F1
		}
	}
	if !come {
		return nil, nil
	}
	return new(hits / float64(n)), new(f1s / float64(n))
}

// mean is the mean over the runs that came to a figure; nil where none did.
func mean[T int | uint32 | uint64](runs []*Measures, of func(*Measures) *T) *float64 {
	sum, count := 0.0, 0
	for _, m := range runs {
		if figure := of(m); figure != nil {
			sum += float64(*figure)
			count++
		}
	}
	if count == 0 {
		return nil
	}
	return new(sum / float64(count))
}

// percentile is the nearest rank: the least time that a share p of the runs
// keep within.
func percentile(runs []*Measures, p float64) *float64 {
	if len(runs) == 0 {
		return nil
	}
	times := make([]float64, len(runs))
	for i, m := range runs {
		times[i] = m.Milliseconds
	}
	slices.Sort(times)
	return &times[int(math.Ceil(p*float64(len(times))))-1]
}
