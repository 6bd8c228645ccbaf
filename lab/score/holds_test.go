package score

import (
	"slices"
	"testing"

	"github.com/triplemesh/triplemesh/lab/dataset"
)

func TestHolds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		answers []string
		names   []string
		want    bool
	}{
		{"a name that is an answer counts", []string{"Han River"}, []string{"Seoul", "Han River"}, true},
		{"case, articles and punctuation do not matter", []string{"The Ohio St. Univ."}, []string{"ohio st univ"},
			true},
		{"any of the answers will do", []string{"Wales", "England"}, []string{"England"}, true},
		{"a name that contains an answer does not count", []string{"Arizona"}, []string{"Arizona Cardinals"}, false},
		{"an answer that contains a name does not count", []string{"New York City"}, []string{"New York"}, false},
		{"no names hold nothing", []string{"Wales"}, nil, false},
		{"no answers are nowhere", nil, []string{"Wales"}, false},
		{"empty answers are nowhere", []string{"", " "}, []string{"", "Wales"}, false},
		{"a band of articles is itself", []string{"The The"}, []string{"the the"}, true},
		{"a band of articles is no other one", []string{"The The"}, []string{"A"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := ContainsAnswer(c.answers, c.names); got != c.want {
				t.Errorf("Holds(%q, %q) = %v", c.answers, c.names, got)
			}
		})
	}
}

func TestFoundCountsAnswersAndNotTheirNames(t *testing.T) {
	t.Parallel()
	q := dataset.Question{Answers: []string{"Spain", "The Netherlands", "!!!"}, Aliases: [][]string{{"España"}}}
	for _, c := range []struct {
		name  string
		names []string
		want  int
	}{
		{"nothing is found in nothing", nil, 0},
		{"two names of one answer are one", []string{"spain", "España", "Spain"}, 1},
		{"an alias will do", []string{"España"}, 1},
		{"a part of a name will not", []string{"Bank of Spain", "Nether"}, 0},
		{"what is left of nothing is no answer", []string{"", "???"}, 0},
		{"all answers", []string{"Netherlands", "!!!", "France", "Spain"}, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := CountFound(q, c.names); got != c.want {
				t.Errorf("found %d in %q, want %d", got, c.names, c.want)
			}
		})
	}
}

func FuzzHolds(f *testing.F) {
	f.Add("The Who", "who", "Cream")
	f.Add("!!!", "", "a")
	f.Fuzz(func(t *testing.T, answer, x, y string) {
		names := []string{x, y}
		held := ContainsAnswer([]string{answer}, names)
		slices.Reverse(names)
		if ContainsAnswer([]string{answer}, names) != held {
			t.Errorf("the order of the names %q matters", names)
		}
		if ContainsAnswer([]string{x}, []string{answer}) != ContainsAnswer([]string{answer}, []string{x}) {
			t.Errorf("%q and %q are the same one way only", answer, x)
		}
		if held && !ContainsAnswer([]string{answer, "another"}, append(names, "more")) {
			t.Errorf("more answers and names lose %q", answer)
		}
		if held && Score(x+"\n"+y, []string{answer}).Hit == 0 {
			t.Errorf("%q is among %q and yet no hit", answer, names)
		}
	})
}
