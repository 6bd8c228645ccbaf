package reflector

import (
	"cmp"
	"math"
	"slices"

	"github.com/triplemesh/triplemesh/internal/kgtext"
)

// Bounds of the search for the set of answers.
const (
	// maxIntersected is the number of relation paths whose ends are intersected, maxUnited of which
	// two are united, maxSets the number of sets that are compared.
	maxIntersected, maxUnited, maxSets = 12, 4, 12
)

// hypothesis is a set of answers with its probability, up to a common factor.
type hypothesis struct {
	answers map[string]bool
	// order lists the answers in the order of their paths.
	order  []string
	weight float64
}

// newHypothesis returns a hypothesis that the distinct names among answers are right.
func newHypothesis(answers []string, weight float64) hypothesis {
	h := hypothesis{answers: make(map[string]bool, len(answers)), weight: weight}
	for _, a := range answers {
		if !h.answers[a] {
			h.answers[a] = true
			h.order = append(h.order, a)
		}
	}
	return h
}

// Expectation is a set of answers with the probability of each.
type Expectation struct {
	Answers       []string
	Probabilities []float32
}

// expectF1 chooses the answers with the highest expected F1. Each relation path with a probability is
// a hypothesis: that its ends are the answers. So is what the paths of two topic entities have in
// common, since a question with two entities asks for what both lead to, and what one path leads to
// whatever the directions of its relations. What the reader took for answers, and the verdicts, make
// the hypotheses that hold them likelier. It returns false without probabilities.
func (r *Reflector) expectF1(c Case, groups []*kgtext.PathGroup) (Expectation, bool) {
	hypotheses := r.hypotheses(c, groups)
	if len(hypotheses) == 0 {
		return Expectation{}, false
	}
	total, mass := 0.0, map[string]float64{}
	for _, h := range hypotheses {
		total += h.weight
		for a := range h.answers {
			mass[a] += h.weight
		}
	}
	best, highest := hypotheses[0], -1.0
	for _, set := range candidateSets(hypotheses) {
		expected := 0.0
		for _, h := range hypotheses {
			expected += h.weight * overlapF1(set.answers, h.answers)
		}
		if expected > highest+1e-9 {
			best, highest = set, expected
		}
	}
	e := Expectation{Answers: slices.Clone(best.order)}
	slices.SortStableFunc(e.Answers, func(a, b string) int { return cmp.Compare(mass[b], mass[a]) })
	for _, a := range e.Answers {
		e.Probabilities = append(e.Probabilities, float32(mass[a]/total))
	}
	return e, true
}

// hypotheses returns the sets that may be the answers, likeliest first.
func (r *Reflector) hypotheses(c Case, groups []*kgtext.PathGroup) []hypothesis {
	read := map[string]bool{}
	for _, candidate := range c.Candidates {
		read[candidate.GetAnswer()] = true
	}
	var all []hypothesis
	var topics, relations []string
	for _, g := range groups {
		if g.Probability == nil {
			continue
		}
		h := newHypothesis(g.Ends, float64(*g.Probability))
		agreed := 0
		for _, end := range h.order {
			if read[end] {
				agreed++
			}
		}
		if agreed > 0 {
			h.weight *= math.Exp(float64(r.cfg.ReadingWeight) * float64(agreed) / float64(len(read)))
		}
		h.weight *= math.Exp(2 * float64(r.cfg.ReadingWeight) * float64(meanVerdict(c, g)))
		all, topics, relations = append(all, h), append(topics, g.TopicEntity), append(relations, undirectedKey(g))
	}
	for i := range min(len(topics), maxIntersected) {
		for j := range i {
			if topics[i] == topics[j] {
				continue
			}
			if both := intersect(all[i], all[j]); len(both.order) > 0 &&
				len(both.order) < max(len(all[i].order), len(all[j].order)) {
				all = append(all, both)
			}
		}
	}
	all = append(all, uniteEqual(relations, all)...)
	if len(all) > 0 {
		all = append(all, r.reading(c, all)...)
	}
	slices.SortStableFunc(all, func(a, b hypothesis) int { return cmp.Compare(b.weight, a.weight) })
	return all
}

// undirectedKey is equal for paths of one topic entity that differ in the directions of their steps
// alone. Graphs hold many a relation in both directions, some pairs in one and some in the other.
func undirectedKey(g *kgtext.PathGroup) string {
	key := g.TopicEntity
	for _, s := range g.Steps {
		key += "\x00" + s.GetRelation()
	}
	return key
}

// uniteEqual returns the hypotheses that the answers of several with one key are right; keys are those
// of the first of all. One that is unlikely alone adds little: their weights are averaged geometrically.
func uniteEqual(keys []string, all []hypothesis) []hypothesis {
	var united []hypothesis
	for i, key := range keys {
		if slices.Contains(keys[:i], key) {
			continue
		}
		answers, logs, count := all[i].order, math.Log(all[i].weight), 1.0
		for j := i + 1; j < len(keys); j++ {
			if keys[j] == key {
				answers, logs, count = slices.Concat(answers, all[j].order), logs+math.Log(all[j].weight), count+1
				united = append(united, newHypothesis(answers, count*math.Exp(logs/count)))
			}
		}
	}
	return united
}

// reading is the hypothesis that the reader is right about the whole set.
func (r *Reflector) reading(c Case, others []hypothesis) []hypothesis {
	if len(c.Candidates) == 0 || r.cfg.ReadingShare <= 0 {
		return nil
	}
	answers := make([]string, len(c.Candidates))
	for i, candidate := range c.Candidates {
		answers[i] = candidate.GetAnswer()
	}
	total := 0.0
	for _, o := range others {
		total += o.weight
	}
	share := min(float64(r.cfg.ReadingShare), 0.99)
	return []hypothesis{newHypothesis(answers, total*share/(1-share))}
}

// intersect returns the answers that two paths have in common.
func intersect(a, b hypothesis) hypothesis {
	common := slices.DeleteFunc(slices.Clone(a.order), func(answer string) bool { return !b.answers[answer] })
	return newHypothesis(common, math.Sqrt(a.weight*b.weight))
}

// candidateSets returns the sets that may be answered: the likeliest hypotheses and the unions of two
// of the first.
func candidateSets(hypotheses []hypothesis) []hypothesis {
	sets := slices.Clone(hypotheses[:min(len(hypotheses), maxSets)])
	for i := range min(len(hypotheses), maxUnited) {
		for j := range i {
			sets = append(sets, newHypothesis(slices.Concat(hypotheses[j].order, hypotheses[i].order), 0))
		}
	}
	return sets
}

// overlapF1 is the F1 of a set of answers if another one is right.
func overlapF1(given, right map[string]bool) float64 {
	if len(given) > len(right) {
		given, right = right, given // it is symmetric: the smaller one is looked up
	}
	both := 0
	for a := range given {
		if right[a] {
			both++
		}
	}
	return 2 * float64(both) / float64(len(given)+len(right))
}
