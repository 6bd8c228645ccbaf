package evaluator_test

import (
	"math"
	"testing"

	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/services/evaluator"
)

// token is a token with the probabilities (0 to 1) of its alternatives.
func token(text string, alternatives map[string]float64) llm.Token {
	t := llm.Token{Text: text}
	for a, p := range alternatives {
		t.Top = append(t.Top, llm.Alternative{Text: a, LogProb: math.Log(p)})
		if a == text {
			t.LogProb = math.Log(p)
		}
	}
	return t
}

func TestReadYesNo(t *testing.T) {
	const none = -1
	for _, c := range []struct {
		name        string
		text        string
		tokens      []llm.Token
		yes, known  bool
		probability float64
	}{
		{"a plain yes", "yes", nil, true, true, none},
		{"a plain no with a reason", "No, it is a film.", nil, false, true, none},
		{"marks around the word do not matter", "\n **Yes**.\nBecause", nil, true, true, none},
		{"another word is neither", "perhaps", nil, false, false, none},
		{"another language is neither", "да", nil, false, false, none},
		{"a longer word is neither", "nothing", nil, false, false, none},
		{"nothing is neither", "", nil, false, false, none},
		{"probabilities outweigh the greedy word", "no",
			[]llm.Token{token("no", map[string]float64{"no": .4, "yes": .3, "Yes": .3})}, true, true, .6},
		{"both spellings count on both sides", "yes",
			[]llm.Token{token("yes", map[string]float64{"yes": .3, " No": .2, "NO": .2})}, false, true, 3. / 7},
		{"even chances are a yes", "no", []llm.Token{token("no", map[string]float64{"no": .5, "yes": .5})},
			true, true, .5},
		{"white space before the word is passed over", " yes", []llm.Token{token(" ", map[string]float64{" ": 1}),
			token("yes", map[string]float64{"yes": .9, "no": .1})}, true, true, .9},
		{"a token without alternatives stands for itself", "yes", []llm.Token{{Text: "yes", LogProb: math.Log(.8)}},
			true, true, 1},
		{"what comes after the first word does not count", "well yes",
			[]llm.Token{token("well", map[string]float64{"well": 1}), token(" yes", map[string]float64{" yes": 1})},
			false, false, none},
		{"probabilities that are no numbers leave the word", "yes", []llm.Token{{Text: "yes", LogProb: math.NaN()}},
			true, true, none},
		{"endless probabilities leave the word", "no", []llm.Token{{Text: "no", LogProb: math.Inf(1)}},
			false, true, none},
		{"probabilities of nothing leave the word", "no", []llm.Token{{Text: "no", LogProb: -9999}}, false, true, none},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := evaluator.ReadYesNo(llm.Response{Text: c.text, Tokens: c.tokens})
			if got.Yes != c.yes || got.Known != c.known {
				t.Errorf("yes %v, known %v; want %v, %v", got.Yes, got.Known, c.yes, c.known)
			}
			switch {
			case (got.Probability == nil) != (c.probability == none):
				t.Errorf("probability %v, want %v", got.Probability, c.probability)
			case got.Probability != nil && math.Abs(float64(*got.Probability)-c.probability) > 1e-6:
				t.Errorf("probability %v, want %v", *got.Probability, c.probability)
			}
		})
	}
}

func FuzzReadYesNo(f *testing.F) {
	f.Add("yes", "no", -.1, -2.3)
	f.Add("", " ", math.NaN(), math.Inf(-1))
	f.Add("Yes.", "yes", 1e300, -1e300)
	f.Fuzz(func(t *testing.T, a, b string, p, q float64) {
		got := evaluator.ReadYesNo(llm.Response{Text: a, Tokens: []llm.Token{
			{Text: a, LogProb: p, Top: []llm.Alternative{{Text: a, LogProb: p}, {Text: b, LogProb: q}}},
			{Text: b, LogProb: q},
		}})
		if p := got.Probability; p != nil && !(*p >= 0 && *p <= 1 && got.Known && got.Yes == (*p >= .5)) {
			t.Errorf("got %v of %v", got, *p)
		}
	})
}
