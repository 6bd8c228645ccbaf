package score

import (
	"strings"

	"github.com/triplemesh/triplemesh/lab/dataset"
)

// Question scores a prediction for a question: as Score does, with the aliases of
// an answer counting as that answer, and by exact match. The prediction for an
// open question is scored by ROUGE-L alone, and that for one that no answer is
// right for has no scores: whether it was refused is measured by itself.
//
// Of a question with a full set of answers, numbers, dates, yes and no are found
// only where a line is that value.
func Question(q dataset.Question, prediction string) Scores {
	if q.Unanswerable {
		return Scores{}
	}
	if q.Kind == dataset.Open {
		return Scores{RougeL: RougeL(prediction, q.Answers).F1}
	}
	names := make([][]string, len(q.Answers))
	for i := range q.Answers {
		names[i] = q.NamesOf(i)
	}
	s := scoreAliases(prediction, names, q.Kind == dataset.Set)
	if ExactMatch(q, prediction) {
		s.ExactMatch = 1
	}
	return s
}

// ExactMatch reports whether a prediction is the answer and nothing besides.
// Names are compared in their normal form (see Normalise), so that case,
// articles, punctuation and white space do not count, and numbers and dates by
// value. What it takes depends on the kind of the question's answers:
//
//   - Alternatives and Open: the whole prediction, its lines joined, is a name
//     of one of the answers. This is the exact match of SQuAD (Rajpurkar et al.,
//     2016): the best over the right answers.
//   - Set: every line of the prediction is a name of an answer, and every answer
//     is named by a line. Order and repetition do not count.
//   - Where the dataset does not say what its answers are, either will do.
func ExactMatch(q dataset.Question, prediction string) bool {
	switch q.Kind {
	case dataset.Alternatives, dataset.Open:
		return isOne(q, prediction)
	case dataset.Set:
		return isSet(q, prediction)
	}
	return isOne(q, prediction) || isSet(q, prediction)
}

func isOne(q dataset.Question, prediction string) bool {
	predicted := AnswerKey(prediction)
	if predicted == "" {
		return false
	}
	for _, name := range q.Names() {
		if AnswerKey(name) == predicted {
			return true
		}
	}
	return false
}

func isSet(q dataset.Question, prediction string) bool {
	predicted := make(map[string]bool) // whether a line names an answer
	for line := range strings.SplitSeq(prediction, "\n") {
		if key := AnswerKey(line); key != "" {
			predicted[key] = false
		}
	}
	if len(q.Answers) == 0 {
		return false
	}
	for i := range q.Answers {
		named := false
		for _, name := range q.NamesOf(i) {
			if _, found := predicted[AnswerKey(name)]; found {
				predicted[AnswerKey(name)], named = true, true
			}
		}
		if !named {
			return false
		}
	}
	for _, right := range predicted {
		if !right {
			return false
		}
	}
	return true
}
