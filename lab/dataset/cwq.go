package dataset

import (
	"bytes"
	"encoding/json"
)

// cwqQuestion is a question of ComplexWebQuestions (Talmor and Berant, "The web
// as a knowledge-base for answering complex questions", NAACL 2018).
type cwqQuestion struct {
	ID       string
	Question string          `json:"question"`
	Answers  json.RawMessage `json:"answers"`
	// Answer and TopicEntities are what the set has when published with ToG.
	Answer        words `json:"answer"`
	TopicEntities words `json:"topic_entity"`
}

// cwqAnswer is an answer with its other names. Some have an id alone.
type cwqAnswer struct {
	Answer  word     `json:"answer"`
	ID      word     `json:"answer_id"`
	Aliases []string `json:"aliases"`
}

// readCWQ reads the published JSON list.
func readCWQ(text []byte) ([]item, error) {
	return readElements(text, "", func(from cwqQuestion, _ int) (Question, error) {
		q := Question{ID: from.ID, Question: from.Question, Answers: Distinct(from.Answer),
			TopicEntities: Distinct(from.TopicEntities), Kind: Set}
		if len(q.Answers) > 0 {
			return q, nil
		}
		var answers []cwqAnswer
		seen := make(map[string]bool)
		if raw := bytes.TrimSpace(from.Answers); len(raw) > 0 {
			if err := json.Unmarshal(raw, &answers); err != nil {
				return q, describeJSON(err, `a list of answers in field "answers"`)
			}
		}
		for _, answer := range answers {
			name := string(answer.Answer)
			if isBlank(name) {
				name = string(answer.ID)
			}
			if isBlank(name) || seen[name] {
				continue
			}
			seen[name] = true
			q.Answers = append(q.Answers, name)
			q.Aliases = append(q.Aliases, Distinct(answer.Aliases))
		}
		if len(q.Answers) == 0 {
			return q, errUnanswered
		}
		return q, nil
	})
}
