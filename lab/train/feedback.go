package train

import (
	"github.com/triplemesh/triplemesh/lab/dataset"
	"github.com/triplemesh/triplemesh/lab/feedback"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// FeedbackRequirements are what feedback must meet to train a ranker.
func FeedbackRequirements() feedback.Requirements {
	r := feedback.DefaultRequirements()
	r.MinQuestions = minUsable
	return r
}

// NewFeedbackSet makes a set of the questions whose answers callers marked. It returns a
// feedback.RefusedError if they cannot be trusted.
func NewFeedbackSet(marks []*orchestratorv1.Feedback, kg *graphv1.KnowledgeGraphRef,
	required feedback.Requirements, seed int64) (*Set, error) {
	collected := feedback.Collect(marks, kg.GetName())
	if err := collected.Check(required); err != nil {
		return nil, err
	}
	var questions []dataset.Question
	for _, q := range collected.Questions {
		questions = append(questions, q.Question)
	}
	return NewSet("feedback", kg, questions, 0, seed)
}
