package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// question is a line of a dataset.
type question struct {
	ID            string   `json:"id"`
	Question      string   `json:"question"`
	Answers       []string `json:"answers"`
	TopicEntities []string `json:"topic_entities"`
}

// questions reads a dataset of JSON lines and returns the part to measure.
func (b *bench) questions(file string, held int) ([]question, error) {
	all, err := b.readQuestions(file, fromJSON)
	if err != nil {
		return nil, err
	}
	return b.part(all, held), nil
}

// readQuestions reads a dataset of a question a line.
func (b *bench) readQuestions(file string, parse func(line string) (question, error)) ([]question, error) {
	text, err := os.ReadFile(filepath.Join(b.data, file))
	if err != nil {
		return nil, err
	}
	var all []question
	for i, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		q, err := parse(line)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, i+1, err)
		}
		if q.ID == "" {
			q.ID = strconv.Itoa(i + 1)
		}
		all = append(all, q)
	}
	return all, nil
}

// part returns the test part, the first held questions, or the dev part, all
// after them. The order is the one that `triplemesh eval` samples by with seed
// 1.
func (b *bench) part(all []question, held int) []question {
	slices.SortFunc(all, func(a, b question) int {
		x, y := sha256.Sum256([]byte("1\n"+a.ID)), sha256.Sum256([]byte("1\n"+b.ID))
		return cmp.Or(bytes.Compare(x[:], y[:]), cmp.Compare(a.ID, b.ID))
	})
	held = min(held, len(all))
	if b.test {
		return all[:held]
	}
	return all[held:min(len(all), held+b.limit)]
}

// isAnswer reports whether a name is one of the answers.
func (q question) isAnswer(name string) bool {
	return slices.ContainsFunc(q.Answers, func(a string) bool { return store.Fold(a) == store.Fold(name) })
}
