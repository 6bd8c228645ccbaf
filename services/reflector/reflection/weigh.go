package reflection

import (
	"cmp"
	"slices"

	"github.com/triplemesh/triplemesh/internal/verbalise"
)

// weighed is a relation path with what speaks for it.
type weighed struct {
	*verbalise.PathGroup
	weight float32
}

// weigh settles answers with no model call. A small model names one end of a
// relation path where the question asks for them all, and reflects no better;
// but its plan ranks the paths well, and its verdict on an answer tells
// something of the path that leads there. So relation paths are weighed by
// their score and the verdicts on their ends, and all ends of those that come
// near the best are answers, best path first.
//
// Paths without scores say nothing against each other: then the verdicts alone
// decide.
func (r *Reflector) weigh(c Case, groups []*verbalise.PathGroup) []string {
	scored := make([]weighed, 0, len(groups))
	told := false
	for _, g := range groups {
		told = told || g.Score != 0
		scored = append(scored, weighed{g, g.Score + r.cfg.VerdictWeight*support(c, g)})
	}
	if !told {
		return byVerdict(c)
	}
	slices.SortStableFunc(scored, func(a, b weighed) int { return cmp.Compare(b.weight, a.weight) })
	var answers []string
	for _, g := range scored {
		if g.weight < scored[0].weight-r.cfg.Margin {
			break
		}
		answers = append(answers, g.Ends...) // bind takes each once
	}
	return answers
}

// support is what the verdicts on a path's ends say for it, -0.5 to 0.5: their
// mean probability less 0.5; 0 where none was judged.
func support(c Case, g *verbalise.PathGroup) float32 {
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
