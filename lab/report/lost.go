package report

import (
	"github.com/triplemesh/triplemesh/lab/dataset"
	"github.com/triplemesh/triplemesh/lab/results"
)

// LossStep is something that a method makes on its way to an answer, after which the right one may be
// lost: the report draws it, the comparison of two evaluations names it.
type LossStep struct {
	// Key names it for programs.
	Key string
	// Title names it in plots and tables.
	Title string
	// Loss says, in a few words, that the answer was lost here.
	Loss string

	in func(results.Graphs) *bool
}

// The steps after which a right answer may be gone. Answer is the last one of
// every method.
var (
	Hits   = LossStep{"hits", "hits", "not found", func(g results.Graphs) *bool { return g.InHits }}
	Ground = LossStep{"ground", "ground graph", "pruned", func(g results.Graphs) *bool { return g.InGround }}
	Fixed  = LossStep{"fixed", "fixed graph", "edited out", func(g results.Graphs) *bool { return g.InFixed }}
	Paths  = LossStep{"paths", "reasoning paths", "no path to it",
		func(g results.Graphs) *bool { return g.InPaths }}
	Candidates = LossStep{"candidates", "candidates", "no candidate",
		func(g results.Graphs) *bool { return g.InCandidates }}
	Answer    = LossStep{"answer", "answered right", "answered wrong", nil}
	Abstained = LossStep{"abstained", "abstained", "abstained", nil}
	Failed    = LossStep{"failed", "failed", "failed", nil}
)

// LossSteps returns all steps, in the order in which questions come to them.
func LossSteps() []LossStep {
	return []LossStep{Hits, Ground, Fixed, Paths, Candidates, Abstained, Answer, Failed}
}

func graphs() []LossStep { return []LossStep{Hits, Ground, Fixed, Paths, Candidates} }

// IsRight reports whether a question was answered right: whether its Hit is 1. ok is
// false for open questions, whose answers are better or worse.
func IsRight(r results.Record) (right, ok bool) {
	if r.Kind == dataset.Open {
		return false, false
	}
	return r.Measures != nil && r.Measures.Scores.Hit > 0, true
}

// LostAt returns the step at which the right answer was lost: the one after the last
// graph that holds it, or the first if none does. ok is false where nothing
// was lost, and for open questions.
func LostAt(r results.Record) (at LossStep, ok bool) {
	right, judged := IsRight(r)
	switch {
	case !judged || right:
		return LossStep{}, false
	case r.Measures == nil:
		return Failed, true
	}
	steps := append(reachedSteps(r.Measures.Graphs), Answer)
	at = steps[0]
	for i, s := range steps {
		if s.in != nil && *s.in(r.Measures.Graphs) {
			at = steps[i+1]
		}
	}
	if at.Key == Answer.Key && r.Measures.Abstained {
		return Abstained, true
	}
	return at, true
}

func reachedSteps(g results.Graphs) []LossStep {
	var out []LossStep
	for _, s := range graphs() {
		if s.in(g) != nil {
			out = append(out, s)
		}
	}
	return out
}

// FunnelLevel is how many questions still have a right answer after a step.
type FunnelLevel struct {
	// Step is the step; its zero value stands for the questions asked.
	Step LossStep
	// Count is how many questions have a right answer there.
	Count int
	// Anew is how many of them did not have one at the step before.
	Anew int
}

// Funnel follows the questions of an evaluation from the first step to the
// right answers. Graphs that only some of the runs have are left out, and so are
// open questions; it is empty where nothing else is left.
func Funnel(records []results.Record) []FunnelLevel {
	var judged []results.Record
	runs := 0
	for _, r := range records {
		if r.Kind != dataset.Open {
			judged = append(judged, r)
			if r.Measures != nil {
				runs++
			}
		}
	}
	if len(judged) == 0 {
		return nil
	}
	levels := []FunnelLevel{{Count: len(judged)}}
	before := func(results.Record) bool { return true }
	level := func(s LossStep, holds func(results.Record) bool) {
		l := FunnelLevel{Step: s}
		for _, r := range judged {
			if holds(r) {
				l.Count++
				if !before(r) {
					l.Anew++
				}
			}
		}
		levels, before = append(levels, l), holds
	}
	for _, s := range graphs() {
		n := 0
		for _, r := range judged {
			if r.Measures != nil && s.in(r.Measures.Graphs) != nil {
				n++
			}
		}
		if 2*n > runs {
			level(s, func(r results.Record) bool {
				return r.Measures != nil && s.in(r.Measures.Graphs) != nil && *s.in(r.Measures.Graphs)
			})
		}
	}
	level(Answer, func(r results.Record) bool { right, _ := IsRight(r); return right })
	return levels
}
