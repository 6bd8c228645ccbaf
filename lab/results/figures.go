package results

import (
	"fmt"
	"slices"

	"github.com/triplemesh/triplemesh/lab/dataset"
	"github.com/triplemesh/triplemesh/lab/score"
)

// Unit is what a figure counts.
type Unit int

// The units.
const (
	// Share is between 0 and 1; tables show it in percent.
	Share Unit = iota
	// Amount is a number a question.
	Amount
	// Dollars are US dollars a question.
	Dollars
	// Milliseconds are what they say.
	Milliseconds
)

// Figure is one thing that evaluations are measured by.
type Figure struct {
	// Key names it in JSON.
	Key string
	// Title names it in tables.
	Title string
	// Note is what a reader must know of it; may be empty.
	Note string
	// Unit is what it counts.
	Unit Unit
	// Of is the figure of one question; false if it does not apply to the
	// question, which is then left out of the mean.
	Of func(Record) (value float64, applies bool)
	// Quantile is which quantile over the questions is taken, 0 to 1; where it
	// is 0, the mean is.
	Quantile float64
	// come reports whether a run came to what is measured: the figure does not
	// apply where none did. Nil is always.
	come func(*Measures) bool
	// score says that it applies where no run came to it too, unless they were
	// to stop before.
	score bool
}

// Figures returns all figures, in the order of tables.
//
// Scores and shares are over all questions asked: one that failed counts as
// wrong, with its answer in none of the graphs. Amounts and times are over the
// runs alone, so that a failure makes no method look cheap.
func Figures() []Figure {
	return []Figure{
		{Key: "f1", Title: "F1", score: true, come: isAnswered,
			Of: entityScore(func(s score.Scores) float64 { return s.F1 })},
		{Key: "hits_at_1", Title: "Hits@1", Note: "the first answer is right", score: true, come: isAnswered,
			Of: entityScore(func(s score.Scores) float64 { return s.HitsAt1 })},
		{Key: "hit", Title: "Hit", Note: `papers call it "Hits@1"`, score: true, come: isAnswered,
			Of: entityScore(func(s score.Scores) float64 { return s.Hit })},
		{Key: "precision", Title: "Precision", score: true, come: isAnswered,
			Of: entityScore(func(s score.Scores) float64 { return s.Precision })},
		{Key: "recall", Title: "Recall", score: true, come: isAnswered,
			Of: entityScore(func(s score.Scores) float64 { return s.Recall })},
		{Key: "rog_f1", Title: "F1 by RoG's formula", Note: "for comparison with published figures; can be above 1",
			score: true, come: isAnswered, Of: entityScore(func(s score.Scores) float64 { return s.RoG.F1 })},
		{Key: "exact_match", Title: "Exact match", score: true, come: isAnswered,
			Of: entityScore(func(s score.Scores) float64 { return s.ExactMatch })},
		{Key: "rouge_l", Title: "ROUGE-L F1", Note: "against the best reference", score: true,
			come: isAnswered, Of: rougeL},
		{Key: "hit_candidates", Title: "Hit of the candidates", Note: "without evaluation and reflection",
			come: hasCandidateScores,
			Of:   candidates(func(s score.Scores) float64 { return s.Hit })},
		{Key: "f1_candidates", Title: "F1 of the candidates", Note: "without evaluation and reflection",
			come: hasCandidateScores,
			Of:   candidates(func(s score.Scores) float64 { return s.F1 })},
		{Key: "grounded", Title: "Grounded", Note: "marked GROUNDED", come: isGrounded,
			Of: ofRun(func(m *Measures) (float64, bool) {
				return share(m.Grounded != nil && *m.Grounded), m.Grounded != nil
			})},
		{Key: "hits_at_1_grounded", Title: "Hits@1 of grounded", Note: "of those marked GROUNDED", come: isGrounded,
			Of: groundedHit},
		{Key: "refused", Title: "Refused", Note: "of the questions that no answer is right for",
			come: func(*Measures) bool { return true }, Of: refusal},
		{Key: "confident_wrong", Title: "Wrong although confident",
			Note: "not the exact answer, or not refused, at a confidence of 0.8 or more",
			come: func(m *Measures) bool { return m.Confidence != nil }, Of: confidentWrong},
		{Key: "abstained", Title: "Abstained", come: isAbstained,
			Of: ofRun(always(func(m *Measures) float64 { return share(m.Abstained) }))},
		{Key: "abstained_answerable", Title: "Abstained although answerable", come: isAbstained,
			Of: func(r Record) (float64, bool) {
				return share(r.Measures != nil && r.Measures.Abstained), r.Measures != nil && !r.Unanswerable
			}},

		{Key: "answer_in_hits", Title: "Answer in hits", come: func(m *Measures) bool { return m.InHits != nil },
			Of: graphHit(func(g Graphs) *bool { return g.InHits })},
		{Key: "answer_in_ground", Title: "Answer in ground graph",
			come: func(m *Measures) bool { return m.InGround != nil },
			Of:   graphHit(func(g Graphs) *bool { return g.InGround })},
		{Key: "answer_in_fixed", Title: "Answer in fixed graph",
			come: func(m *Measures) bool { return m.InFixed != nil },
			Of:   graphHit(func(g Graphs) *bool { return g.InFixed })},
		{Key: "answer_in_paths", Title: "Answer in reasoning paths",
			come: func(m *Measures) bool { return m.InPaths != nil },
			Of:   graphHit(func(g Graphs) *bool { return g.InPaths })},
		{Key: "recall_of_paths", Title: "Answers that paths lead to", Note: "share of all right answers",
			come: func(m *Measures) bool { return m.PathRecall != nil }, Of: recallOfPaths},
		{Key: "answer_in_candidates", Title: "Answer in candidates",
			come: func(m *Measures) bool { return m.InCandidates != nil },
			Of:   graphHit(func(g Graphs) *bool { return g.InCandidates })},

		{Key: "answers_per_question", Title: "Answers a question", Unit: Amount,
			Of: ofRun(func(m *Measures) (float64, bool) {
				if m.Answers == nil {
					return 0, false
				}
				return float64(*m.Answers), true
			})},
		{Key: "hits_per_question", Title: "Hits a question", Unit: Amount,
			Of: size(func(g Graphs) *int { return g.Hits })},
		{Key: "triples_in_ground_per_question", Title: "Ground triples a question", Unit: Amount,
			Of: size(func(g Graphs) *int { return g.GroundTriples })},
		{Key: "triples_in_fixed_per_question", Title: "Fixed triples a question", Unit: Amount,
			Of: size(func(g Graphs) *int { return g.FixedTriples })},
		{Key: "edits_right_per_question", Title: "Edits that mend a question", Unit: Amount,
			Of: size(func(g Graphs) *int { return g.EditsRight })},
		{Key: "edits_wrong_per_question", Title: "Edits that spoil a question", Unit: Amount,
			Of: size(func(g Graphs) *int { return g.EditsWrong })},
		{Key: "path_ends_per_question", Title: "Path ends a question", Unit: Amount,
			Of: size(func(g Graphs) *int { return g.PathEnds })},
		{Key: "candidates_per_question", Title: "Candidates a question", Unit: Amount,
			Of: size(func(g Graphs) *int { return g.Candidates })},

		{Key: "method_calls_per_question", Title: "Calls of the method a question", Note: "cached ones included",
			Unit: Amount, Of: ofRun(always(func(m *Measures) float64 { return float64(m.Calls + m.CachedCalls) }))},
		{Key: "method_tokens_per_question", Title: "Tokens of the method a question",
			Note: "read and written, those of cached calls included", Unit: Amount, Of: ofRun(methodTokens)},
		{Key: "calls_per_question", Title: "Calls a question", Note: "that reached a model; tokens, cost and times " +
			"are theirs", Unit: Amount, Of: ofRun(always(func(m *Measures) float64 { return float64(m.Calls) }))},
		{Key: "cached_calls_per_question", Title: "Cached calls a question", Unit: Amount,
			Of: ofRun(always(func(m *Measures) float64 { return float64(m.CachedCalls) }))},
		{Key: "prompt_tokens_per_question", Title: "Prompt tokens a question", Unit: Amount,
			Of: ofRun(always(func(m *Measures) float64 { return float64(m.PromptTokens) }))},
		{Key: "completion_tokens_per_question", Title: "Completion tokens a question", Unit: Amount,
			Of: ofRun(always(func(m *Measures) float64 { return float64(m.CompletionTokens) }))},
		{Key: "cost_usd_per_question", Title: "Cost a question", Unit: Dollars,
			Of: ofRun(always(func(m *Measures) float64 { return m.USD }))},
		{Key: "p50_ms", Title: "Median time", Unit: Milliseconds, Of: ofRun(timed), Quantile: 0.50},
		{Key: "p95_ms", Title: "95th percentile", Unit: Milliseconds, Of: ofRun(timed), Quantile: 0.95},
	}
}

func isAnswered(m *Measures) bool         { return m.Answered }
func isGrounded(m *Measures) bool         { return m.Grounded != nil && *m.Grounded }
func isAbstained(m *Measures) bool        { return m.Abstained }
func hasCandidateScores(m *Measures) bool { return m.CandidateScores != nil }

// refusal reports whether a question that no answer is right for was refused.
func refusal(r Record) (float64, bool) {
	return share(r.Measures != nil && r.Measures.Abstained), r.Unanswerable
}

// confident is the confidence from which on an answer should be right.
const confident = 0.8

// confidentWrong reports whether an answer that the run is confident of is wrong.
func confidentWrong(r Record) (float64, bool) {
	if r.Kind == dataset.Open {
		return 0, false
	}
	m := r.Measures
	return share(m != nil && !m.Abstained && m.Confidence != nil && *m.Confidence >= confident &&
		m.Scores.ExactMatch == 0), true
}

// groundedHit is whether the first answer is right, of the runs that mark theirs as grounded.
func groundedHit(r Record) (float64, bool) {
	if r.Kind == dataset.Open || r.Measures == nil || !isGrounded(r.Measures) {
		return 0, false
	}
	return r.Measures.Scores.HitsAt1, true
}

// entityScore returns a score of answers that are names: of all questions but open ones.
func entityScore(of func(score.Scores) float64) func(Record) (float64, bool) {
	return func(r Record) (float64, bool) {
		if r.Kind == dataset.Open || r.Unanswerable {
			return 0, false
		}
		if r.Measures == nil {
			return 0, true
		}
		return of(r.Measures.Scores), true
	}
}

func rougeL(r Record) (float64, bool) {
	if r.Kind != dataset.Open {
		return 0, false
	}
	if r.Measures == nil {
		return 0, true
	}
	return r.Measures.Scores.RougeL, true
}

// candidates returns a score that the candidates would have as answers. A run that
// did not come to candidates has none.
func candidates(of func(score.Scores) float64) func(Record) (float64, bool) {
	return func(r Record) (float64, bool) {
		if r.Measures == nil || r.Measures.CandidateScores == nil {
			return 0, r.Kind != dataset.Open
		}
		return of(*r.Measures.CandidateScores), r.Kind != dataset.Open
	}
}

// graphHit reports whether a right answer is in a graph; in one that a run did not
// come to there is none. The right answers of open questions are no entities.
func graphHit(of func(Graphs) *bool) func(Record) (float64, bool) {
	return func(r Record) (float64, bool) {
		if r.Measures == nil || of(r.Measures.Graphs) == nil {
			return 0, r.Kind != dataset.Open
		}
		return share(*of(r.Measures.Graphs)), r.Kind != dataset.Open
	}
}

func recallOfPaths(r Record) (float64, bool) {
	if r.Measures == nil || r.Measures.PathRecall == nil {
		return 0, r.Kind != dataset.Open
	}
	return *r.Measures.PathRecall, r.Kind != dataset.Open
}

func size(of func(Graphs) *int) func(Record) (float64, bool) {
	return ofRun(func(m *Measures) (float64, bool) {
		n := of(m.Graphs)
		if n == nil {
			return 0, false
		}
		return float64(*n), true
	})
}

func ofRun(of func(*Measures) (float64, bool)) func(Record) (float64, bool) {
	return func(r Record) (float64, bool) {
		if r.Measures == nil {
			return 0, false
		}
		return of(r.Measures)
	}
}

func always(of func(*Measures) float64) func(*Measures) (float64, bool) {
	return func(m *Measures) (float64, bool) { return of(m), true }
}

// timed leaves out the runs of which an answer came from the cache: how long
// they took says nothing of the method.
func timed(m *Measures) (float64, bool) { return m.Cost.Milliseconds, m.CachedCalls == 0 }

func methodTokens(m *Measures) (float64, bool) {
	tokens, known := m.AllTokens()
	return float64(tokens), known
}

func share(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// Format shows a value in the unit, as tables have it.
func (u Unit) Format(value float64) string {
	switch u {
	case Share:
		return fmt.Sprintf("%.1f %%", 100*value)
	case Dollars:
		return fmt.Sprintf("$%.4f", value)
	case Milliseconds:
		return fmt.Sprintf("%.2f s", value/1000)
	}
	return fmt.Sprintf("%.1f", value)
}

// IsOneOf reports whether its key is one of these.
func (f Figure) IsOneOf(keys []string) bool { return slices.Contains(keys, f.Key) }
