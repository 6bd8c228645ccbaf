package score

import (
	"math"
	"strings"
	"testing"
)

func TestScore(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name       string
		prediction string
		answers    []string
		want       Scores
	}{
		{"one right line is perfect", "Pat Nixon", []string{"Pat Nixon"}, perfect},
		{
			"a right answer on the second line is a hit, but not at 1",
			"Eurasia\nSoutheast Asia", []string{"Southeast Asia"},
			Scores{Hit: 1, Precision: .5, Recall: 1, F1: 2. / 3, RoG: RoG{.5, 1, 2. / 3}},
		},
		{
			"missing answers cost recall", "John Kasich", []string{"John Kasich", "Ted Strickland",
				"Return J. Meigs, Jr."},
			Scores{Hit: 1, HitsAt1: 1, Precision: 1, Recall: 1. / 3, F1: .5, RoG: RoG{1, 1. / 3, .5}},
		},
		{"an answer within a sentence is found", "It is the city of {Paris}.", []string{"paris"}, perfect},
		{
			"a line with two answers is one of them, and both by RoG's formula", "Scotland and Wales",
			[]string{"Wales", "Scotland"},
			Scores{Hit: 1, HitsAt1: 1, Precision: 1, Recall: .5, F1: 2. / 3, RoG: RoG{2, 1, 4. / 3}},
		},
		{
			"a line that holds two answers leaves the other line the one it holds", "Ann Lee and Bo\nAnn Lee",
			[]string{"Ann Lee", "Bo"},
			Scores{Hit: 1, HitsAt1: 1, Precision: 1, Recall: 1, F1: 1, RoG: RoG{1, 1, 1}},
		},
		{
			"the same answer twice is right once", "Paris\nparis", []string{"Paris"},
			Scores{Hit: 1, HitsAt1: 1, Precision: .5, Recall: 1, F1: 2. / 3, RoG: RoG{.5, 1, 2. / 3}},
		},
		{
			"two lines match two answers of one name", "Springfield\nSpringfield",
			[]string{"Springfield", "springfield"},
			perfect,
		},
		{
			"an answer cut by a line break is a hit, and no line is right", "New\nYork", []string{"New York"},
			Scores{Hit: 1, RoG: RoG{.5, 1, 2. / 3}},
		},
		{"blank lines around the prediction are no lines of it", "\n\n Paris \n", []string{"Paris"}, perfect},
		{"a wrong line scores nothing", "London", []string{"Paris"}, Scores{}},
		{"an empty prediction scores nothing", "", []string{"Paris"}, Scores{}},
		{"no right answers score nothing", "Paris", nil, Scores{}},
		{"an answer that normalises to nothing is not found everywhere", "Paris", []string{"The The", "!!!"}, Scores{}},
		{"an empty answer is not found everywhere", "Paris", []string{"", " "}, Scores{}},
		{"an answer that normalises to nothing is found as written", "the THE", []string{"The The"}, perfect},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := Score(c.prediction, c.answers); !almostEqual(got, c.want) {
				t.Errorf("Score(%q, %q)\n got %+v\nwant %+v", c.prediction, c.answers, got, c.want)
			}
		})
	}
}

func almostEqual(a, b Scores) bool {
	const tolerance = 1e-9
	for _, d := range []float64{
		a.Hit - b.Hit, a.HitsAt1 - b.HitsAt1, a.Precision - b.Precision, a.Recall - b.Recall, a.F1 - b.F1,
		a.ExactMatch - b.ExactMatch, a.RougeL - b.RougeL, a.RoG.Precision - b.RoG.Precision,
		a.RoG.Recall - b.RoG.Recall, a.RoG.F1 - b.RoG.F1,
	} {
		if !(math.Abs(d) <= tolerance) { // NaN is near nothing
			return false
		}
	}
	return true
}

func FuzzScore(f *testing.F) {
	f.Add("Paris\nLondon", "Paris")
	f.Add("", "!!!")
	f.Add("the\n\n the", "THE")
	f.Fuzz(func(t *testing.T, prediction, answer string) {
		s := Score(prediction, []string{answer, "something else"})
		if s.HitsAt1 > s.Hit || s.Recall < 0 || s.Recall > 1 || s.Precision > 1 || s.F1 > 1 || s.F1 > s.RoG.F1 {
			t.Fatalf("Score(%q, %q) = %+v", prediction, answer, s)
		}
		if s.Hit == 0 && s != (Scores{}) {
			t.Fatalf("Score(%q, %q) has no hit and is %+v", prediction, answer, s)
		}
		right := Score(answer, []string{answer})
		if oneLine := !strings.Contains(answer, "\n"); oneLine && NameKey(answer) != "" &&
			!almostEqual(right, perfect) {
			t.Fatalf("%q does not answer itself: %+v", answer, right)
		}
	})
}

var perfect = Scores{Hit: 1, HitsAt1: 1, Precision: 1, Recall: 1, F1: 1, RoG: RoG{1, 1, 1}}
