package sft

import (
	"slices"
	"strings"

	"github.com/triplemesh/triplemesh/lab/dataset"
	"github.com/triplemesh/triplemesh/lab/score"
)

// gold are the names of the right answers of a question, as they are compared,
// each with the number of its answer.
type gold map[string]int

func newGold(q dataset.Question) gold {
	g := gold{}
	for i := range q.Answers {
		for _, name := range q.NamesOf(i) {
			if _, ok := g[key(name)]; !ok {
				g[key(name)] = i
			}
		}
	}
	return g
}

// contains reports whether a name is that of a right answer, as the scores of an
// evaluation compare names.
func (g gold) contains(name string) bool {
	_, ok := g[key(name)]
	return ok
}

// differing keeps the first of the right names that mean one answer: a set that
// has one of them does not lack it.
func (g gold) differing(names []string) []string {
	seen := map[int]bool{}
	var kept []string
	for _, name := range names {
		if answer := g[key(name)]; !seen[answer] {
			seen[answer] = true
			kept = append(kept, name)
		}
	}
	return kept
}

// missing returns the right names of answers that others do not name.
func (g gold) missing(right, others []string) []string {
	given := map[int]bool{}
	for _, name := range others {
		if answer, ok := g[key(name)]; ok {
			given[answer] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(right), func(name string) bool { return given[g[key(name)]] })
}

func key(name string) string {
	if k := score.Normalise(name); k != "" {
		return k
	}
	return strings.TrimSpace(name) // of signs alone, or the band "The The"
}

// split sorts names into right and wrong ones.
func (g gold) split(names []string) (right, wrong []string) {
	for _, name := range names {
		if g.contains(name) {
			right = append(right, name)
		} else {
			wrong = append(wrong, name)
		}
	}
	return right, wrong
}
