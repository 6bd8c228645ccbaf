package score

import (
	"testing"

	"github.com/triplemesh/triplemesh/lab/dataset"
)

func TestExactMatch(t *testing.T) {
	t.Parallel()
	uk := []string{"England", "Wales"}
	for _, c := range []struct {
		name       string
		question   dataset.Question
		prediction string
		want       bool
	}{
		{"case, articles and punctuation do not count", dataset.Question{Answers: []string{"The Beatles"}},
			"{beatles}.", true},
		{"a sentence that holds the answer is no match", dataset.Question{Answers: []string{"Paris"}},
			"It is Paris", false},
		{"any alternative will do", dataset.Question{Answers: uk, Kind: dataset.Alternatives}, "Wales", true},
		{"all alternatives are not one", dataset.Question{Answers: uk, Kind: dataset.Alternatives}, "England\nWales",
			false},
		{"lines of an alternative are joined", dataset.Question{Answers: []string{"New York"},
			Kind: dataset.Alternatives}, "New\nYork", true},
		{"an alias is the answer", dataset.Question{Answers: []string{"UK"}, Aliases: [][]string{{"Britain"}},
			Kind: dataset.Alternatives}, "Britain", true},
		{"a full set matches in any order", dataset.Question{Answers: uk, Kind: dataset.Set},
			"wales\n\nEngland\nWales\n", true},
		{"a part of a set is no match", dataset.Question{Answers: uk, Kind: dataset.Set}, "Wales", false},
		{"a set and more is no match", dataset.Question{Answers: uk, Kind: dataset.Set}, "Wales\nEngland\nFrance",
			false},
		{"an alias names its answer of a set", dataset.Question{Answers: uk, Aliases: [][]string{nil, {"Cymru"}},
			Kind: dataset.Set}, "England\nCymru", true},
		{"an alias beside its answer is no wrong line", dataset.Question{Answers: uk,
			Aliases: [][]string{nil, {"Cymru"}}, Kind: dataset.Set}, "England\nCymru\nWales", true},
		{"one of two answers will do where the kind is unknown", dataset.Question{Answers: uk}, "Wales", true},
		{"both answers will do where the kind is unknown", dataset.Question{Answers: uk}, "Wales\nEngland", true},
		{"a reference text can be matched", dataset.Question{Answers: []string{"It is big."}, Kind: dataset.Open},
			"it is\nbig", true},
		{"a name that normalises to nothing is compared as written", dataset.Question{Answers: []string{"The The"}},
			"the the", true},
		{"nothing is no answer", dataset.Question{Answers: uk}, " \n", false},
		{"nothing matches no answers", dataset.Question{Kind: dataset.Set}, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := ExactMatch(c.question, c.prediction); got != c.want {
				t.Errorf("ExactMatch(%+v, %q) = %v", c.question, c.prediction, got)
			}
		})
	}
}

func TestQuestion(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name       string
		question   dataset.Question
		prediction string
		want       Scores
	}{
		{
			"without aliases it is Of with the exact match",
			dataset.Question{Answers: []string{"Wales", "England"}}, "Wales",
			Scores{Hit: 1, HitsAt1: 1, Precision: 1, Recall: 0.5, F1: 2.0 / 3, ExactMatch: 1,
				RoG: RoG{1, .5, 2.0 / 3}},
		},
		{
			"an alias counts as its answer, and once",
			dataset.Question{Answers: []string{"united_kingdom"}, Aliases: [][]string{{"united kingdom"}},
				Kind: dataset.Set},
			"United Kingdom",
			Scores{Hit: 1, HitsAt1: 1, Precision: 1, Recall: 1, F1: 1, ExactMatch: 1, RoG: RoG{1, 1, 1}},
		},
		{
			"a value in another form is found, as the exact match has it",
			dataset.Question{Answers: []string{"1,000"}, Kind: dataset.Alternatives}, "1000.0",
			Scores{Hit: 1, HitsAt1: 1, Precision: 1, Recall: 1, F1: 1, ExactMatch: 1, RoG: RoG{1, 1, 1}},
		},
		{
			"an open question is scored by ROUGE-L alone",
			dataset.Question{Answers: []string{"x", "testing one two"}, Kind: dataset.Open}, "testing one",
			Scores{RougeL: 0.8},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := Question(c.question, c.prediction); !almostEqual(got, c.want) {
				t.Errorf("Question(%+v, %q)\n got %+v\nwant %+v", c.question, c.prediction, got, c.want)
			}
		})
	}
}

func FuzzQuestion(f *testing.F) {
	f.Add("Wales\nEngland", "wales", "Cymru", "England")
	f.Add("the", "!!!", "", "A")
	f.Add("New\nYork", "New York", "NYC", "new\x1cyork")
	f.Fuzz(func(t *testing.T, prediction, answer, alias, other string) {
		q := dataset.Question{Answers: []string{answer, other}}
		plain := Question(q, prediction)
		of := Score(prediction, q.Answers)
		if of.ExactMatch = plain.ExactMatch; plain != of {
			t.Fatalf("Question gives %+v, and Of %+v", plain, of)
		}
		q.Aliases = [][]string{{alias}}
		named := Question(q, prediction)
		if named.Hit < plain.Hit || named.Recall < plain.Recall || named.ExactMatch < plain.ExactMatch &&
			NameKey(alias) != "" {
			t.Fatalf("with the alias %q it is %+v, without %+v", alias, named, plain)
		}
		for _, kind := range []dataset.Kind{dataset.Set, dataset.Alternatives, ""} {
			q.Kind = kind
			if s := Question(q, prediction); s.ExactMatch > s.Hit {
				t.Fatalf("%q is an exact match of %+v and no hit: %+v", prediction, q, s)
			}
		}
	})
}

func TestValuesAreComparedByValue(t *testing.T) {
	t.Parallel()
	set := func(answers ...string) dataset.Question {
		return dataset.Question{Answers: answers, Kind: dataset.Set}
	}
	for _, c := range []struct {
		name       string
		question   dataset.Question
		prediction string
		exact, hit bool
	}{
		{"separators of thousands do not count", set("7071639"), "7,071,639", true, true},
		{"7 is not 17", set("7"), "17", false, false},
		{"7 is not in a sentence about 17", set("7"), "There are 17 of them.", false, false},
		{"a sign counts", set("-85"), "85", false, false},
		{"a decimal point counts", set("0.68"), "068", false, false},
		{"trailing zeros do not count", set("299.5"), "299.50", true, true},
		{"dates are equal in any notation", set("1956-10-15"), "15 October 1956", true, true},
		{"days differ", set("1956-10-15"), "16 October 1956", false, false},
		{"no is not in Norway", set("no"), "Norway", false, false},
		{"no is no", set("no"), "No.", true, true},
		{"one of two numbers is found", set("7", "9"), "9\n12", false, true},
		{"names are compared as before", set("Paris"), "the city of Paris", false, true},
		{"a question without an answer has no scores", dataset.Question{Unanswerable: true}, "7", false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := Question(c.question, c.prediction)
			if (got.ExactMatch == 1) != c.exact || (got.Hit == 1) != c.hit {
				t.Errorf("Question(%+v, %q) = %+v", c.question, c.prediction, got)
			}
		})
	}
}
