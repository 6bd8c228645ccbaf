package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/show"
	"github.com/triplemesh/triplemesh/internal/config"
	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/internal/paging"
	"github.com/triplemesh/triplemesh/internal/terminal"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

type kgCommand struct {
	Load     kgLoad     `cmd:"" help:"Build a snapshot from files and make it active."`
	Propose  kgPropose  `cmd:"" help:"Extract triples from text files, for review."`
	Review   kgReview   `cmd:"" help:"Review proposed triples in the terminal."`
	List     kgList     `cmd:"" help:"List knowledge graphs and their snapshots."`
	Drop     kgDrop     `cmd:"" help:"Remove a knowledge graph, or one snapshot that is not active."`
	Activate kgActivate `cmd:"" help:"Activate a snapshot."`
	Rollback kgRollback `cmd:"" help:"Activate the previous snapshot."`
	Verify   kgVerify   `cmd:"" help:"Verify the checksums of a snapshot."`
	Diff     kgDiff     `cmd:"" help:"List the differences between two snapshots."`
	Compact  kgCompact  `cmd:"" help:"Merge a delta snapshot into a full snapshot."`
	Export   kgExport   `cmd:"" help:"Write a snapshot to a file."`
	Import   kgImport   `cmd:"" help:"Load a file written by export."`
}

// graphs calls do with a client of the retriever's knowledge graph service.
func (p *Program) graphs(f storeFlags, do func(retrieverv1.KnowledgeGraphServiceClient) error) error {
	s, err := p.Connect(f.Retriever, f.Local, "retriever")
	if err != nil {
		return err
	}
	client := retrieverv1.NewKnowledgeGraphServiceClient(s)
	return errors.Join(p.suggestKG(client, do(client)), s.Close())
}

var notThere = regexp.MustCompile(`knowledge graph "([^"@]+)(@\d+)?": not found`)

// suggestKG adds the existing names and the most similar one to a not-found error.
func (p *Program) suggestKG(client retrieverv1.KnowledgeGraphServiceClient, err error) error {
	st, ok := status.FromError(err)
	if !ok || st.Code() != codes.NotFound {
		return err
	}
	m := notThere.FindStringSubmatch(st.Message())
	if m == nil {
		return err
	}
	snapshots, listErr := paging.KnowledgeGraphs(p.Ctx, client, "")
	if listErr != nil {
		return err
	}
	names := graphNames(snapshots)
	if len(names) == 0 || slices.Contains(names, m[1]) {
		return err
	}
	return status.Errorf(codes.NotFound, "%s; there are: %s%s", st.Message(), strings.Join(names, ", "),
		didYouMean(m[1], names))
}

type kgList struct {
	storeFlags
	Name string `arg:"" optional:"" help:"Only this one."`
	JSON bool   `name:"json" help:"Print them as JSON."`
}

// Run lists snapshots and marks the active ones.
func (c *kgList) Run(p *Program) error {
	return p.graphs(c.storeFlags, func(client retrieverv1.KnowledgeGraphServiceClient) error {
		snapshots, err := paging.KnowledgeGraphs(p.Ctx, client, c.Name)
		if err != nil {
			return err
		}
		if c.JSON {
			return printJSON(p.Stdout, &retrieverv1.ListKnowledgeGraphsResponse{Snapshots: snapshots})
		}
		if len(snapshots) == 0 {
			_, err := fmt.Fprintln(p.Stdout, "no knowledge graph yet; load one with `triplemesh kg load NAME FILE…`")
			return err
		}
		return printSnapshots(p.Stdout, snapshots)
	})
}

func printSnapshots(out io.Writer, snapshots []*retrieverv1.SnapshotInfo) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "snapshot\t\ttriples\tentities\trelations\tMB\tbuilt\tencoder\tvectors")
	for _, s := range snapshots {
		active := ""
		if s.GetActive() {
			active = "active"
		}
		if s.GetShared() {
			active = strings.TrimSpace(active + " shared")
		}
		if s.GetEncoder() == "" { // every readable one has an encoder
			fmt.Fprintf(w, "%s\t%s\t-\t-\t-\t-\t-\tcorrupt: `triplemesh kg verify %s` shows the reason\n",
				kgtext.FormatKG(s.GetKg()),
				active, kgtext.FormatKG(s.GetKg()))
			continue
		}
		vectors := "all"
		if s.GetDims() == 0 {
			vectors = "none"
		}
		if s.GetBase() != 0 {
			vectors += fmt.Sprintf(", delta of %d", s.GetBase())
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d\t%.1f\t%s\t%s\t%s\n", kgtext.FormatKG(s.GetKg()), active, s.GetTriples(),
			s.GetEntities(), s.GetRelations(),
			float64(s.GetBytes())/1e6, s.GetCreateTime().AsTime().Local().Format(time.DateTime),
			show.Line(s.GetEncoder(), 40), vectors)
	}
	return w.Flush()
}

type kgDrop struct {
	storeFlags
	Name string `arg:"" help:"NAME, or NAME@N for one snapshot."`
	Yes  bool   `short:"y" help:"Do not ask on a terminal."`
}

func (c *kgDrop) Run(p *Program) error {
	ref, err := namedKG(c.Name)
	if err != nil {
		return err
	}
	if !c.Yes && terminal.IsTerminal(p.Stderr) && terminal.IsTerminal(p.stdin) {
		sure, err := (&dialogue{in: p.stdin, out: p.Stderr}).yes("drop "+c.Name+" for good?", false)
		if err != nil || !sure {
			return err
		}
	}
	return p.graphs(c.storeFlags, func(client retrieverv1.KnowledgeGraphServiceClient) error {
		resp, err := client.DropKnowledgeGraph(p.Ctx, &retrieverv1.DropKnowledgeGraphRequest{Kg: ref})
		if err != nil {
			return err
		}
		for _, gone := range resp.GetDropped() {
			fmt.Fprintln(p.Stdout, "dropped", kgtext.FormatKG(gone))
		}
		return nil
	})
}

type kgActivate struct {
	storeFlags
	Name string `arg:"" help:"NAME@N."`
}

func (c *kgActivate) Run(p *Program) error {
	ref, err := namedKG(c.Name)
	if err == nil && ref.GetSnapshot() == 0 {
		err = usageError("name the snapshot to activate, such as %s@1; `triplemesh kg list` shows them", c.Name)
	}
	if err != nil {
		return err
	}
	return p.graphs(c.storeFlags, func(client retrieverv1.KnowledgeGraphServiceClient) error {
		resp, err := client.ActivateSnapshot(p.Ctx, &retrieverv1.ActivateSnapshotRequest{Kg: ref})
		if err != nil {
			return err
		}
		return printActive(p.Stdout, resp)
	})
}

// printActive prints which snapshot is active now.
func printActive(out io.Writer, resp interface {
	GetSnapshot() *retrieverv1.SnapshotInfo
}) error {
	_, err := fmt.Fprintln(out, "active:", kgtext.FormatKG(resp.GetSnapshot().GetKg()))
	return err
}

type kgRollback struct {
	storeFlags
	Name string `arg:"" help:"NAME."`
}

func (c *kgRollback) Run(p *Program) error {
	return p.graphs(c.storeFlags, func(client retrieverv1.KnowledgeGraphServiceClient) error {
		resp, err := client.RollbackKnowledgeGraph(p.Ctx,
			&retrieverv1.RollbackKnowledgeGraphRequest{Kg: &graphv1.KnowledgeGraphRef{Name: c.Name}})
		if err != nil {
			return err
		}
		return printActive(p.Stdout, resp)
	})
}

type kgVerify struct {
	storeFlags
	Name string `arg:"" help:"NAME, or NAME@N."`
}

func (c *kgVerify) Run(p *Program) error {
	ref, err := namedKG(c.Name)
	if err != nil {
		return err
	}
	return p.graphs(c.storeFlags, func(client retrieverv1.KnowledgeGraphServiceClient) error {
		resp, err := client.VerifySnapshot(p.Ctx, &retrieverv1.VerifySnapshotRequest{Kg: ref})
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(p.Stdout, "%s is intact: %.1f MB verified\n", kgtext.FormatKG(resp.GetSnapshot().GetKg()),
			float64(resp.GetBytes())/1e6)
		return err
	})
}

func namedKG(text string) (*graphv1.KnowledgeGraphRef, error) {
	ref, err := ParseKG(text)
	if err != nil {
		return nil, ExitError{ExitUsage, err}
	}
	return ref, nil
}

// ParseKG reads NAME or NAME@SNAPSHOT; empty text is none.
func ParseKG(text string) (*graphv1.KnowledgeGraphRef, error) {
	if text == "" {
		return nil, nil
	}
	name, number, pinned := strings.Cut(text, "@")
	ref := &graphv1.KnowledgeGraphRef{Name: name}
	if !pinned {
		return ref, nil
	}
	n, err := strconv.ParseUint(number, 10, 64)
	if err != nil || n == 0 {
		return nil, fmt.Errorf("%q is not a snapshot; write NAME or NAME@N with N ≥ 1", text)
	}
	ref.Snapshot = n
	return ref, nil
}

// parseKGs parses several references; the first is nil if there are none.
func parseKGs(texts []string) ([]*graphv1.KnowledgeGraphRef, error) {
	refs := make([]*graphv1.KnowledgeGraphRef, max(1, len(texts)))
	for i, text := range texts {
		ref, err := ParseKG(text)
		if err != nil {
			return nil, err
		}
		refs[i] = ref
	}
	return refs, nil
}

// PickKG returns the only knowledge graph. If there are several, the error lists them: one must be
// named, as in every interface.
func (p *Program) PickKG(ctx context.Context, s *Session) (*graphv1.KnowledgeGraphRef, error) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	snapshots, err := paging.KnowledgeGraphs(ctx, retrieverv1.NewKnowledgeGraphServiceClient(s), "")
	if err != nil {
		return nil, fmt.Errorf("list knowledge graphs: %w; name one with --kg", err)
	}
	switch names := graphNames(snapshots); len(names) {
	case 0:
		return nil, errors.New("there is no knowledge graph: load one with `triplemesh kg load NAME FILE`")
	case 1:
		return &graphv1.KnowledgeGraphRef{Name: names[0]}, nil
	default:
		return nil, usageError("there are several knowledge graphs: name one with --kg, one of %s",
			strings.Join(names, ", "))
	}
}

// graphNames returns the names of the snapshots' knowledge graphs, each once.
func graphNames(snapshots []*retrieverv1.SnapshotInfo) []string {
	var names []string
	for _, s := range snapshots {
		names = append(names, s.GetKg().GetName())
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// didYouMean returns " (did you mean …?)" with the most similar known word; empty if none is.
func didYouMean(word string, known []string) string {
	if near := config.NearestWord(word, known); near != "" {
		return " (did you mean " + near + "?)"
	}
	return ""
}
