package sft

import (
	"slices"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

// maxPairs is the most right and wrong candidates of one scene that are judged
// alone.
const maxPairs = 4

// judgeSet teaches to judge a set of candidates: once all that is right and
// nothing else, once a set that lacks an answer or holds what is wrong. A
// recorded run's candidates are one of the two, if they were found on the paths
// that are shown.
func (s Settings) judgeSet(sc scene) ([]Example, error) {
	ends := sc.ends(s.Verdict.MaxGroups, s.Verdict.MaxEnds)
	right := sc.gold.differing(endNames(ends, true))
	whole, faulty := right, sc.faulty(right, endNames(ends, false))
	if judged := sc.candidates; len(judged) > 0 {
		if good, bad := sc.gold.split(judged); len(bad) > 0 || len(sc.gold.missing(right, good)) > 0 {
			faulty = judged
		} else {
			whole = judged
		}
	}
	if len(whole) == 0 || len(faulty) == 0 {
		return nil, nil
	}
	var examples []Example
	for _, set := range [][]string{whole, faulty} {
		prompt, err := s.Prompts.EvaluateQuestion(sc.question, newCandidates(set), sc.paths)
		if err != nil {
			return nil, err
		}
		good, bad := sc.gold.split(set)
		lacks := sc.gold.missing(right, good)
		text := verdictText(reason(good, bad, lacks), len(bad) == 0, len(lacks) > 0)
		examples = append(examples, example(EvaluateQuestion, sc.id, prompt, text, len(bad)+len(lacks) > 0))
	}
	return examples, nil
}

// faulty makes a set of candidates with something wrong: of the three ways to
// be so, one that the names allow. nil where they allow none.
func (s scene) faulty(right, wrong []string) []string {
	var ways []func() []string
	part := func() []string { return sampleNames(s.random, right, 1+s.random.IntN(len(right)-1)) }
	few := func() []string { return sampleNames(s.random, wrong, 1+s.random.IntN(min(3, len(wrong)))) }
	if len(right) > 1 {
		ways = append(ways, part)
	}
	if len(right) > 0 && len(wrong) > 0 {
		ways = append(ways, func() []string { return s.mixed(right, few()) })
		ways = append(ways, func() []string {
			if len(right) == 1 {
				return few()
			}
			return s.mixed(part(), few())
		})
	}
	if len(ways) == 0 {
		return nil
	}
	return ways[s.random.IntN(len(ways))]()
}

// mixed puts names together in any order.
func (s scene) mixed(a, b []string) []string {
	all := slices.Concat(a, b)
	s.random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// judgeAnswers teaches to judge a candidate by its own reasoning paths: as many
// wrong ones as right ones, none twice. A recorded run's candidates come first,
// and of these the ones that were misjudged.
func (s Settings) judgeAnswers(sc scene, taught map[string]bool) ([]Example, error) {
	var right, wrong []*end
	for _, e := range sc.rankEnds(sc.ends(s.Candidates.MaxGroups, s.Candidates.MaxEnds)) {
		switch {
		case taught[lesson(e)]:
		case e.right:
			right = append(right, e)
		default:
			wrong = append(wrong, e)
		}
	}
	pairs := min(len(right), len(wrong), maxPairs)
	var examples []Example
	for _, e := range slices.Concat(right[:pairs], wrong[:pairs]) {
		taught[lesson(e)] = true
		prompt, err := s.Prompts.EvaluateAnswer(sc.question, &graphv1.CandidateAnswer{Answer: e.name, Paths: e.paths})
		if err != nil {
			return nil, err
		}
		text := "no"
		if e.right {
			text = "yes"
		}
		examples = append(examples, example(EvaluateAnswer, sc.id, prompt, text, !e.right))
	}
	return examples, nil
}

// lesson returns the same key for ends that are reached alike.
func lesson(e *end) string { return e.name + "\x00" + kgtext.FormatPath(e.paths[0]) }

// rankEnds puts misjudged candidates first, then other candidates, then all else
// in any order, where wrong ends of relation paths that lead to an answer and
// ends of near misses take turns.
func (s scene) rankEnds(ends []*end) []*end {
	ends = slices.Clone(ends)
	s.random.Shuffle(len(ends), func(i, j int) { ends[i], ends[j] = ends[j], ends[i] })
	rank := map[*end]int{}
	turns := map[[2]bool]int{}
	for _, e := range ends {
		v, judged := s.verdicts[e.name]
		switch {
		case judged && !v.GetUnknown() && v.GetCorrect() != e.right:
			rank[e] = 0
		case slices.Contains(s.candidates, e.name):
			rank[e] = 1
		default:
			kind := [2]bool{e.right, e.near}
			rank[e] = 2 + turns[kind]
			turns[kind]++
		}
	}
	slices.SortStableFunc(ends, func(a, b *end) int { return rank[a] - rank[b] })
	return ends
}
