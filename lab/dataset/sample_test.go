package dataset

import (
	"fmt"
	"slices"
	"testing"
)

func tenQuestions() []Question {
	questions := make([]Question, 10)
	for i := range questions {
		questions[i] = Question{ID: fmt.Sprintf("WebQTest-%d", i+1), Question: "q?", Answers: []string{"a"}}
	}
	return questions
}

func ids(questions []Question) []string {
	out := make([]string, len(questions))
	for i, q := range questions {
		out[i] = q.ID
	}
	return out
}

func TestSampleIsTheSameEverywhere(t *testing.T) {
	t.Parallel()
	// Computed with Python's hashlib.
	for seed, want := range map[int64][]string{
		1:  {"WebQTest-3", "WebQTest-4", "WebQTest-1", "WebQTest-10"},
		2:  {"WebQTest-4", "WebQTest-8", "WebQTest-9", "WebQTest-7"},
		-7: {"WebQTest-9", "WebQTest-6", "WebQTest-3", "WebQTest-2"},
	} {
		if got := ids(Sample(tenQuestions(), 4, seed)); !slices.Equal(got, want) {
			t.Errorf("seed %d: got %v, want %v", seed, got, want)
		}
	}
}

func TestSampleDoesNotDependOnTheOrderOfTheFile(t *testing.T) {
	t.Parallel()
	questions := tenQuestions()
	want := ids(Sample(questions, 5, 1))
	slices.Reverse(questions)
	if got := ids(Sample(questions, 5, 1)); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if questions[0].ID != "WebQTest-10" {
		t.Error("the questions given were put in another order")
	}
}

func TestSmallerSampleIsTheBeginningOfALargerOne(t *testing.T) {
	t.Parallel()
	all := ids(Sample(tenQuestions(), 0, 3))
	if len(all) != 10 {
		t.Fatalf("a sample of 0 has %d questions, want all", len(all))
	}
	for n := 1; n <= 12; n++ {
		got := ids(Sample(tenQuestions(), n, 3))
		if !slices.Equal(got, all[:min(n, 10)]) {
			t.Errorf("sample of %d is %v, want the beginning of %v", n, got, all)
		}
	}
}
