package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/triplemesh/triplemesh/services/retriever/ground"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// draftedQuestion is a question with a pseudo-graph.
type draftedQuestion struct {
	question
	pseudo []ground.Fact
	// heldOut marks the half that no setting is chosen by.
	heldOut bool
}

// drafted returns a dataset's questions with the pseudo-graphs that a model wrote,
// or made-up ones.
func (b *bench) drafted(set groundSet) ([]draftedQuestion, error) {
	if b.pseudo != "" {
		return b.readPseudoGraphs(set)
	}
	questions, err := b.questions(set.file, set.testSize)
	if err != nil {
		return nil, err
	}
	all := make([]draftedQuestion, len(questions))
	for i, q := range questions {
		all[i] = draftedQuestion{q, draft(q, questions[(i+1)%len(questions)]), inHeldHalf(q.ID)}
		if b.misspell {
			for j := range all[i].pseudo {
				all[i].pseudo[j].Subject = misspell(all[i].pseudo[j].Subject)
			}
		}
	}
	return all, nil
}

// readPseudoGraphs reads a file of pseudo-graphs, one a line, and joins them with the
// dataset by the questions' ids.
func (b *bench) readPseudoGraphs(set groundSet) ([]draftedQuestion, error) {
	b.test = true
	questions, err := b.questions(set.file, 1<<30)
	if err != nil {
		return nil, err
	}
	byID := map[string]question{}
	for _, q := range questions {
		byID[q.ID] = q
	}
	text, err := os.ReadFile(filepath.Join(b.pseudo, set.pseudo))
	if err != nil {
		return nil, err
	}
	var all []draftedQuestion
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		var line struct {
			ID          string      `json:"id"`
			PseudoGraph [][3]string `json:"pseudo_graph"`
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", set.pseudo, n, err)
		}
		q, ok := byID[line.ID]
		if !ok {
			return nil, fmt.Errorf("%s:%d: %s has no question %q", set.pseudo, n, set.file, line.ID)
		}
		d := draftedQuestion{question: q, heldOut: inHeldHalf(q.ID)}
		for _, t := range line.PseudoGraph {
			d.pseudo = append(d.pseudo, ground.Fact{Subject: t[0], Relation: t[1], Object: t[2]})
		}
		all = append(all, d)
	}
	return all, lines.Err()
}

// inHeldHalf parts questions into two halves by their ids.
func inHeldHalf(id string) bool {
	sum := sha256.Sum256([]byte("half\n" + id))
	return sum[0]&1 == 1
}

// draft returns a pseudo-graph as a model might write it that knows little.
func draft(q, other question) []ground.Fact {
	var pseudo []ground.Fact
	for _, topic := range q.TopicEntities[:min(len(q.TopicEntities), 2)] {
		var relation []string
		folded := " " + store.Fold(q.Question) + " "
		for word := range strings.FieldsSeq(strings.Replace(folded, " "+store.Fold(topic)+" ", " ", 1)) {
			if !strings.Contains(" what which who whom where when is was are were the a an of in to does do did s "+
				"for how ", " "+word+" ") {
				relation = append(relation, word)
			}
		}
		relation = append(relation[:min(len(relation), 3)], "")
		pseudo = append(pseudo, ground.Fact{
			Subject: strings.ToLower(topic), Relation: strings.TrimSpace(strings.Join(relation, " ")),
			Object: other.Answers[0],
		})
	}
	return pseudo
}

// misspell leaves out the letter in the middle.
func misspell(name string) string {
	letters := []rune(name)
	return string(slices.Delete(letters, len(letters)/2, len(letters)/2+1))
}
