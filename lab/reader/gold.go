package reader

import (
	"regexp"
	"strings"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/internal/prompt"
	"github.com/triplemesh/triplemesh/lab/dataset"
	"github.com/triplemesh/triplemesh/lab/score"
)

// questionKey returns the form in which a question of the set and one of a prompt are compared.
func questionKey(question string) string { return score.NameKey(prompt.Line(question)) }

// gold are the right answers of a question.
type gold struct {
	seed int64
	// answers are the numbers of the right answers, by the keys of their names.
	answers map[string]int
	count   int
	// years are the answers that are years: a date of that year counts.
	years map[string]int
	// references are the texts of an open question.
	references []string
	// paths are the gold relation paths, each as one text.
	paths map[string]bool
}

func (g *gold) add(q dataset.Question) {
	if q.Kind == dataset.Open {
		g.references = append(g.references, q.Answers...)
	}
	for _, path := range q.Paths {
		if g.paths == nil {
			g.paths = make(map[string]bool)
		}
		g.paths[pathKey(strings.Join(path, " -> "))] = true
	}
	for i := range q.Answers {
		n := g.count
		g.count++
		for _, name := range q.NamesOf(i) {
			if known, ok := g.answers[score.NameKey(name)]; ok {
				n = known
			}
		}
		for _, name := range q.NamesOf(i) {
			key := score.NameKey(name)
			if key == "" {
				continue
			}
			g.answers[key] = n
			if year.MatchString(strings.TrimSpace(name)) {
				if g.years == nil {
					g.years = make(map[string]int)
				}
				g.years[strings.TrimSpace(name)] = n
			}
		}
	}
}

var (
	year = regexp.MustCompile(`^\d{4}$`)
	date = regexp.MustCompile(`^(\d{4})-\d\d(?:-\d\d)?`)
)

// find returns the number of the right answer that a name is; -1 if it is none.
func (g *gold) find(name string) int {
	if n, ok := g.answers[score.NameKey(name)]; ok {
		return n
	}
	if parts := date.FindStringSubmatch(name); parts != nil {
		if n, ok := g.years[parts[1]]; ok {
			return n
		}
	}
	return -1
}

// verdict returns the right answer of a yes-or-no question; known is false for other questions.
func (g *gold) verdict() (yes, known bool) {
	_, yes = g.answers["yes"]
	_, no := g.answers["no"]
	return yes, yes != no && g.count == 1
}

// pathKey returns the form in which relation paths are compared: the words of each relation,
// whichever way it is followed.
func pathKey(steps string) string {
	var key []string
	for step := range strings.SplitSeq(steps, " -> ") {
		words := strings.ToLower(kgtext.VerbaliseRelation(strings.TrimSpace(step)))
		if inverse, ok := strings.CutSuffix(words, " of"); ok && strings.HasPrefix(inverse, "is ") {
			words = strings.TrimPrefix(inverse, "is ")
		}
		key = append(key, words)
	}
	return strings.Join(key, " -> ")
}
