package reflector

import (
	"fmt"
	"strings"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	reflectorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/reflector/v1"
)

// applyVerdicts applies confident verdicts to the wanted answers. If none remains, the verdicts
// alone decide.
func (r *Reflector) applyVerdicts(c Case, wanted []string) []string {
	has := map[string]bool{}
	var answers []string
	for _, a := range wanted {
		if v := c.Verdicts[a]; has[a] || v != nil && v.Probability != nil && v.GetProbability() < r.cfg.DropBelow {
			continue
		}
		has[a] = true
		answers = append(answers, a)
	}
	for _, candidate := range c.Candidates {
		a := candidate.GetAnswer()
		if v := c.Verdicts[a]; !has[a] && v != nil && v.Probability != nil && v.GetProbability() >= r.cfg.KeepAbove {
			has[a] = true
			answers = append(answers, a)
		}
	}
	if len(answers) == 0 {
		answers = answersByVerdict(c)
	}
	return answers
}

// answersByVerdict returns the candidates judged right or, if there are none, the most probable
// one.
func answersByVerdict(c Case) []string {
	var right []string
	var best string
	var score float32
	for _, candidate := range c.Candidates {
		v := c.Verdicts[candidate.GetAnswer()]
		if v.GetCorrect() {
			right = append(right, candidate.GetAnswer())
		}
		if p := v.GetProbability(); best == "" || p > score {
			best, score = candidate.GetAnswer(), p
		}
	}
	if len(right) == 0 && best != "" {
		return []string{best}
	}
	return right
}

// decisions lists the decision on every candidate and the additions.
func decisions(c Case, answers []string, groups []*kgtext.PathGroup) []*reflectorv1.Reflection {
	final, candidates := map[string]bool{}, map[string]bool{}
	for _, a := range answers {
		final[a] = true
	}
	var out []*reflectorv1.Reflection
	for _, candidate := range c.Candidates {
		candidates[candidate.GetAnswer()] = true
		d := reflectorv1.Decision_DECISION_DROP
		if final[candidate.GetAnswer()] {
			d = reflectorv1.Decision_DECISION_KEEP
		}
		out = append(out, &reflectorv1.Reflection{Answer: candidate.GetAnswer(), Decision: d,
			Paths: candidate.GetPaths()})
	}
	for _, a := range answers {
		if candidates[a] {
			continue
		}
		added := &reflectorv1.Reflection{Answer: a, Decision: reflectorv1.Decision_DECISION_ADD}
		for _, g := range groups {
			for _, p := range g.Paths {
				if kgtext.PathEnd(p) == a {
					added.Paths = append(added.Paths, p)
				}
			}
		}
		out = append(out, added)
	}
	return out
}

// Reason summarises the decisions: "kept 1, dropped 1, added 1".
func Reason(s Outcome) string {
	byDecision := map[reflectorv1.Decision][]string{}
	for _, r := range s.Reflections {
		byDecision[r.GetDecision()] = append(byDecision[r.GetDecision()], r.GetAnswer())
	}
	var parts []string
	for _, d := range []struct {
		decision reflectorv1.Decision
		verb     string
	}{
		{reflectorv1.Decision_DECISION_KEEP, "kept"},
		{reflectorv1.Decision_DECISION_DROP, "dropped"},
		{reflectorv1.Decision_DECISION_ADD, "added"},
	} {
		if names := byDecision[d.decision]; len(names) > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", d.verb, len(names)))
		}
	}
	return strings.Join(parts, ", ")
}
