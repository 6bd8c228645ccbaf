package dataset

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// readPathQuestion reads the lines of PathQuestion (Zhou et al., "An
// interpretable reasoning network for multi-relation question answering",
// COLING 2018): question, answer(all/answers/) and the path to the answer,
// entity#relation#entity#…#<end>#answer.
//
// Entities keep their underscores, for the graphs published with the set are
// loaded with them; the question is asked without, and each answer has its
// name without them as an alias.
func readPathQuestion(text []byte) ([]item, error) {
	return readLines(text, func(line []byte, number int) (Question, error) {
		columns := strings.Split(string(line), "\t")
		if len(columns) != 3 {
			return Question{}, fmt.Errorf("has %d columns, must have a question, its answers and a path, split by tabs",
				len(columns))
		}
		answers, err := pathAnswers(columns[1])
		if err != nil {
			return Question{}, err
		}
		entities, relations, err := goldPath(columns[2])
		if err != nil {
			return Question{}, err
		}
		q := Question{
			ID: strconv.Itoa(number), Question: spaced(strings.TrimSpace(columns[0])),
			Answers: answers, TopicEntities: entities[:1], Kind: Set,
			Hops: len(relations), Paths: [][]string{relations},
		}
		if slices.ContainsFunc(answers, func(answer string) bool { return spaced(answer) != answer }) {
			for _, answer := range answers {
				var alias []string
				if other := spaced(answer); other != answer {
					alias = []string{other}
				}
				q.Aliases = append(q.Aliases, alias)
			}
		}
		return q, nil
	}), nil
}

func spaced(name string) string { return strings.ReplaceAll(name, "_", " ") }

// pathAnswers returns all answers of "one(one/two/)".
func pathAnswers(text string) ([]string, error) {
	first, rest, opened := strings.Cut(text, "(")
	all, closed := strings.CutSuffix(strings.TrimSpace(rest), ")")
	if !opened || !closed {
		return nil, fmt.Errorf("the answers are %q, must be answer(all/answers/)", text)
	}
	answers := Distinct(strings.Split(all, "/"))
	if len(answers) == 0 {
		answers = Distinct([]string{first})
	}
	if len(answers) == 0 {
		return nil, errors.New("there is no answer in the second column")
	}
	return answers, nil
}

// goldPath parts a path into its entities and the relations between them.
func goldPath(text string) (entities, relations []string, err error) {
	path, _, _ := strings.Cut(text, "#<end>")
	for i, part := range strings.Split(path, "#") {
		if part = strings.TrimSpace(part); part == "" {
			return nil, nil, fmt.Errorf("the path %q has an empty part", text)
		}
		if i%2 == 0 {
			entities = append(entities, part)
		} else {
			relations = append(relations, part)
		}
	}
	if len(relations) == 0 || len(entities) != len(relations)+1 {
		return nil, nil, fmt.Errorf("the path is %q, must be entity#relation#entity and so on", text)
	}
	return entities, relations, nil
}
