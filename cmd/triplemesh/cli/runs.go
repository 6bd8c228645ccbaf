package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/show"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

type runsCommand struct {
	ServerFlags
	ID     string `arg:"" optional:"" help:"Run to show in full; last for the newest."`
	Limit  uint32 `default:"20" help:"How many to list."`
	Method string `placeholder:"NAME" help:"Only runs of this method."`
	KG     string `name:"kg" placeholder:"NAME" help:"Only runs over this knowledge graph."`
	JSON   bool   `name:"json" help:"Print them as JSON."`
}

// Run lists runs, or shows one.
func (c *runsCommand) Run(p *Program) error {
	if c.ID != "" {
		run, err := withMesh(p, c.ServerFlags, func(s *Session) (*orchestratorv1.Run, error) {
			return findPreviousRun(p.Ctx, orchestratorv1.NewOrchestratorServiceClient(s), c.ID)
		})
		if err != nil {
			return err
		}
		return c.show(p, run)
	}
	resp, err := withMesh(p, c.ServerFlags, func(s *Session) (*orchestratorv1.ListRunsResponse, error) {
		return orchestratorv1.NewOrchestratorServiceClient(s).ListRuns(p.Ctx, &orchestratorv1.ListRunsRequest{
			PageSize: min(c.Limit, 1000), Method: c.Method, KgName: c.KG})
	})
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(p.Stdout, resp)
	}
	if len(resp.GetRuns()) == 0 {
		_, err := fmt.Fprintln(p.Stdout, "no runs yet: triplemesh ask \"…\" makes one")
		return err
	}
	// Who asked is told where anybody is asked who they are.
	asked := slices.ContainsFunc(resp.GetRuns(), func(r *orchestratorv1.Run) bool { return r.GetSubject() != "" })
	w := tabwriter.NewWriter(p.Stdout, 0, 0, 2, ' ', 0)
	for _, r := range resp.GetRuns() {
		fmt.Fprintf(w, "%s\t%s\t%s\t", r.GetId(), r.GetStartTime().AsTime().Local().Format(time.DateTime),
			r.GetMethod())
		if asked {
			fmt.Fprintf(w, "%s\t", show.Line(r.GetSubject(), 24))
		}
		fmt.Fprintf(w, "%s\t%s\n", show.Line(r.GetQuestion(), 48), show.Line(show.ListAnswers(r), 32))
	}
	return w.Flush()
}

func (c *runsCommand) show(p *Program, run *orchestratorv1.Run) error {
	if c.JSON {
		return printJSON(p.Stdout, run)
	}
	by := ""
	if subject := run.GetSubject(); subject != "" {
		by = "asked by " + show.Line(subject, 80) + "\n"
	}
	if _, err := fmt.Fprintf(p.Stdout, "%s\n%s\n", show.Line(run.GetQuestion(), 100), by); err != nil {
		return err
	}
	if err := show.Answer(p.Stdout, run, p.style()); err != nil {
		return err
	}
	if err := show.Explain(p.Stdout, run, p.style()); err != nil {
		return err
	}
	if len(run.GetSpans()) == 0 {
		return nil
	}
	return show.Trace(p.Stdout, run, p.style())
}

// lastRun is the id that stands for the newest run.
const lastRun = "last"

// maxTurn bounds the text of a history turn, in characters.
const maxTurn = 2000

// follow adds the question and the answer of a run to the history of req, and its knowledge graph
// if req names none.
func follow(ctx context.Context, client orchestratorv1.OrchestratorServiceClient, id string,
	req *orchestratorv1.AskRequest) error {
	run, err := findPreviousRun(ctx, client, id)
	if err != nil {
		return err
	}
	// One turn is enough: the stored question of a follow-up is its standalone form.
	say(req, generatorv1.Role_ROLE_USER, cmp.Or(run.GetStandaloneQuestion(), run.GetQuestion()))
	say(req, generatorv1.Role_ROLE_ASSISTANT, cmp.Or(run.GetText(), show.ListAnswers(run)))
	if req.GetKg() == nil && run.GetKg() != nil {
		req.Kg = &graphv1.KnowledgeGraphRef{Name: run.GetKg().GetName()}
	}
	return nil
}

func findPreviousRun(ctx context.Context, client orchestratorv1.OrchestratorServiceClient,
	id string) (*orchestratorv1.Run, error) {
	if id != lastRun {
		resp, err := client.GetRun(ctx, &orchestratorv1.GetRunRequest{Id: id})
		return resp.GetRun(), err
	}
	resp, err := client.ListRuns(ctx, &orchestratorv1.ListRunsRequest{PageSize: 1})
	if err != nil {
		return nil, err
	}
	if len(resp.GetRuns()) == 0 {
		return nil, usageError("last: there are no runs yet")
	}
	return resp.GetRuns()[0], nil
}

func say(req *orchestratorv1.AskRequest, role generatorv1.Role, text string) {
	if text == "" {
		return
	}
	words := []rune(text)
	req.History = append(req.History, &generatorv1.Turn{Role: role, Text: string(words[:min(len(words), maxTurn)])})
}
