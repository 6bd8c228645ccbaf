package feedback

import (
	"fmt"
	"io"

	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// Filter selects feedback by flags.
type Filter struct {
	ForRun string `name:"run" placeholder:"RUN" help:"Only feedback on this run."`
	KG     string `name:"kg" placeholder:"NAME" help:"Only feedback on runs over this knowledge graph."`
	By     string `placeholder:"SUBJECT" help:"Only feedback of this caller."`
	Own    bool   `help:"Only your own."`
}

// Request returns the request that selects the feedback.
func (f Filter) Request() *orchestratorv1.ListFeedbackRequest {
	return &orchestratorv1.ListFeedbackRequest{RunId: f.ForRun, KgName: f.KG, Subject: f.By, Own: f.Own}
}

// Export is `triplemesh feedback export`: its flags, and what they do.
type Export struct {
	Filter
	Questions    bool    `help:"${feedback_questions}"`
	MinQuestions int     `default:"1" help:"Refuse fewer questions with a right answer."`
	MinCallers   int     `default:"1" help:"Refuse marks of fewer callers."`
	MaxShare     float64 `default:"0.5" help:"${feedback_max_share}"`
	MaxContested float64 `default:"0.2" help:"${feedback_max_contested}"`

	summary string
}

// HelpTexts are the help texts that are too long for a struct tag.
var HelpTexts = map[string]string{
	"feedback_questions":     "Write questions with the answers that are known to be right, for triplemesh eval.",
	"feedback_max_share":     "Largest share of the marks of one caller, if --min-callers is at least 2.",
	"feedback_max_contested": "Largest share of answers and triples that callers disagree on.",
}

func (e *Export) requirements() Requirements {
	return Requirements{MinQuestions: e.MinQuestions, MinCallers: e.MinCallers, MaxShare: e.MaxShare,
		MaxContested: e.MaxContested}
}

// Validate returns an error for the first flag that is invalid.
func (e *Export) Validate() error { return e.requirements().Validate() }

// Prepare returns what writes the marks, or the questions in them unless these do not meet the
// requirements.
func (e *Export) Prepare(marks []*orchestratorv1.Feedback) (write func(io.Writer) error, err error) {
	if !e.Questions {
		e.summary = fmt.Sprintf("%d marks", len(marks))
		return func(out io.Writer) error { return Write(out, marks) }, nil
	}
	set := Collect(marks, e.KG)
	if err := set.Check(e.requirements()); err != nil {
		return nil, err
	}
	return func(out io.Writer) error {
		n, err := set.WriteQuestions(out)
		e.summary = fmt.Sprintf("%d questions of %d marks by %d callers; %d contested answers and triples left out",
			n, set.Marks, len(set.Callers), len(set.Contested))
		return err
	}, nil
}

// Summary says in a line what was written.
func (e *Export) Summary() string { return e.summary }
