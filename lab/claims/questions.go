package claims

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/triplemesh/triplemesh/lab/dataset"
)

// Questions returns questions about the claims, with the answers that the knowledge graph gives: of
// each claim whether it is true, and what its subject has in its relation. Of claims that are not in
// the knowledge graph both have no answer: the second has a false premise, that the subject has
// something in the relation, or that there is such a subject. Open claims make no questions, since
// the knowledge graph does not say whether its list is complete.
func Questions(items []Item) []dataset.Question {
	var all []dataset.Question
	for _, item := range items {
		var whether, what []string
		switch item.Kind {
		case True:
			whether, what = []string{"Yes"}, item.listed
		case Swapped:
			whether, what = []string{"No"}, item.listed
		case Open:
			continue
		}
		var topics []string
		if item.Kind != Strange {
			topics = []string{item.Subject}
		}
		for _, q := range []dataset.Question{
			{ID: item.ID + "-whether", Question: "Is it true that " + clause(item.Sentence) + "?", Answers: whether},
			{ID: item.ID + "-what", Question: fmt.Sprintf("What is the %s of %s?", item.Relation, item.Subject),
				Answers: what},
		} {
			q.TopicEntities, q.Kind, q.Unanswerable = topics, dataset.Set, len(q.Answers) == 0
			all = append(all, q)
		}
	}
	return all
}

// openers are words that begin sentences and are not names.
var openers = []string{"The ", "It ", "On ", "In ", "By ", "As "}

// clause returns a sentence as it stands behind "that".
func clause(sentence string) string {
	sentence = strings.TrimSuffix(sentence, ".")
	for _, word := range openers {
		if strings.HasPrefix(sentence, word) {
			return strings.ToLower(sentence[:1]) + sentence[1:]
		}
	}
	return sentence
}

// WriteQuestions makes the claims and writes questions about them as JSON Lines, which `triplemesh
// eval` reads. It returns how many there are.
func (c *Command) WriteQuestions(out io.Writer) (int, error) {
	if c.Claims < 1 {
		return 0, errors.New("--claims must be at least 1")
	}
	questions, err := c.makeQuestions()
	if err != nil {
		return 0, err
	}
	lines := json.NewEncoder(out)
	lines.SetEscapeHTML(false)
	for _, q := range questions {
		if err := lines.Encode(q); err != nil {
			return 0, fmt.Errorf("write questions: %w", err)
		}
	}
	return len(questions), nil
}

// wordingsOfRelations in place of a file are the wordings of this package.
const wordingsOfRelations = "wordings"

func (c *Command) makeQuestions() ([]dataset.Question, error) {
	if c.Lacking != "" {
		part, err := dataset.ParsePart(c.Part)
		if err != nil {
			return nil, err
		}
		if c.Lacking == wordingsOfRelations {
			return MakeLackingByWordings(c.Facts, part, c.Claims, c.Seed)
		}
		set, err := dataset.ReadPart(c.Lacking, "", part)
		if err != nil {
			return nil, err
		}
		return MakeLacking(dataset.Sample(set.Questions, 0, c.Seed), c.Facts, c.Claims, c.Seed)
	}
	items, err := c.makeItems()
	return Questions(items), err
}
