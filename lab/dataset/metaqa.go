package dataset

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// readMetaQA reads the lines of MetaQA (Zhang et al., "Variational reasoning
// for question answering with knowledge graph", AAAI 2018): a question with
// its topic entity in brackets, which are removed, a tab, and the answers.
func readMetaQA(text []byte) ([]item, error) {
	return readLines(text, func(line []byte, number int) (Question, error) {
		columns := strings.Split(string(line), "\t")
		if len(columns) != 2 {
			return Question{}, fmt.Errorf("has %d columns, must have a question and its answers, split by a tab",
				len(columns))
		}
		before, rest, opened := strings.Cut(columns[0], "[")
		end := strings.LastIndex(rest, "]")
		if !opened || end < 0 || isBlank(rest[:end]) {
			return Question{}, errors.New("the question has no [entity] in brackets")
		}
		q := Question{
			ID: strconv.Itoa(number), Question: strings.TrimSpace(before + rest[:end] + rest[end+1:]),
			Answers: Distinct(strings.Split(columns[1], "|")), TopicEntities: []string{strings.TrimSpace(rest[:end])},
			Kind: Set,
		}
		if len(q.Answers) == 0 {
			return q, errors.New("there is no answer after the tab")
		}
		return q, nil
	}), nil
}

var hopsInName = regexp.MustCompile(`(?i)([1-9])-?hop`)

// setHops tells the hops of MetaQA's questions by the name of their file or of
// one of the two directories above it, as in 2-hop/vanilla/qa_test.txt: nothing
// else does.
func setHops(questions []Question, path string) {
	for range 3 {
		if found := hopsInName.FindStringSubmatch(filepath.Base(path)); found != nil {
			for i := range questions {
				questions[i].Hops = int(found[1][0] - '0')
			}
			return
		}
		path = filepath.Dir(path)
	}
}
