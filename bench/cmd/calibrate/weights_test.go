package main

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/triplemesh/triplemesh/services/retriever/link"
)

func TestFitPutsTopicsFirstAndScoresAreProbabilities(t *testing.T) {
	// The third evidence tells topics, but for one question in four.
	var examples []example
	for i := range 40 {
		examples = append(examples, example{
			evidence: []link.Evidence{{1, 0, 1}, {1, 0, 0}},
			topic:    []bool{i%4 != 0, i%4 == 0},
		})
	}
	w, before := fit(examples, gradient{}, example.choose)
	if odds := math.Exp(w[2]); odds < 2.5 || odds > 3.5 {
		t.Errorf("weights %v give odds of %v, want 3", w[:3], odds)
	}
	if _, after := fit(examples, w, example.choose); after > before+1e-3 {
		t.Errorf("a second fit has loss %v, the first %v", after, before)
	}
	w, _ = calibrateWeights(examples, w)
	sum := 0.0
	for _, e := range examples {
		sum += 1 / (1 + math.Exp(-e.score(w, 0)))
	}
	if mean := sum / 40; mean < 0.65 || mean > 0.85 {
		t.Errorf("what is right three times in four scores %v", mean)
	}
}

func TestLinkQuestionsReadsMetaQA(t *testing.T) {
	dir := t.TempDir()
	text := "who directed [Alien]\tRidley Scott\nfilms of [Clara Bow] please\tIt|Wings\nno topic\tX\n"
	if err := os.WriteFile(filepath.Join(dir, "qa.txt"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []bool{true, false} {
		b := &bench{data: dir, test: test, limit: 1}
		questions, err := b.linkQuestions(linkSet{file: "qa.txt", testSize: 1})
		if err != nil || len(questions) != 1 {
			t.Fatalf("got %v, %v", questions, err)
		}
		want := question{Question: "films of Clara Bow please", TopicEntities: []string{"Clara Bow"}}
		if test {
			want = question{Question: "who directed Alien", TopicEntities: []string{"Alien"}}
		}
		if got := questions[0]; got.Question != want.Question || got.TopicEntities[0] != want.TopicEntities[0] {
			t.Errorf("test part %v: got %+v, want %+v", test, got, want)
		}
	}
}
