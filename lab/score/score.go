// Package score says how good an answer is. Answers and lines of a prediction are matched one to one,
// so that no score is above 1; Scores.RoG are the scores by the formula that was published with RoG
// (Luo et al., "Reasoning on Graphs", ICLR 2024), for comparison with published figures.
//
// What papers on knowledge graph question answering call "Hits@1" is Hit here: whether any right
// answer stands anywhere in the prediction. It grows with every answer listed. HitsAt1 looks at the
// first line alone.
package score

import (
	"slices"
	"strings"
)

// Scores are the scores of one question, each from 0 to 1.
type Scores struct {
	// Hit is 1 where at least one right answer is found in the prediction,
	// else 0. Papers call it "Hits@1".
	Hit float64 `json:"hit"`
	// HitsAt1 is 1 where at least one right answer is found in the
	// prediction's first line, else 0.
	HitsAt1 float64 `json:"hits_at_1"`
	// Precision is the number of matched pairs of a line and a right answer that it holds, no line and
	// no answer in two of them, over the number of lines predicted.
	Precision float64 `json:"precision"`
	// Recall is the same number over the number of right answers.
	Recall float64 `json:"recall"`
	// F1 is the harmonic mean of Precision and Recall; 0 where both are 0.
	F1 float64 `json:"f1"`
	// ExactMatch is 1 where the prediction is the answer and nothing besides
	// (see the function), else 0. Score leaves it at 0.
	ExactMatch float64 `json:"exact_match"`
	// RougeL is the F1 of ROUGE-L against the best reference of an open
	// question. It is 0 for any other question.
	RougeL float64 `json:"rouge_l,omitempty"`
	// RoG are the scores by RoG's formula.
	RoG RoG `json:"rog,omitzero"`
}

// RoG are scores by RoG's formula: every right answer found anywhere in the prediction counts, however
// many stand in one line.
type RoG struct {
	// Precision is the number of right answers found over the number of lines; above 1 where a line
	// holds several.
	Precision float64 `json:"precision"`
	// Recall is the number found over that of right answers, 0 to 1; RoG calls it accuracy too.
	Recall float64 `json:"recall"`
	// F1 is their harmonic mean; it can be above 1 as well.
	F1 float64 `json:"f1"`
}

// Score scores a prediction, one answer a line and the best first, against the
// right answers. A line holds a right answer where its normal form (see
// Normalise) contains the answer's, or where it is the same number or date in another form.
// For Hit and RoG the prediction is searched as one text with its lines joined, so that an answer
// cut by a line break is found too.
//
// With no right answers, or an empty prediction, every score is 0.
func Score(prediction string, answers []string) Scores {
	names := make([][]string, len(answers))
	for i := range answers {
		names[i] = answers[i : i+1]
	}
	return scoreAliases(prediction, names, false)
}

// scoreAliases is Score for answers that have several names each. byValue finds numbers, dates, yes
// and no only as whole lines.
func scoreAliases(prediction string, answers [][]string, byValue bool) Scores {
	lines := strings.Split(strings.TrimFunc(prediction, isSpace), "\n")
	texts := make([]text, len(lines))
	for i, line := range lines {
		texts[i] = newText(line)
	}
	all := newText(strings.Join(lines, " "))
	holds := make([][]int, len(answers)) // the lines that hold each answer
	found := 0
	for i, names := range answers {
		isNamed := func(line string) bool {
			return slices.ContainsFunc(names, func(name string) bool { return AnswerKey(line) == AnswerKey(name) })
		}
		isWhole := byValue && isValue(names[0])
		if !isWhole {
			holds[i] = filterIndex(texts, func(t text) bool { return slices.ContainsFunc(names, t.contains) })
		}
		if len(holds[i]) == 0 && slices.ContainsFunc(names, isValue) {
			holds[i] = filterIndex(lines, isNamed) // the same value in another form
		}
		if len(holds[i]) > 0 || !isWhole && slices.ContainsFunc(names, all.contains) {
			found++
		}
	}
	if found == 0 {
		return Scores{}
	}
	matched := countMatched(holds, len(lines))
	s := Scores{Hit: 1}
	s.Precision, s.Recall, s.F1 = harmonise(matched, len(lines), len(answers))
	s.RoG.Precision, s.RoG.Recall, s.RoG.F1 = harmonise(found, len(lines), len(answers))
	if slices.ContainsFunc(holds, func(at []int) bool { return slices.Contains(at, 0) }) {
		s.HitsAt1 = 1
	}
	return s
}

func filterIndex[T any](list []T, keep func(T) bool) (kept []int) {
	for i, x := range list {
		if keep(x) {
			kept = append(kept, i)
		}
	}
	return kept
}

// harmonise returns precision, recall and F1 of a number of right answers.
func harmonise(right, lines, answers int) (precision, recall, f1 float64) {
	if right == 0 {
		return 0, 0, 0
	}
	precision, recall = float64(right)/float64(lines), float64(right)/float64(answers)
	return precision, recall, 2 * precision * recall / (precision + recall)
}

// countMatched returns the size of a largest matching of answers to the lines that hold them, by
// augmenting paths (Kuhn, 1955).
func countMatched(holds [][]int, lines int) int {
	taken := make([]int, lines) // the answer, from 1, that has a line
	var assign func(answer int, tried []bool) bool
	assign = func(answer int, tried []bool) bool {
		for _, line := range holds[answer] {
			if tried[line] {
				continue
			}
			tried[line] = true
			if taken[line] == 0 || assign(taken[line]-1, tried) {
				taken[line] = answer + 1
				return true
			}
		}
		return false
	}
	matched := 0
	for answer := range holds {
		if len(holds[answer]) > 0 && assign(answer, make([]bool, lines)) {
			matched++
		}
	}
	return matched
}

// text is a text in the two forms in which answers are looked for.
type text struct{ normal, plain string }

func newText(s string) text { return text{normal: Normalise(s), plain: squeezeLower(s)} }

// contains looks for an answer. An answer that Normalise leaves nothing of, such
// as "A" or "!!!", is looked for as it is written. RoG's evaluation counts it
// as found in every prediction, even in an empty one.
func (t text) contains(answer string) bool {
	if normal := Normalise(answer); normal != "" {
		return strings.Contains(t.normal, normal)
	}
	written := squeezeLower(answer)
	return written != "" && strings.Contains(" "+t.plain+" ", " "+written+" ")
}

// squeezeLower returns a text in lower case, with its white space squeezed and nothing
// dropped.
func squeezeLower(s string) string { return squeeze(lower(s)) }
