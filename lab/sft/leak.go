package sft

import (
	"fmt"
	"os"
	"strings"

	"github.com/triplemesh/triplemesh/lab/dataset"
	"github.com/triplemesh/triplemesh/lab/leak"
	"github.com/triplemesh/triplemesh/lab/results"
)

// LeakError says that questions to train on are in a test set: a model that was
// trained on them cannot be measured by it.
type LeakError struct {
	// Pairs are the questions, each with the one of a test set that it is.
	Pairs []leak.Pair
}

// leaksShown is how many leaked questions an error names.
const leaksShown = 5

// Error implements error.
func (e *LeakError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d of the questions are in a test set:", len(e.Pairs))
	for _, p := range e.Pairs[:min(len(e.Pairs), leaksShown)] {
		fmt.Fprintf(&b, "\n  %s %q is %s %q of %s (%s)", p.B.ID, p.B.Question, p.A.ID, p.A.Question, p.A.Set, p.Kind)
	}
	if more := len(e.Pairs) - leaksShown; more > 0 {
		fmt.Fprintf(&b, "\n  and %d more", more)
	}
	b.WriteString("\ntake them out of the training questions, or leave them out with --drop-leaked")
	return b.String()
}

// sameQuestion is how alike questions of one id must be, by the share of their
// words, to be one: the parts of some datasets number their questions alike.
const sameQuestion = 0.5

// findLeaks finds the questions that are in test sets, each once: by their words,
// nearly so, or by their id. A test set is a file of questions or the results of
// an evaluation.
func findLeaks(questions []dataset.Question, testSets []string) ([]leak.Pair, error) {
	training := leak.NewSet("the training questions", dataset.Dataset{}, questions)
	training.Dataset = "any"
	seen := map[string]bool{}
	var found []leak.Pair
	for _, path := range testSets {
		tested, err := testSet(path)
		if err != nil {
			return nil, fmt.Errorf("read the test set: %w", err)
		}
		tested.Dataset = training.Dataset
		for _, p := range leak.Check(tested, training) {
			if p.Kind == leak.SameID && p.Similarity < sameQuestion || seen[p.B.ID] {
				continue
			}
			seen[p.B.ID] = true
			found = append(found, p)
		}
	}
	return found, nil
}

func testSet(path string) (leak.Set, error) {
	set := leak.Set{Name: path}
	info, err := os.Stat(path)
	if err != nil {
		return leak.Set{}, err
	}
	if !info.IsDir() {
		read, err := dataset.Read(path, "")
		return leak.NewSet(path, read, read.Questions), err
	}
	r, err := results.Open(path)
	if err != nil {
		return leak.Set{}, err
	}
	for record, err := range r.Records() {
		if err != nil {
			return leak.Set{}, err
		}
		set.Texts = append(set.Texts, leak.Text{ID: record.ID, Question: record.Question})
	}
	return set, nil
}
