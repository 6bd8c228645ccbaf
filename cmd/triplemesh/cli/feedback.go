package cli

import (
	"errors"
	"fmt"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/show"
	"github.com/triplemesh/triplemesh/internal/config"
	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/lab/feedback"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

type feedbackCommand struct {
	Give   feedbackGive   `cmd:"" default:"withargs" help:"Mark answers and triples of a run."`
	List   feedbackList   `cmd:"" help:"List feedback, that on the newest run first."`
	Export feedbackExport `cmd:"" help:"Write feedback as JSON Lines, or the questions with answers in it."`
	Delete feedbackDelete `cmd:"" help:"Delete marks."`
}

type feedbackGive struct {
	ServerFlags
	RunID         string   `arg:"" name:"run" help:"${feedback_run}"`
	Right         []string `sep:"none" placeholder:"ANSWER" help:"This answer is right. Repeatable."`
	Wrong         []string `sep:"none" placeholder:"ANSWER" help:"This answer is wrong. Repeatable."`
	Missing       []string `sep:"none" placeholder:"ANSWER" help:"${feedback_missing}"`
	RightTriple   []string `sep:"none" placeholder:"TRIPLE" help:"${feedback_triple}"`
	WrongTriple   []string `sep:"none" placeholder:"TRIPLE" help:"This triple is wrong. Repeatable."`
	MissingTriple []string `sep:"none" placeholder:"TRIPLE" help:"This triple is right, and missing. Repeatable."`
	Comment       string   `placeholder:"TEXT" help:"Why; stored with every mark."`
	JSON          bool     `name:"json" help:"Print the stored marks as JSON."`
}

// marks returns the marks of the flags.
func (c *feedbackGive) marks() ([]*orchestratorv1.Mark, error) {
	var all []*orchestratorv1.Mark
	for _, flag := range []struct {
		name             string
		answers, triples []string
		judgement        orchestratorv1.Judgement
	}{
		{"--right-triple", c.Right, c.RightTriple, orchestratorv1.Judgement_JUDGEMENT_RIGHT},
		{"--wrong-triple", c.Wrong, c.WrongTriple, orchestratorv1.Judgement_JUDGEMENT_WRONG},
		{"--missing-triple", c.Missing, c.MissingTriple, orchestratorv1.Judgement_JUDGEMENT_MISSING},
	} {
		marks, err := feedback.NewMarks(flag.judgement, c.Comment, flag.answers, flag.triples)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", flag.name, err)
		}
		all = append(all, marks...)
	}
	if len(all) == 0 {
		return nil, errors.New("nothing is marked: use --right, --wrong or --missing with an answer")
	}
	return all, nil
}

func (c *feedbackGive) Run(p *Program) error {
	marks, err := c.marks()
	if err != nil {
		return ExitError{ExitUsage, err}
	}
	resp, err := withMesh(p, c.ServerFlags, func(s *Session) (*orchestratorv1.CreateFeedbackResponse, error) {
		id := c.RunID
		if id == lastRun {
			run, err := findPreviousRun(p.Ctx, orchestratorv1.NewOrchestratorServiceClient(s), id)
			if err != nil {
				return nil, err
			}
			id = run.GetId()
		}
		return orchestratorv1.NewFeedbackServiceClient(s).CreateFeedback(p.Ctx,
			&orchestratorv1.CreateFeedbackRequest{RunId: id, Marks: marks})
	})
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(p.Stdout, resp)
	}
	fmt.Fprintf(p.Stdout, "%s\n", show.Line(resp.GetFeedback()[0].GetQuestion(), 100))
	w := tabwriter.NewWriter(p.Stdout, 0, 0, 2, ' ', 0)
	for _, m := range resp.GetFeedback() {
		fmt.Fprintf(w, "%s\t%s\n", config.EnumName(m.GetMark().GetJudgement()), describeItem(m.GetMark(), 88))
	}
	return w.Flush()
}

// describeItem names the item of a mark within a width.
func describeItem(mark *orchestratorv1.Mark, width int) string {
	if t := mark.GetTriple(); t != nil {
		return show.Line(kgtext.FormatFact(t), width)
	}
	name := mark.GetAnswer().GetAnswer()
	if id := mark.GetAnswer().GetId(); id != "" && id != name {
		name += " (" + id + ")"
	}
	return show.Line(name, width)
}

type feedbackList struct {
	ServerFlags
	feedback.Filter
	Limit uint32 `default:"20" help:"How many to list."`
	JSON  bool   `name:"json" help:"Print them as JSON."`
}

func (c *feedbackList) Run(p *Program) error {
	resp, err := withMesh(p, c.ServerFlags, func(s *Session) (*orchestratorv1.ListFeedbackResponse, error) {
		req := c.Request()
		req.PageSize = min(c.Limit, 1000)
		return orchestratorv1.NewFeedbackServiceClient(s).ListFeedback(p.Ctx, req)
	})
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(p.Stdout, resp)
	}
	if len(resp.GetFeedback()) == 0 {
		_, err := fmt.Fprintln(p.Stdout, "no feedback: triplemesh feedback last --right \"…\" marks an answer of the "+
			"newest run")
		return err
	}
	// Who marked is told where anybody is asked who they are.
	named := slices.ContainsFunc(resp.GetFeedback(),
		func(m *orchestratorv1.Feedback) bool { return m.GetSubject() != "" })
	w := tabwriter.NewWriter(p.Stdout, 0, 0, 2, ' ', 0)
	for _, m := range resp.GetFeedback() {
		fmt.Fprintf(w, "%s\t%s\t", m.GetId(), m.GetCreateTime().AsTime().Local().Format(time.DateTime))
		if named {
			fmt.Fprintf(w, "%s\t", show.Line(m.GetSubject(), 24))
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", config.EnumName(m.GetMark().GetJudgement()), describeItem(m.GetMark(), 40),
			show.Line(m.GetQuestion(), 48))
	}
	return w.Flush()
}

type feedbackExport struct {
	ServerFlags
	feedback.Export
	Out   string `type:"path" placeholder:"FILE" help:"File to write; otherwise standard output."`
	Force bool   `help:"Overwrite an existing file."`
}

func (c *feedbackExport) Run(p *Program) error {
	if err := c.Validate(); err != nil {
		return ExitError{ExitUsage, err}
	}
	marks, err := withMesh(p, c.ServerFlags, func(s *Session) ([]*orchestratorv1.Feedback, error) {
		return feedback.List(p.Ctx, orchestratorv1.NewFeedbackServiceClient(s), c.Request())
	})
	if err != nil {
		return err
	}
	fill, err := c.Prepare(marks)
	if err != nil {
		return err
	}
	if c.Out == "" {
		err = fill(p.Stdout)
	} else {
		_, err = writeWhole(c.Out, c.Force, fill)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(p.Stderr, c.Summary())
	return err
}

type feedbackDelete struct {
	ServerFlags
	IDs []string `arg:"" name:"id" help:"Ids, as triplemesh feedback list shows them."`
}

// Run deletes marks. It stops at the first that cannot be deleted.
func (c *feedbackDelete) Run(p *Program) error {
	_, err := withMesh(p, c.ServerFlags, func(s *Session) (any, error) {
		client := orchestratorv1.NewFeedbackServiceClient(s)
		for _, id := range c.IDs {
			if _, err := client.DeleteFeedback(p.Ctx, &orchestratorv1.DeleteFeedbackRequest{Id: id}); err != nil {
				return nil, err
			}
			fmt.Fprintf(p.Stdout, "deleted %s\n", show.Line(id, 64))
		}
		return nil, nil
	})
	return err
}
