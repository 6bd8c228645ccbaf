package confidence

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// group is what the evidence lists as one: the objects of a subject and relation, the subjects of an
// object and relation, or the ends of a relation path from a topic entity.
type group struct {
	// anchor is the entity on the other side, relation the relations in words.
	anchor, relation string
	// answers are what is listed, folded.
	answers map[string]bool
	// scores are the features of a group alone, such as "question_score"; the best of its triples.
	scores map[string]float64
}

func newGroup(anchor, relation string) *group {
	return &group{anchor: anchor, relation: relation, answers: map[string]bool{}, scores: map[string]float64{}}
}

// raise keeps the greatest value of a score.
func (g *group) raise(score string, v float64) {
	if old, ok := g.scores[score]; !ok || v > old {
		g.scores[score] = v
	}
}

// maxWords bounds the words of a question, and maxGroups the groups, that features tell apart.
const maxWords, maxGroups, maxSize = 30, 200, 1000

// ofGroups computes the features of the first answer among the groups that list it: of those whose
// anchor the question names, if there are any. ranked are the scores that are compared with those of
// all other groups.
func ofGroups(run *orchestratorv1.Run, groups []*group, ranked []string, values map[string]float64) {
	question := newQuestionWords(cmp.Or(run.GetStandaloneQuestion(), run.GetQuestion()))
	first := kgtext.Fold(run.GetAnswers()[0].GetAnswer())
	given := map[string]bool{}
	for _, a := range run.GetAnswers() {
		given[kgtext.Fold(a.GetAnswer())] = true
	}
	var listing, named []*group
	for _, g := range groups {
		if g.answers[first] {
			listing = append(listing, g)
			if question.names(g.anchor) {
				named = append(named, g)
			}
		}
	}
	set(values, "grounded", indicator(len(listing) > 0))
	set(values, "named", indicator(len(named) > 0))
	set(values, "asked", indicator(question.names(run.GetAnswers()[0].GetAnswer())))
	set(values, "length", math.Log1p(float64(len(question.content)))/math.Log1p(maxWords))
	set(values, "groups", math.Log1p(float64(len(groups)))/math.Log1p(maxGroups))
	if len(named) > 0 {
		listing = named
	}
	best := newGroup("", "")
	for _, g := range listing {
		for score, v := range g.scores {
			best.raise(score, v)
		}
		both := 0
		for a := range given {
			both += int(indicator(g.answers[a]))
		}
		best.raise("share", float64(both)/float64(len(g.answers)))
		best.raise("covered", float64(both)/float64(len(given)))
		best.raise("words", question.share(g.relation))
		best.raise("size", math.Log(float64(len(g.answers)))/math.Log(maxSize))
	}
	for score, v := range best.scores {
		set(values, score, v)
	}
	for _, score := range ranked {
		most, above, n := math.Inf(-1), 0, 0
		for _, g := range groups {
			if v, ok := g.scores[score]; ok {
				n++
				most = max(most, v)
				above += int(indicator(v > best.scores[score]))
			}
		}
		if n > 0 {
			name, _, _ := strings.Cut(score, "_")
			set(values, name+"_lead", 1+best.scores[score]-most)
			set(values, name+"_rank", float64(above)/float64(n))
		}
	}
}

// questionWords is a question as names and relations are compared with it.
type questionWords struct {
	folded kgtext.Words
	// content are the beginnings of its words that mean something.
	content map[string]bool
}

func newQuestionWords(question string) questionWords {
	q := questionWords{folded: kgtext.FoldWords(question), content: map[string]bool{}}
	for word := range strings.FieldsSeq(string(q.folded)) {
		if !slices.Contains(functionWords, word) {
			q.content[stem(word)] = true
		}
	}
	return q
}

func (q questionWords) names(entity string) bool { return q.folded.Mention(kgtext.Fold(entity)) }

// share returns the share of a relation's words that the question has.
func (q questionWords) share(relation string) float64 {
	all, both := 0, 0
	for word := range strings.FieldsSeq(kgtext.Fold(relation)) {
		if !slices.Contains(functionWords, word) {
			all++
			both += int(indicator(q.content[stem(word)]))
		}
	}
	return float64(both) / float64(max(1, all))
}

// stem shortens a word so that its forms are equal.
func stem(word string) string {
	const most = 5
	r := []rune(word)
	return string(r[:min(len(r), most)])
}

var functionWords = strings.Fields("the a an of in is are was were what which who whom where when how did does do to " +
	"for and by with on at from his her its that this many much name be has have had s")
