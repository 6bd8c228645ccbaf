package score

import "strings"

// Rouge is how much of a text and of a reference is in the other, in order.
type Rouge struct {
	// Precision is the longest common subsequence of words over the words of
	// the text, 0 to 1.
	Precision float64 `json:"precision"`
	// Recall is the same over the words of the reference, 0 to 1.
	Recall float64 `json:"recall"`
	// F1 is the harmonic mean of both, 0 where both are 0.
	F1 float64 `json:"f1"`
}

// RougeL returns ROUGE-L (Lin, "ROUGE: a package for automatic evaluation of
// summaries", 2004, section 3.1) of a text against the best of its references:
// the one with the highest F1, the first of several. It is 0 with no
// references, and where either side has no words.
//
// It gives what ROUGE-1.5.5 gives without stemming, without dropping stop words
// and with beta at 1, on each text taken as one sentence: line breaks are
// spaces. Words are what the letters a to z and the digits 0 to 9 make up in
// lower case; all else parts them, letters with accents too, as it does there.
// So the figures say nothing about texts in other scripts.
func RougeL(text string, references []string) Rouge {
	var best Rouge
	words := rougeWords(text)
	for _, reference := range references {
		if r := rougeL(words, rougeWords(reference)); r.F1 > best.F1 {
			best = r
		}
	}
	return best
}

func rougeL(text, reference []string) Rouge {
	common := float64(longestCommonSubsequence(text, reference))
	if common == 0 {
		return Rouge{}
	}
	r := Rouge{Precision: common / float64(len(text)), Recall: common / float64(len(reference))}
	r.F1 = 2 * r.Precision * r.Recall / (r.Precision + r.Recall)
	return r
}

func rougeWords(text string) []string {
	return strings.FieldsFunc(lower(text), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
}

// longestCommonSubsequence returns its length. It takes time by the product of both
// lengths and memory by that of b.
func longestCommonSubsequence(a, b []string) int {
	row := make([]int, len(b)+1) // row[j]: of what was seen of a, and b[:j]
	for _, word := range a {
		diagonal := 0
		for j, other := range b {
			above := row[j+1]
			if word == other {
				row[j+1] = diagonal + 1
			} else {
				row[j+1] = max(above, row[j])
			}
			diagonal = above
		}
	}
	return row[len(b)]
}
