package followup

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/triplemesh/triplemesh/internal/llm"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
)

var film = []turn{
	{generatorv1.Role_ROLE_USER, "who directed the quiet harbour in 1987"},
	{generatorv1.Role_ROLE_ASSISTANT, "It was Erik Halvorsen."},
}

func TestRead(t *testing.T) {
	for _, c := range []struct{ name, text, want, problem string }{
		{"a question is taken as it is", "When was Erik Halvorsen born?", "When was Erik Halvorsen born?", ""},
		{"a label before it is no part of it", "**Standalone question:** When was Erik Halvorsen born?",
			"When was Erik Halvorsen born?", ""},
		{"quotes and braces around it are none", "\"When was {Erik Halvorsen} born?\"", "When was Erik Halvorsen born?",
			""},
		{"the first line that says something counts", "\n```\nWhen was Erik Halvorsen born?\nHe was born in 1931.",
			"When was Erik Halvorsen born?", ""},
		{"a name may have another case than it was said in", "When was The Quiet Harbour made?",
			"When was The Quiet Harbour made?", ""},
		{"a name may stand in the genitive", "Who is Erik Halvorsen's mother?", "Who is Erik Halvorsen's mother?", ""},
		{"a word of the question itself was said", "Was Erik Halvorsen born in Bergen?",
			"Was Erik Halvorsen born in Bergen?", ""},
		{"a name that nobody said is the model's own", "When was Lars Holm born?", "", `"Lars"`},
		{"a number that nobody said is too", "Was Erik Halvorsen born in 1931?", "", `"1931"`},
		{"an answer is no question where it says something new", "Erik Halvorsen was born in Oslo.", "", `"Oslo"`},
		{"nothing but signs", " ?! \n ``` ", "", "no question"},
		{"far too much", strings.Repeat("a", maxBytes+1), "", "too long"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, problem := parseRewritten(llm.Response{Text: c.text, FinishReason: "stop"},
				"and was he born in Bergen?", film)
			if got != c.want || (problem == "") != (c.problem == "") || !strings.Contains(problem, c.problem) {
				t.Errorf("got %q, %q; want %q, %q", got, problem, c.want, c.problem)
			}
		})
	}
	if got, problem := parseRewritten(llm.Response{Text: "When was Erik", FinishReason: "length"}, "when?",
		film); got != "" ||
		!strings.Contains(problem, "cut off") {
		t.Errorf("a question that was cut off gave %q, %q", got, problem)
	}
}

func FuzzRead(f *testing.F) {
	f.Add("Standalone question: When was Erik Halvorsen born?", "when was he born")
	f.Add("```\n\"{Erik}\"\n```", "?")
	f.Add("\xff\u2028Question: Question: a", "Ⅻ")
	f.Add("· 'S 's I", "")
	f.Fuzz(func(t *testing.T, text, question string) {
		got, problem := parseRewritten(llm.Response{Text: text}, question, film)
		if (got == "") == (problem == "") {
			t.Errorf("%q gave both or neither of a question and a problem: %q, %q", text, got, problem)
		}
		if len(got) > maxBytes || !utf8.ValidString(got) || strings.ContainsAny(got, "\n{}") {
			t.Errorf("%q gave %q", text, got)
		}
	})
}

func FuzzAlone(f *testing.F) {
	f.Add("Who directed The Glass Orchard?")
	f.Add("who wrote It")
	f.Add("Who named The")
	f.Fuzz(func(t *testing.T, question string) {
		said := append([]turn{{generatorv1.Role_ROLE_USER, question}}, film...)
		if standsAlone(question, said) {
			t.Errorf("%q stands alone after it was asked itself", question)
		}
	})
}
