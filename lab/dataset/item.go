package dataset

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// maxProblems bounds how many bad places one error names.
const maxProblems = 10

// errUnanswered says that a question was published with no right answer.
var errUnanswered = errors.New("there is no right answer")

// errEmpty says that a file holds nothing.
var errEmpty = errors.New("there is no question in it")

// item is what stands at one place of a file: a question, or what is wrong
// with it.
type item struct {
	place    string // such as "line 3"
	question Question
	err      error
}

// collect checks what was read. The error names up to ten bad places.
func collect(items []item) (questions []Question, unanswered int, err error) {
	var problems []error
	places := make(map[string]string) // of each id
	for _, it := range items {
		q, err := it.question, it.err
		if errors.Is(err, errUnanswered) {
			unanswered++
			continue
		}
		if err == nil {
			err = check(q)
		}
		if before, twice := places[q.ID]; err == nil && twice {
			err = fmt.Errorf("field \"id\": %q is the id of %s too; give each question its own", q.ID, before)
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", it.place, err))
			if len(problems) == maxProblems {
				break
			}
			continue
		}
		places[q.ID] = it.place
		questions = append(questions, q)
	}
	switch {
	case len(problems) > 0:
		return nil, 0, errors.Join(problems...)
	case len(questions) == 0 && unanswered > 0:
		return nil, 0, fmt.Errorf("none of its %d questions has a right answer, as in test sets whose answers are "+
			"kept back; give a set with answers", unanswered)
	case len(questions) == 0:
		return nil, 0, errEmpty
	}
	return questions, unanswered, nil
}

// check finds what is missing of a question, in the words of plain JSON Lines.
func check(q Question) error {
	switch {
	case strings.TrimSpace(q.ID) == "":
		return errors.New(`field "id": missing or empty`)
	case strings.TrimSpace(q.Question) == "":
		return errors.New(`field "question": missing or empty`)
	case len(q.Answers) == 0 && !q.Unanswerable:
		return errors.New(`field "answers": missing or empty; give right answers, or an empty list if there are none`)
	case len(q.Answers) > 0 && q.Unanswerable:
		return errors.New(`fields "answers" and "unanswerable": give one of them`)
	}
	if i := firstBlank(q.Answers); i >= 0 {
		return fmt.Errorf(`field "answers": item %d is empty`, i+1)
	}
	if i := firstBlank(q.TopicEntities); i >= 0 {
		return fmt.Errorf(`field "topic_entities": item %d is empty`, i+1)
	}
	return nil
}

func firstBlank(texts []string) int {
	return slices.IndexFunc(texts, isBlank)
}

func isBlank(text string) bool { return strings.TrimSpace(text) == "" }

// Distinct returns the texts that are not blank, each once, in their order.
func Distinct(texts []string) []string {
	var out []string
	seen := make(map[string]bool, len(texts))
	for _, text := range texts {
		if !isBlank(text) && !seen[text] {
			seen[text] = true
			out = append(out, text)
		}
	}
	return out
}
