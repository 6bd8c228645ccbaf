// Package sft makes examples to fine-tune a model with: of questions with known
// answers and a knowledge graph, one file in chat format for the five tasks
// that Ger trains a model for (Ger §3.2 to §3.4).
package sft

import (
	"context"

	"google.golang.org/grpc"

	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

// Task is what an example teaches. Its name is that of the model calls it is
// for, as traces and metrics show them.
type Task string

const (
	// RelationPaths plans: a question in, relation paths in RoG's notation out
	// (Ger §3.2).
	RelationPaths Task = "relation-paths"
	// CandidateAnswers reads answers off reasoning paths (Ger §3.2).
	CandidateAnswers Task = "candidate-answers"
	// EvaluateQuestion judges a set of candidates (Ger §3.3).
	EvaluateQuestion Task = "evaluate-question"
	// EvaluateAnswer judges one candidate by its own reasoning paths (Ger §3.3).
	EvaluateAnswer Task = "evaluate-answer"
	// Reflect settles the answers with right or wrong verdicts at hand (Ger
	// §3.4).
	Reflect Task = "reflect"
)

// Tasks are all tasks, in the order of the method.
var Tasks = []Task{RelationPaths, CandidateAnswers, EvaluateQuestion, EvaluateAnswer, Reflect}

// Message is one turn of a conversation.
type Message struct {
	// Role is system, user or assistant.
	Role string `json:"role"`
	// Content is what is said.
	Content string `json:"content"`
}

// Example is one line of the file. All messages but the last are the prompt, as
// the stage sends it; the last is what the model is to learn to say.
type Example struct {
	Messages   []Message `json:"messages"`
	Task       Task      `json:"task"`
	QuestionID string    `json:"question_id"`
	// Negative says, of the tasks that judge, that the example shows what is
	// wrong: a wrong candidate, a set that is wrong or lacks an answer, wrong
	// verdicts. There are as many as others.
	Negative bool `json:"-"`
}

// Retriever is what is asked of the retriever stage.
type Retriever interface {
	FindShortestPaths(context.Context, *retrieverv1.FindShortestPathsRequest,
		...grpc.CallOption) (*retrieverv1.FindShortestPathsResponse, error)
	SuggestPaths(context.Context, *retrieverv1.SuggestPathsRequest,
		...grpc.CallOption) (*retrieverv1.SuggestPathsResponse, error)
	FollowPaths(context.Context, *retrieverv1.FollowPathsRequest, ...grpc.CallOption) (*retrieverv1.FollowPathsResponse,
		error)
}
