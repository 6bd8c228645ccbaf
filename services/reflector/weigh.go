package reflector

import (
	"cmp"
	"slices"

	"github.com/triplemesh/triplemesh/internal/kgtext"
)

// weightedPath is a relation path with its score and verdicts combined.
type weightedPath struct {
	*kgtext.PathGroup
	weight float32
}

// weigh chooses answers without a model call. A small model names one end of a relation path if the
// question asks for all of them, and reflects no better; but its plan ranks the paths well, and its
// verdict on an answer is evidence about the path that leads there. So relation paths are weighed
// by their score and the verdicts on their ends, and all ends of the paths within Margin of the
// best are answers, best path first.
//
// Without scores paths cannot be compared: then the verdicts alone decide.
func (r *Reflector) weigh(c Case, groups []*kgtext.PathGroup) []string {
	scored := make([]weightedPath, 0, len(groups))
	scoresKnown := false
	for _, g := range groups {
		scoresKnown = scoresKnown || g.Score != 0
		scored = append(scored, weightedPath{g, g.Score + r.cfg.VerdictWeight*meanVerdict(c, g)})
	}
	if !scoresKnown {
		return answersByVerdict(c)
	}
	slices.SortStableFunc(scored, func(a, b weightedPath) int { return cmp.Compare(b.weight, a.weight) })
	var answers []string
	for _, g := range scored {
		if g.weight < scored[0].weight-r.cfg.Margin {
			break
		}
		answers = append(answers, g.Ends...) // bind takes each once
	}
	return answers
}

// meanVerdict is the mean probability of the verdicts on a path's ends less 0.5, -0.5 to 0.5; 0 if
// none was judged.
func meanVerdict(c Case, g *kgtext.PathGroup) float32 {
	var sum float32
	var judged int
	for _, end := range g.Ends {
		v := c.Verdicts[end]
		if v == nil || v.GetUnknown() {
			continue
		}
		judged++
		switch {
		case v.Probability != nil && v.GetProbability() >= 0 && v.GetProbability() <= 1:
			sum += v.GetProbability() - 0.5
		case v.GetCorrect():
			sum += 0.5
		default:
			sum -= 0.5
		}
	}
	if judged == 0 {
		return 0
	}
	return sum / float32(judged)
}
