package dataset

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// webQuestionsQuestion is a question of WebQuestions (Berant et al., "Semantic
// parsing on Freebase from question-answer pairs", EMNLP 2013).
type webQuestionsQuestion struct {
	Utterance   string `json:"utterance"`
	TargetValue string `json:"targetValue"`
	URL         string `json:"url"`
}

// readWebQuestions reads the published JSON list, or the same a question a
// line. The topic entity is the one whose page the question was published
// with, by the name in the page's address: lower case, without accents.
func readWebQuestions(text []byte) ([]item, error) {
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("[")) {
		return readElements(text, "", webQuestion)
	}
	return readLines(text, func(line []byte, number int) (Question, error) {
		var from webQuestionsQuestion
		if err := json.Unmarshal(line, &from); err != nil {
			return Question{}, describeJSON(err, "an object with utterance, targetValue and url")
		}
		return webQuestion(from, number)
	}), nil
}

func webQuestion(from webQuestionsQuestion, number int) (Question, error) {
	q := Question{ID: strconv.Itoa(number), Question: from.Utterance, TopicEntities: pageTopic(from.URL), Kind: Set}
	if isBlank(from.TargetValue) {
		return q, errUnanswered
	}
	answers, err := descriptions(from.TargetValue)
	if err != nil {
		return q, fmt.Errorf("field \"targetValue\": %w", err)
	}
	if q.Answers = Distinct(answers); len(q.Answers) == 0 {
		return q, errUnanswered
	}
	return q, nil
}

// pageTopic returns the entity whose page has an address, by the name in it.
func pageTopic(url string) []string {
	if _, page, ok := strings.Cut(url, "/view/en/"); ok {
		return Distinct([]string{strings.TrimSpace(spaced(page))})
	}
	return nil
}

// descriptions returns the texts of a list in Lisp's notation:
//
//	(list (description Stay) (description "Half Nelson"))
func descriptions(lisp string) ([]string, error) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(lisp), "(list")
	if !ok {
		return nil, errors.New(`must begin with "(list"`)
	}
	var out []string
	for {
		rest = strings.TrimSpace(rest)
		if after, closed := strings.CutPrefix(rest, ")"); closed {
			if !isBlank(after) {
				return nil, fmt.Errorf("something stands after the end of the list: %q", after)
			}
			return out, nil
		}
		var begun bool
		if rest, begun = strings.CutPrefix(rest, "(description "); !begun {
			return nil, fmt.Errorf(`expected "(description …)" or ")" at %q`, rest[:min(len(rest), 20)])
		}
		text, after, err := atom(strings.TrimSpace(rest))
		if err != nil {
			return nil, err
		}
		if rest, ok = strings.CutPrefix(strings.TrimSpace(after), ")"); !ok {
			return nil, fmt.Errorf("the description %q is not closed", text)
		}
		out = append(out, text)
	}
}

// atom returns the next text of a list, in quotes or up to the next bracket, and
// what follows it.
func atom(text string) (value, rest string, err error) {
	if !strings.HasPrefix(text, `"`) {
		end := strings.IndexByte(text, ')')
		if end < 0 {
			return "", "", fmt.Errorf("the description %q is not closed", text)
		}
		return strings.TrimSpace(text[:end]), text[end:], nil
	}
	var out strings.Builder
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			return out.String(), text[i+1:], nil
		case c == '\\' && i+1 < len(text):
			i++
			out.WriteByte(text[i])
		default:
			out.WriteByte(c)
		}
	}
	return "", "", fmt.Errorf("the text %s has no closing quotation mark", text[:min(len(text), 20)])
}
