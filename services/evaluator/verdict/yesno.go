package verdict

import (
	"math"
	"strings"

	"github.com/triplemesh/triplemesh/internal/llm"
)

// topLogProbs is how many alternatives to the first token are asked for: yes
// and no in their spellings are among the first of them.
const topLogProbs = 10

// YesNo is a model's answer to a yes-or-no question.
type YesNo struct {
	Yes bool
	// Probability of yes against no, 0 to 1, by the first token that is either;
	// nil where the endpoint gave no probabilities.
	Probability *float32
	// Known is false where the answer was neither.
	Known bool
}

// ReadYesNo reads yes or no off a response. Where there are token
// probabilities, yes is what is at least as probable as not: a greedy answer
// hides how close it was.
func ReadYesNo(resp llm.Response) YesNo {
	for _, token := range resp.Tokens {
		if p, ok := probability(token); ok {
			return YesNo{Yes: p >= 0.5, Probability: &p, Known: true}
		}
		if strings.TrimSpace(token.Text) != "" {
			break
		}
	}
	var first string
	if words := strings.Fields(resp.Text); len(words) > 0 {
		first = words[0]
	}
	yes, known := yesNo(first)
	return YesNo{Yes: yes, Known: known}
}

// probability weighs the spellings of yes among a token's alternatives against
// those of no.
func probability(token llm.Token) (float32, bool) {
	alternatives := token.Top
	if len(alternatives) == 0 {
		alternatives = []llm.Alternative{{Text: token.Text, LogProb: token.LogProb}}
	}
	var yes, no float64
	for _, a := range alternatives {
		if y, known := yesNo(a.Text); known && y {
			yes += math.Exp(a.LogProb)
		} else if known {
			no += math.Exp(a.LogProb)
		}
	}
	if yes+no == 0 || math.IsNaN(yes+no) || math.IsInf(yes+no, 0) {
		return 0, false
	}
	return float32(yes / (yes + no)), true
}

func yesNo(word string) (yes, known bool) {
	switch strings.ToLower(strings.Trim(word, " \t\r\n.,!:;\"'*`")) {
	case "yes", "y", "true", "correct":
		return true, true
	case "no", "n", "false", "incorrect":
		return false, true
	}
	return false, false
}
