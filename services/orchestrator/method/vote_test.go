package method

import (
	"slices"
	"testing"
)

func TestMajorityVote(t *testing.T) {
	for _, c := range []struct {
		name    string
		samples [][]string
		answers []string
		sample  int
	}{
		{"two of three win", [][]string{{"Oslo"}, {"Bergen"}, {"Bergen"}}, []string{"Bergen"}, 1},
		{"spellings of one name count together, shown as first written", [][]string{{"St. John"}, {"st john"},
			{"Oslo"}}, []string{"St. John"}, 0},
		{"each answer of a set is voted on alone", [][]string{{"Tessen", "Orla"}, {"Orla", "Harn"}, {"Tessen"}},
			[]string{"Tessen", "Orla"}, 0},
		{"a majority that no sample gives alone has none that stands for it", [][]string{{"Tessen", "Orla", "Harn"},
			{"Tessen", "Orla", "Elde"}, {"Ask"}}, []string{"Tessen", "Orla"}, -1},
		{"the order of a set does not count", [][]string{{"Orla", "Tessen"}, {"Tessen", "Orla"}, {"Harn"}},
			[]string{"Orla", "Tessen"}, 0},
		{"three that differ: the first", [][]string{{"Oslo"}, {"Bergen"}, {"Ask"}}, []string{"Oslo"}, 0},
		{"four of which half agree: the best supported", [][]string{{"Ask"}, {"Oslo", "Bergen"}, {"Bergen"}, {"Elde"}},
			[]string{"Oslo", "Bergen"}, 1},
		{"a sample without an answer votes for none", [][]string{nil, {"Oslo"}, nil}, []string{"Oslo"}, 1},
		{"one sample is the answer", [][]string{{"Tessen", "Orla"}}, []string{"Tessen", "Orla"}, 0},
		{"two samples that differ: the earlier", [][]string{{"Oslo"}, {"Bergen"}}, []string{"Oslo"}, 0},
		{"a repeat within a sample is one vote", [][]string{{"Oslo", "oslo", "OSLO"}, {"Bergen"}, {"Bergen"}},
			[]string{"Bergen"}, 1},
		{"signs alone are an answer of their own", [][]string{{"!!!"}, {"!!!"}, {"?"}}, []string{"!!!"}, 0},
		{"no answers at all", [][]string{nil, nil, nil}, nil, -1},
		{"no samples", nil, nil, -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			if answers, sample := majorityVote(c.samples); !slices.Equal(answers, c.answers) || sample != c.sample {
				t.Errorf("got %q by sample %d, want %q by %d", answers, sample, c.answers, c.sample)
			}
		})
	}
}
