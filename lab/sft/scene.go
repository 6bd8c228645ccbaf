package sft

import (
	"math/rand/v2"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

// scene is what the stages see of a question: reasoning paths, and, where it is
// of a recorded run, what they made of them.
type scene struct {
	question, id string
	gold         gold
	paths        []*graphv1.ReasoningPath
	// candidates and verdicts are a recorded run's, the verdicts by answer.
	candidates []string
	verdicts   map[string]*graphv1.AnswerVerdict
	verdict    *graphv1.QuestionVerdict
	random     *rand.Rand
}

// newScene lays out what the knowledge graph holds: where the plans lead, among
// relation paths that resemble the question, in any order. Those that lead to
// no answer are the near misses.
func newScene(s scene, k evidence, shown int) scene {
	var groups []*kgtext.PathGroup
	seen := map[*kgtext.PathGroup]bool{}
	add := func(some []*kgtext.PathGroup) {
		for _, g := range some {
			if !seen[g] && len(groups) < shown {
				seen[g] = true
				groups = append(groups, g)
			}
		}
	}
	for _, p := range k.plans {
		add(p.groups)
	}
	add(k.near)
	s.random.Shuffle(len(groups), func(i, j int) { groups[i], groups[j] = groups[j], groups[i] })
	for _, g := range groups {
		s.paths = append(s.paths, g.Paths...)
	}
	return s
}

// end is where reasoning paths lead.
type end struct {
	name  string
	paths []*graphv1.ReasoningPath
	right bool
	// near says that it is on no relation path that leads to an answer.
	near bool
}

// ends returns those that a prompt shows which has so many relation paths, with so
// many ends each.
func (s scene) ends(maxGroups, maxEnds int) []*end {
	var ends []*end
	byName := map[string]*end{}
	groups := kgtext.GroupPaths(s.paths)
	for _, g := range groups[:min(len(groups), maxGroups)] {
		right, _ := s.gold.split(g.Ends)
		for _, name := range g.Ends[:min(len(g.Ends), maxEnds)] {
			e := byName[name]
			if e == nil {
				e = &end{name: name, right: s.gold.contains(name), near: true}
				byName[name] = e
				ends = append(ends, e)
			}
			e.near = e.near && len(right) == 0
		}
		for _, p := range g.Paths {
			if e := byName[kgtext.PathEnd(p)]; e != nil {
				e.paths = append(e.paths, p)
			}
		}
	}
	return ends
}

// endNames returns the names of right ends, or of wrong ones.
func endNames(ends []*end, right bool) []string {
	var names []string
	for _, e := range ends {
		if e.right == right {
			names = append(names, e.name)
		}
	}
	return names
}

func newCandidates(names []string) []*graphv1.CandidateAnswer {
	candidates := make([]*graphv1.CandidateAnswer, len(names))
	for i, name := range names {
		candidates[i] = &graphv1.CandidateAnswer{Answer: name}
	}
	return candidates
}

// sampleNames draws n names, in the order they have.
func sampleNames(random *rand.Rand, names []string, n int) []string {
	drawn := map[int]bool{}
	for _, i := range random.Perm(len(names))[:min(n, len(names))] {
		drawn[i] = true
	}
	var kept []string
	for i, name := range names {
		if drawn[i] {
			kept = append(kept, name)
		}
	}
	return kept
}
