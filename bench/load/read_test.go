package load_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/bench/load"
)

func TestRates(t *testing.T) {
	for text, want := range map[string][]float64{
		"10":         {10},
		"5, 10,20.5": {5, 10, 20.5},
		"5..40":      {5, 10, 20, 40},
		"5..30,1":    {5, 10, 20, 30, 1},
		"7..7":       {7},
		"":           nil, "0": nil, "-1": nil, "many": nil, "10..5": nil, "NaN": nil, "Inf": nil,
		"1..": nil, "1e9": nil,
	} {
		got, err := load.ParseRates(text)
		if !slices.Equal(got, want) || (err == nil) != (want != nil) {
			t.Errorf("%q: got %v, %v, want %v", text, got, err, want)
		}
	}
}

func FuzzParseRates(f *testing.F) {
	for _, seed := range []string{"10", "5..40", "1,2..9", "..", "1e-7..1e6"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		rates, err := load.ParseRates(text)
		for _, rate := range rates {
			if err == nil && !(rate > 0) {
				t.Errorf("%q: got %v", text, rates)
			}
		}
	})
}

func TestQuestionsOfAFile(t *testing.T) {
	for name, c := range map[string]struct {
		text, says string
		want       []string
	}{
		"as they are": {"Who?\n\n Where? \n", "", []string{"Who?", "Where?"}},
		"as JSON": {`{"question": "Who?", "topic_entities": ["X"], "answers": ["Y"]}`, "",
			[]string{"Who?"}},
		"JSON without any":     {`{"text": "Who?"}`, ":1: it has no question", nil},
		"JSON that is cut":     {"Who?\n{\"question\": ", ":2:", nil},
		"a file without lines": {"\n", "no questions", nil},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "questions")
			if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			all, err := load.ReadQuestions(file)
			var got []string
			for _, q := range all {
				got = append(got, q.Question)
			}
			if !slices.Equal(got, c.want) || (err == nil) != (c.says == "") || err != nil &&
				!strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
}

func TestMethodsTakeTurns(t *testing.T) {
	next := load.Rotate([]load.Question{{Question: "a"}, {Question: "b", TopicEntities: []string{"B"}}},
		[]string{"io", "pg-akv"}, nil)
	var got []string
	for n := range 5 {
		r := next(n)
		got = append(got, r.GetQuestion()+" by "+r.GetMethod())
	}
	want := []string{"a by io", "a by pg-akv", "b by io", "b by pg-akv", "a by io"}
	if !slices.Equal(got, want) || !next(0).GetOptions().GetNoRecord() || next(2).GetTopicEntities()[0] != "B" {
		t.Errorf("got %v", got)
	}
}
