package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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

// questions reads a dataset. The order is the one that `triplemesh eval`
// samples by with seed 1; its first held questions are the test part, all
// after them the dev part.
func (b *bench) questions(file string, held int) ([]question, error) {
	text, err := os.ReadFile(filepath.Join(b.data, file))
	if err != nil {
		return nil, err
	}
	var all []question
	for i, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		var q question
		if err := json.Unmarshal([]byte(line), &q); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, i+1, err)
		}
		all = append(all, q)
	}
	slices.SortFunc(all, func(a, b question) int {
		x, y := sha256.Sum256([]byte("1\n"+a.ID)), sha256.Sum256([]byte("1\n"+b.ID))
		return cmp.Or(bytes.Compare(x[:], y[:]), cmp.Compare(a.ID, b.ID))
	})
	held = min(held, len(all))
	if b.test {
		return all[:held], nil
	}
	return all[held:min(len(all), held+b.limit)], nil
}

// right tells whether a name is one of the answers.
func (q question) right(name string) bool {
	return slices.ContainsFunc(q.Answers, func(a string) bool { return store.Fold(a) == store.Fold(name) })
}
