package dataset

import (
	"encoding/json"
	"errors"
	"fmt"
)

// plainQuestion is a question as a line of plain JSON Lines holds it.
type plainQuestion struct {
	Question
	// Open says that the answers are reference texts.
	Open bool `json:"open"`
	// References are reference texts, in the place of answers.
	References []string `json:"references"`
	// Answerable false says that no answer is right, as an empty list of answers does.
	Answerable *bool `json:"answerable"`
}

// readJSONL reads a JSON object a line, with the fields of Question. In the
// place of answers there may be references, which like `"open": true` make the
// question an open one. An empty list of answers, or `"answerable": false`, makes
// it one that no answer is right for. Other fields are passed over.
func readJSONL(text []byte) ([]item, error) {
	return readLines(text, parsePlain), nil
}

// readOpen returns readJSONL with every question an open one.
func readOpen(text []byte) ([]item, error) {
	return readLines(text, func(line []byte, number int) (Question, error) {
		q, err := parsePlain(line, number)
		q.Kind = Open
		return q, err
	}), nil
}

func parsePlain(line []byte, _ int) (Question, error) {
	var plain plainQuestion
	if err := json.Unmarshal(line, &plain); err != nil {
		return Question{}, describeJSON(err, "an object with id, question, answers and topic_entities")
	}
	q := plain.Question
	if len(plain.References) > 0 {
		if len(q.Answers) > 0 {
			return Question{}, errors.New(`fields "answers" and "references": give one of them`)
		}
		q.Answers, q.Kind = plain.References, Open
	}
	if plain.Open {
		q.Kind = Open
	}
	refuses := plain.Answerable != nil && !*plain.Answerable || plain.References == nil && q.Answers != nil
	q.Unanswerable = q.Unanswerable || len(q.Answers) == 0 && refuses
	if len(q.Answers) > 0 && plain.Answerable != nil && !*plain.Answerable {
		return Question{}, errors.New(`fields "answers" and "answerable": a question that cannot be answered has ` +
			`no answers; give an empty list`)
	}
	switch q.Kind {
	case "", Set, Alternatives, Open:
	default:
		return Question{}, fmt.Errorf(`field "answer_kind": is %q, must be %s, %s or %s`, q.Kind, Set,
			Alternatives, Open)
	}
	if len(q.Aliases) > 0 && len(q.Aliases) != len(q.Answers) {
		return Question{}, fmt.Errorf(`field "aliases": has %d lists, must have one for each of the %d answers`,
			len(q.Aliases), len(q.Answers))
	}
	if q.Hops < 0 {
		return Question{}, fmt.Errorf(`field "hops": is %d, must be at least 0`, q.Hops)
	}
	return q, nil
}
