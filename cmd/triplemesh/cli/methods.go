package cli

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/show"
	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/internal/config"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

type methodsCommand struct {
	ServerFlags
	JSON bool `name:"json" help:"Print them as JSON."`
}

func (c *methodsCommand) Run(p *Program) error {
	resp, err := withMesh(p, c.ServerFlags, func(s *Session) (*orchestratorv1.ListMethodsResponse, error) {
		return orchestratorv1.NewOrchestratorServiceClient(s).ListMethods(p.Ctx, &orchestratorv1.ListMethodsRequest{})
	})
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(p.Stdout, resp)
	}
	w := tabwriter.NewWriter(p.Stdout, 0, 0, 2, ' ', 0)
	for _, m := range resp.GetMethods() {
		kg := "no knowledge graph"
		if m.GetNeedsKg() {
			kg = "needs a knowledge graph"
		}
		fmt.Fprintf(w, "%s\t%s\n\tcalls: %s; %s\n\tstages: %s\n", m.GetName(), m.GetDescription(), m.GetCalls(), kg,
			typed(m.GetStages()))
		if ablations := typed(m.GetAblations()); ablations != "" {
			fmt.Fprintf(w, "\tablations: %s\n", ablations)
		}
	}
	return w.Flush()
}

// typed lists values as people type them.
func typed[E protoreflect.Enum](values []E) string {
	names := make([]string, len(values))
	for i, v := range values {
		names[i] = config.EnumName(v)
	}
	return strings.Join(names, ", ")
}

type quotaCommand struct {
	ServerFlags
	JSON bool `name:"json" help:"Print it as JSON."`
}

// Run tells who the caller is to the mesh, and what their tenant has used.
func (c *quotaCommand) Run(p *Program) error {
	resp, err := withMesh(p, c.ServerFlags, func(s *Session) (*orchestratorv1.GetQuotaResponse, error) {
		return orchestratorv1.NewOrchestratorServiceClient(s).GetQuota(p.Ctx, &orchestratorv1.GetQuotaRequest{})
	})
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(p.Stdout, resp)
	}
	return printQuota(p.Stdout, resp, time.Now())
}

func printQuota(out io.Writer, resp *orchestratorv1.GetQuotaResponse, now time.Time) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "tenant\t%s\n", show.Line(resp.GetTenant(), 48))
	if subject := resp.GetSubject(); subject != "" {
		fmt.Fprintf(w, "subject\t%s\n", show.Line(subject, 80))
	}
	var scopes []string
	for _, scope := range resp.GetScopes() {
		scopes = append(scopes, auth.ScopeName(scope))
	}
	fmt.Fprintf(w, "scopes\t%s\n\n", strings.Join(scopes, ", "))
	fmt.Fprint(w, "quota\tused\tof\tresets\n")
	for _, q := range resp.GetQuotas() {
		limit, resets := "no bound", "-"
		if q.GetLimit() > 0 {
			limit = amount(q.GetLimit())
		}
		if at := q.GetResetTime(); at != nil {
			resets = "in " + max(at.AsTime().Sub(now), 0).Round(time.Second).String()
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", show.Line(q.GetName(), 32), amount(q.GetUsed()), limit, resets)
	}
	return w.Flush()
}

// amount writes counts in full and money to a hundredth of a cent.
func amount(v float64) string {
	if v == float64(int64(v)) {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return strconv.FormatFloat(v, 'f', 4, 64)
}
