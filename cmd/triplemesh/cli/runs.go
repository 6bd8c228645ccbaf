package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/show"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

type runsCommand struct {
	serverFlags
	ID     string `arg:"" optional:"" help:"A run to show whole."`
	Limit  uint32 `default:"20" help:"How many to list. (default: ${default})"`
	Method string `placeholder:"NAME" help:"Only this method's."`
	KG     string `name:"kg" placeholder:"NAME" help:"Only those over this knowledge graph."`
	JSON   bool   `name:"json" help:"Print them as JSON."`
}

// Run lists runs, or shows one.
func (c *runsCommand) Run(p *program) error {
	s, err := p.connect(c.Server, c.Local, "orchestrator")
	if err != nil {
		return err
	}
	client := orchestratorv1.NewOrchestratorServiceClient(s)
	if c.ID != "" {
		resp, err := client.GetRun(p.ctx, &orchestratorv1.GetRunRequest{Id: c.ID})
		if err = errors.Join(err, s.end()); err != nil {
			return err
		}
		return c.show(p, resp.GetRun())
	}
	resp, err := client.ListRuns(p.ctx, &orchestratorv1.ListRunsRequest{PageSize: min(c.Limit, 1000), Method: c.Method, Kg: c.KG})
	if err = errors.Join(err, s.end()); err != nil {
		return err
	}
	if c.JSON {
		return printJSON(p.stdout, resp)
	}
	if len(resp.GetRuns()) == 0 {
		_, err := fmt.Fprintln(p.stdout, "no runs yet: triplemesh ask \"…\" makes one")
		return err
	}
	// Who asked is told where anybody is asked who they are.
	asked := slices.ContainsFunc(resp.GetRuns(), func(r *orchestratorv1.Run) bool { return r.GetSubject() != "" })
	w := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	for _, r := range resp.GetRuns() {
		var answers []string
		for _, a := range r.GetAnswers() {
			answers = append(answers, a.GetAnswer())
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t", r.GetId(), r.GetStarted().AsTime().Local().Format(time.DateTime), r.GetMethod())
		if asked {
			fmt.Fprintf(w, "%s\t", show.Line(r.GetSubject(), 24))
		}
		fmt.Fprintf(w, "%s\t%s\n", show.Line(r.GetQuestion(), 48), show.Line(strings.Join(answers, ", "), 32))
	}
	return w.Flush()
}

func (c *runsCommand) show(p *program, run *orchestratorv1.Run) error {
	if c.JSON {
		return printJSON(p.stdout, run)
	}
	by := ""
	if subject := run.GetSubject(); subject != "" {
		by = "asked by " + show.Line(subject, 80) + "\n"
	}
	if _, err := fmt.Fprintf(p.stdout, "%s\n%s\n", show.Line(run.GetQuestion(), 100), by); err != nil {
		return err
	}
	if err := show.Answer(p.stdout, run, p.style()); err != nil {
		return err
	}
	if err := show.Explain(p.stdout, run, p.style()); err != nil {
		return err
	}
	if len(run.GetSpans()) == 0 {
		return nil
	}
	return show.Trace(p.stdout, run, p.style())
}
