package answer_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/services/generator/answer"
)

func TestBraces(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"one entity in a sentence", "It was {Erik Halvorsen}.", []string{"Erik Halvorsen"}},
		{"several in order", "{B} and {A}", []string{"B", "A"}},
		{"a repeat counts once", "{A}, {A}", []string{"A"}},
		{"white space and quotes are trimmed", `{ "New  York" }`, []string{"New York"}},
		{"an unclosed brace ends with the text", "I think {Oslo", []string{"Oslo"}},
		{"an unclosed brace ends with its line", "{Oslo\nBergen", []string{"Oslo"}},
		{"doubled braces are read as one", "{{Oslo}}", []string{"Oslo"}},
		{"empty braces are passed over", "{} { } {X}", []string{"X"}},
		{"no braces, no entities", "Oslo", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := answer.Braces(c.text); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	if got := answer.Braces(strings.Repeat("{a}{b}", 1000)); len(got) != 2 {
		t.Errorf("a loop of two entities gave %d", len(got))
	}
}

func FuzzBraces(f *testing.F) {
	for _, seed := range []string{"{a}", "{{}", "}{", "{a\xff}", "{\n}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, entity := range answer.Braces(text) {
			if entity == "" || strings.ContainsAny(entity, "{}\n") {
				t.Errorf("Braces(%q) holds %q", text, entity)
			}
		}
	})
}
