package candidates

import (
	"fmt"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/internal/llm"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

// maxReviewed bounds the candidates shown with their verdicts.
const maxReviewed = 48

// ReviewMessages is the prompt with the verdicts on the previous candidates (Ger §4.3.2, w/
// generation).
func (r *Reader) ReviewMessages(question string, groups []*kgtext.PathGroup,
	feedback *generatorv1.Feedback) ([]llm.Message, error) {
	var candidates []string
	for _, v := range feedback.GetAnswers()[:min(len(feedback.GetAnswers()), maxReviewed)] {
		candidates = append(candidates, v.GetAnswer()+describe(v))
	}
	return r.review.Messages(struct {
		Question, Review  string
		Lines, Candidates []string
	}{question, reason(feedback.GetQuestion()), kgtext.FormatGroups(groups, r.cfg.MaxGroups, r.cfg.MaxEnds),
		candidates})
}

// describe is a verdict in the prompt, behind a candidate.
func describe(v *graphv1.AnswerVerdict) string {
	word := "wrong"
	switch {
	case v.GetUnknown():
		return " (not judged)"
	case v.GetCorrect():
		word = "right"
	}
	if v.Probability == nil {
		return " (" + word + ")"
	}
	return fmt.Sprintf(" (%s, %.2f)", word, v.GetProbability())
}

// reason is the verdict on the set in words.
func reason(v *graphv1.QuestionVerdict) string {
	switch {
	case v == nil || v.GetReason() != "":
		return v.GetReason()
	case v.GetIncomplete() && !v.GetCorrect():
		return "not every candidate is right, and an answer is missing"
	case v.GetIncomplete():
		return "an answer is missing"
	case v.GetCorrect():
		return "every candidate is right"
	}
	return "not every candidate is right"
}

// acceptedEnds are the candidates judged right, kept if the model names none in the second attempt.
func acceptedEnds(feedback *generatorv1.Feedback, groups []*kgtext.PathGroup) []string {
	var right []string
	for _, v := range feedback.GetAnswers() {
		if v.GetCorrect() {
			right = append(right, v.GetAnswer())
		}
	}
	ends, _ := match(right, groups)
	return ends
}
