package sft

import (
	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/internal/llm"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

// Settings are the stages' own: a model is trained on the prompts that it will be sent.
type Settings struct {
	Prompts Prompts
	// Candidates, Verdict and Reflection limit what the prompts of these calls show.
	Candidates, Verdict, Reflection Limits
}

// Limits bound the evidence in a prompt.
type Limits struct {
	// MaxGroups is the maximum number of relation paths, MaxEnds that of the ends of each.
	MaxGroups, MaxEnds int
}

// Prompts renders the prompts of the stages.
type Prompts interface {
	// PlanRelationPaths asks for relation paths in RoG's notation.
	PlanRelationPaths(question string, topics []string) ([]llm.Message, error)
	ReadCandidates(question string, groups []*kgtext.PathGroup) ([]llm.Message, error)
	EvaluateQuestion(question string, candidates []*graphv1.CandidateAnswer,
		paths []*graphv1.ReasoningPath) ([]llm.Message, error)
	EvaluateAnswer(question string, candidate *graphv1.CandidateAnswer) ([]llm.Message, error)
	// Reflect also returns the names that the model may choose from.
	Reflect(Reflection) (messages []llm.Message, options []string, err error)
}

// Reflection is the input of the reflector.
type Reflection struct {
	Question   string
	Candidates []*graphv1.CandidateAnswer
	Paths      []*graphv1.ReasoningPath
	Verdict    *graphv1.QuestionVerdict
	Verdicts   map[string]*graphv1.AnswerVerdict // by answer
}

// maxGroups returns the number of relation paths that fit into the prompt of every stage.
func (s Settings) maxGroups() int {
	return min(s.Candidates.MaxGroups, s.Verdict.MaxGroups, s.Reflection.MaxGroups)
}

// example returns a prompt and what the model is to answer.
func example(task Task, id string, prompt []llm.Message, answer string, negative bool) Example {
	e := Example{Task: task, QuestionID: id, Negative: negative}
	for _, m := range prompt {
		e.Messages = append(e.Messages, Message{Role: string(m.Role), Content: m.Content})
	}
	e.Messages = append(e.Messages, Message{Role: string(llm.RoleAssistant), Content: answer})
	return e
}
