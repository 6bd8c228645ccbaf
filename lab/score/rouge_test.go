package score

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRougeL(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name       string
		text       string
		references []string
		want       Rouge
	}{
		{"the same text is perfect", "one two three", []string{"One, two: THREE!"}, Rouge{1, 1, 1}},
		{"missing words cost recall", "testing one", []string{"testing one two"}, Rouge{1, 2.0 / 3, 0.8}},
		{"words need not stand together", "testing two", []string{"testing one two"}, Rouge{1, 2.0 / 3, 0.8}},
		{"words in another order are not common", "two one", []string{"one two"}, Rouge{0.5, 0.5, 0.5}},
		{"the best reference counts", "a b c", []string{"x", "a b c d", "a"}, Rouge{1, 0.75, 6.0 / 7}},
		{"a line break is a space", "w1 w2\nw3", []string{"w1\nw2 w3"}, Rouge{1, 1, 1}},
		{"words are not stemmed", "runs", []string{"running"}, Rouge{}},
		{"accented letters part words", "café", []string{"caf"}, Rouge{1, 1, 1}},
		{"a repeated word counts as often as it is in both", "a a a", []string{"a a"}, Rouge{2.0 / 3, 1, 0.8}},
		{"no words are in common", "a", []string{"b"}, Rouge{}},
		{"an empty text scores nothing", "", []string{"one"}, Rouge{}},
		{"an empty reference scores nothing", "one", []string{""}, Rouge{}},
		{"two empty texts score nothing", "/", []string{"!"}, Rouge{}},
		{"no references score nothing", "one", nil, Rouge{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := RougeL(c.text, c.references)
			for _, d := range []float64{got.Precision - c.want.Precision, got.Recall - c.want.Recall,
				got.F1 - c.want.F1} {
				if math.Abs(d) > 1e-12 {
					t.Fatalf("RougeL(%q, %q) = %+v, want %+v", c.text, c.references, got, c.want)
				}
			}
		})
	}
}

// TestRougeLOfOtherImplementations recomputes what a recursive implementation gave for texts of our own
// and, with the evaluation data, what ROUGE-1.5.5 gave for two pairs, to the five
// digits that it prints.
func TestRougeLOfOtherImplementations(t *testing.T) {
	type pair struct {
		Text, Reference string
		Rouge
	}
	pairs := readFixture[pair](t, "rouge.jsonl")
	if len(pairs) != 3 {
		t.Fatalf("%d pairs", len(pairs))
	}
	if dir := dataDir(); dir != "" {
		texts, references := readLines(t, dir, "rouge_prediction.txt"), readLines(t, dir, "rouge_target.txt")
		for i, want := range []Rouge{{0.68750, 0.40741, 0.51163}, {0.65385, 0.40476, 0.50000}} {
			pairs = append(pairs, pair{texts[i], references[i], want})
		}
	}
	for _, p := range pairs {
		got := RougeL(p.Text, []string{p.Reference})
		for _, d := range []float64{got.Precision - p.Precision, got.Recall - p.Recall, got.F1 - p.F1} {
			if math.Abs(d) > 0.5e-5+1e-9 {
				t.Errorf("%q: got %+v, want %+v", p.Text, got, p.Rouge)
				break
			}
		}
	}
}

func readLines(t *testing.T, dir, name string) []string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "scoring", name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(data)), "\n")
}

func FuzzRougeL(f *testing.F) {
	f.Add("testing one", "testing one two")
	f.Add("", "é")
	f.Add("a b a b", "b a\xff")
	f.Fuzz(func(t *testing.T, text, reference string) {
		if len(text)+len(reference) > 4096 {
			t.Skip("the time grows by the product of the lengths")
		}
		there, back := RougeL(text, []string{reference}), RougeL(reference, []string{text})
		if there.Precision != back.Recall || there.Recall != back.Precision || there.F1 != back.F1 {
			t.Fatalf("%q and %q: %+v one way, %+v the other", text, reference, there, back)
		}
		if !(there.F1 >= 0 && there.F1 <= 1) {
			t.Fatalf("%q and %q: %+v", text, reference, there)
		}
		if self := RougeL(text, []string{reference, text}); len(rougeWords(text)) > 0 && self.F1 != 1 {
			t.Fatalf("%q against itself: %+v", text, self)
		}
	})
}
