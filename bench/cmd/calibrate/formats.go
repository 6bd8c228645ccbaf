package main

import (
	"encoding/json"
	"errors"
	"strings"
)

func fromJSON(line string) (q question, err error) {
	return q, json.Unmarshal([]byte(line), &q)
}

// fromMetaQA reads "question with [entity]<TAB>answer|answer".
func fromMetaQA(line string) (question, error) {
	text, answers, _ := strings.Cut(line, "\t")
	before, rest, found := strings.Cut(text, "[")
	topic, after, closed := strings.Cut(rest, "]")
	if !found || !closed || answers == "" {
		return question{}, errors.New("want a question with its entity in brackets, a tab and answers")
	}
	return question{Question: before + topic + after, Answers: strings.Split(strings.TrimSpace(answers), "|"),
		TopicEntities: []string{topic}}, nil
}

// fromPathQuestion reads "question<TAB>answer(answer/answer/)<TAB>entity#relation#…".
func fromPathQuestion(line string) (question, error) {
	fields := strings.Split(line, "\t")
	if len(fields) < 3 {
		return question{}, errors.New("want a question, answers and a path, separated by tabs")
	}
	_, answers, _ := strings.Cut(fields[1], "(")
	topic, _, _ := strings.Cut(fields[2], "#")
	q := question{Question: fields[0], TopicEntities: []string{topic}}
	for answer := range strings.SplitSeq(strings.TrimSuffix(answers, ")"), "/") {
		if answer != "" {
			q.Answers = append(q.Answers, answer)
		}
	}
	return q, nil
}
