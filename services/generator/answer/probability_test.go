package answer

import (
	"math"
	"testing"

	"github.com/triplemesh/triplemesh/internal/llm"
)

func TestProbabilityIsTheMeanOverWhatStandsInBraces(t *testing.T) {
	t.Parallel()
	token := func(text string, p float64) llm.Token { return llm.Token{Text: text, LogProb: math.Log(p)} }
	for _, c := range []struct {
		name   string
		tokens []llm.Token
		want   float64
	}{
		{"words around the braces do not count", []llm.Token{token("It is", .1), token(" {", .2), token("Paris", .9),
			token("}", .3), token(".", .1)}, .9},
		{"several tokens are averaged", []llm.Token{token("{", 1), token("New", .9), token(" York", .4), token("}", 1)},
			.6},
		{"a token that holds brace and word counts", []llm.Token{token("{Par", .5), token("is}", .5)}, .5},
		{"several answers count alike", []llm.Token{token("{", 1), token("A", .25), token("} {", .1), token("B", 1),
			token("}", 1)}, .5},
		{"without braces every token counts", []llm.Token{token("Par", .81), token("is", 1)}, .9},
		{"a brace that is never opened closes nothing", []llm.Token{token("}", .1), token("{", .1), token("x", .7),
			token("}", .1)}, .7},
		{"a probability above one is one", []llm.Token{{Text: "x", LogProb: .5}}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := probability(c.tokens)
			if got == nil || math.Abs(float64(*got)-c.want) > 1e-6 {
				t.Errorf("probability = %v, want %v", got, c.want)
			}
		})
	}
	if got := probability(nil); got != nil {
		t.Errorf("probability of nothing = %v, want none", *got)
	}
}
