package dataset

import (
	"encoding/json"
	"strings"
)

// kiltQuestion is a question of KILT (Petroni et al., "KILT", NAACL 2021).
type kiltQuestion struct {
	ID     word   `json:"id"`
	Input  string `json:"input"`
	Output []struct {
		Answer word `json:"answer"`
	} `json:"output"`
	Meta struct {
		TemplateQuestions []string `json:"template_questions"`
	} `json:"meta"`
}

// readKILT reads the published JSON lines. Any answer will do. An input of slot
// filling, such as zsRE's "entity [SEP] relation", gives its entity as the
// topic entity, and is asked by the first of the questions published with it.
func readKILT(text []byte) ([]item, error) {
	return readLines(text, func(line []byte, _ int) (Question, error) {
		var from kiltQuestion
		if err := json.Unmarshal(line, &from); err != nil {
			return Question{}, describeJSON(err, "an object with id, input and output")
		}
		q := Question{ID: string(from.ID), Kind: Alternatives}
		q.Question, q.TopicEntities = slot(from.Input, from.Meta.TemplateQuestions)
		for _, output := range from.Output {
			q.Answers = append(q.Answers, string(output.Answer))
		}
		if q.Answers = Distinct(q.Answers); len(q.Answers) == 0 {
			return q, errUnanswered
		}
		return q, nil
	}), nil
}

// slot returns the question that an input asks, with the entity it is about where it
// is one of slot filling: "entity [SEP] relation".
func slot(input string, templates []string) (question string, topics []string) {
	entity, relation, ok := strings.Cut(input, "[SEP]")
	if !ok {
		return input, nil
	}
	entity, relation = strings.TrimSpace(entity), strings.TrimSpace(relation)
	question = entity + ": " + relation
	if asked := Distinct(templates); len(asked) > 0 {
		question = asked[0]
	}
	return question, Distinct([]string{entity})
}
