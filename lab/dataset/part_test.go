package dataset

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestAQuestionIsInTheSamePartEverywhere(t *testing.T) {
	t.Parallel()
	// Computed with Python's hashlib.
	for id, want := range map[string]Part{
		"WebQTest-1": Validate, "WebQTest-2": Tune, "WebQTest-10": Report,
		"q3": Tune, "1": Tune, "geo-count-7": Validate, "Ünïcode": Report,
	} {
		if got := PartOf(id); got != want {
			t.Errorf("%s is in %s, want %s", id, got, want)
		}
	}
}

func TestThePartsHaveTheirShares(t *testing.T) {
	t.Parallel()
	counts := map[Part]float64{}
	const n = 20_000
	for i := range n {
		counts[PartOf(fmt.Sprint(i))]++
	}
	for part, share := range map[Part]float64{Tune: .4, Validate: .2, Report: .4} {
		if math.Abs(counts[part]/n-share) > .02 {
			t.Errorf("%s has %v of %d", part, counts[part], n)
		}
	}
}

func TestPartsShareNoQuestionAndLoseNone(t *testing.T) {
	t.Parallel()
	var questions []Question
	for i := range 300 {
		questions = append(questions, Question{ID: fmt.Sprint(i), Question: fmt.Sprintf("Tell me about  %d", i%150),
			Answers: []string{"a"}})
	}
	questions[7].Cluster, questions[8].Cluster = "template", "template"
	in, all := map[string]Part{}, 0
	for _, part := range []Part{Tune, Validate, Report} {
		selected := Select(questions, part)
		all += len(selected)
		for _, q := range selected {
			if other, seen := in[q.ClusterKey()]; seen && other != part || q.Part != part {
				t.Errorf("%q is in %s and in %s", q.Question, other, part)
			}
			in[q.ClusterKey()] = part
		}
	}
	if all != len(questions) || len(Select(questions, All)) != all {
		t.Errorf("%d of %d questions are in a part", all, len(questions))
	}
	before := Parts(questions)
	slices.Reverse(questions)
	after := Parts(questions)
	slices.Reverse(after)
	if !slices.Equal(before, after) {
		t.Error("the parts depend on the order of the file")
	}
}

// writePlain writes questions q0, q1, …, one a line.
func writePlain(t *testing.T, n int) string {
	t.Helper()
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, `{"id": "q%d", "question": "question %d", "answers": ["a"]}`+"\n", i, i)
	}
	file := filepath.Join(t.TempDir(), "questions.jsonl")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestTuningNeverReadsThePartThatFiguresArePublishedOn(t *testing.T) {
	t.Parallel()
	file := writePlain(t, 50)
	for name, want := range map[string]Part{"": Tune, "tune": Tune, "validate": Validate} {
		d, err := Tuning{Part: name}.Read(file, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range d.Questions {
			if PartOf(q.ID) != want {
				t.Errorf("part %q: %s is in %s", name, q.ID, PartOf(q.ID))
			}
		}
	}
	if d, err := (Tuning{Part: "all"}).Read(file, ""); err != nil || len(d.Questions) != 50 {
		t.Errorf("all: %d questions, %v", len(d.Questions), err)
	}
	for name, says := range map[string]string{"report": "choose tune or validate", "half": "unknown part"} {
		if _, err := (Tuning{Part: name}).Read(file, ""); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("part %s: error %v", name, err)
		}
	}
	if _, err := ReadPart(writePlain(t, 1), "", Validate); err == nil || !strings.Contains(err.Error(), "--part all") {
		t.Errorf("a part without questions: error %v", err)
	}
}
