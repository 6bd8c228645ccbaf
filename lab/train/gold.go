package train

import (
	"github.com/triplemesh/triplemesh/lab/dataset"
	"github.com/triplemesh/triplemesh/lab/score"
)

// gold compares names of entities with the right answers of a question as the scores of an
// evaluation do: names in normal form, values by value.
type gold struct {
	// answers are the indexes of answers by the keys of their names.
	answers map[string]int
	count   int
	// any reports that one of the answers is enough.
	any bool
	// keys caches keys by name.
	keys map[string]string
}

func newGold(q dataset.Question) *gold {
	g := &gold{answers: map[string]int{}, count: len(q.Answers), any: q.Kind == dataset.Alternatives,
		keys: map[string]string{}}
	for i := range q.Answers {
		for _, name := range q.NamesOf(i) {
			if key := score.AnswerKey(name); key != "" {
				if _, ok := g.answers[key]; !ok {
					g.answers[key] = i
				}
			}
		}
	}
	return g
}

// f1 returns the F1 of names against the answers, 0 to 1. Equal names count once.
func (g *gold) f1(names []string) float32 {
	given, found := map[string]bool{}, map[int]bool{}
	right := 0
	for _, name := range names {
		key, ok := g.keys[name]
		if !ok {
			key = score.AnswerKey(name)
			g.keys[name] = key
		}
		if given[key] {
			continue
		}
		given[key] = true
		if answer, ok := g.answers[key]; ok {
			right++
			found[answer] = true
		}
	}
	if right == 0 {
		return 0
	}
	precision, recall := float32(right)/float32(len(given)), float32(len(found))/float32(g.count)
	if g.any {
		recall = 1
	}
	return 2 * precision * recall / (precision + recall)
}
