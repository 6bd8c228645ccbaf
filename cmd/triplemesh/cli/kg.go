package cli

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/show"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

type kgCommand struct {
	Load     kgLoad     `cmd:"" help:"Build a snapshot from files and make it active."`
	Propose  kgPropose  `cmd:"" help:"Have triples proposed of a folder of text, for you to review."`
	Review   kgReview   `cmd:"" help:"Accept and reject, on the terminal, what was proposed."`
	List     kgList     `cmd:"" help:"List knowledge graphs and their snapshots."`
	Drop     kgDrop     `cmd:"" help:"Remove a knowledge graph, or one snapshot that is not active."`
	Activate kgActivate `cmd:"" help:"Make a snapshot the one that questions read."`
	Rollback kgRollback `cmd:"" help:"Go back to the snapshot before."`
	Verify   kgVerify   `cmd:"" help:"Read a snapshot whole and compare its checksums."`
	Diff     kgDiff     `cmd:"" help:"List what one snapshot holds and another does not."`
	Compact  kgCompact  `cmd:"" help:"Make a whole snapshot of one that was added to or taken from."`
	Export   kgExport   `cmd:"" help:"Write a snapshot into one file."`
	Import   kgImport   `cmd:"" help:"Take in a file that export made."`
}

// graphs calls do with the service that keeps knowledge graphs.
func (p *program) graphs(f storeFlags, do func(retrieverv1.KnowledgeGraphServiceClient) error) error {
	s, err := p.connect(f.Retriever, f.Local, "retriever")
	if err != nil {
		return err
	}
	client := retrieverv1.NewKnowledgeGraphServiceClient(s)
	return errors.Join(p.meant(client, do(client)), s.end())
}

var notThere = regexp.MustCompile(`knowledge graph "([^"@]+)(@\d+)?": not found`)

// meant adds to the error of a knowledge graph that is not there which one may
// have been meant.
func (p *program) meant(client retrieverv1.KnowledgeGraphServiceClient, err error) error {
	st, ok := status.FromError(err)
	if !ok || st.Code() != codes.NotFound {
		return err
	}
	m := notThere.FindStringSubmatch(st.Message())
	if m == nil {
		return err
	}
	resp, listErr := client.List(p.ctx, &retrieverv1.ListRequest{})
	if listErr != nil {
		return err
	}
	var names []string
	for _, s := range resp.GetSnapshots() {
		names = append(names, s.GetKg().GetName())
	}
	slices.Sort(names)
	if names = slices.Compact(names); len(names) == 0 || slices.Contains(names, m[1]) {
		return err
	}
	return status.Errorf(codes.NotFound, "%s; there are: %s%s", st.Message(), strings.Join(names, ", "), didYouMean(m[1], names))
}

type kgList struct {
	storeFlags
	Name string `arg:"" optional:"" help:"Only this one."`
	JSON bool   `name:"json" help:"Print them as JSON."`
}

// Run lists snapshots, the active one of each knowledge graph marked.
func (c *kgList) Run(p *program) error {
	return p.graphs(c.storeFlags, func(client retrieverv1.KnowledgeGraphServiceClient) error {
		resp, err := client.List(p.ctx, &retrieverv1.ListRequest{Kg: c.Name})
		if err != nil {
			return err
		}
		if c.JSON {
			return printJSON(p.stdout, resp)
		}
		if len(resp.GetSnapshots()) == 0 {
			_, err := fmt.Fprintln(p.stdout, "no knowledge graph yet: triplemesh kg load NAME FILE… loads one")
			return err
		}
		return printSnapshots(p.stdout, resp.GetSnapshots())
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
			fmt.Fprintf(w, "%s\t%s\t-\t-\t-\t-\t-\tdamaged: `triplemesh kg verify %s` says why\n", refText(s.GetKg()), active, refText(s.GetKg()))
			continue
		}
		vectors := "all"
		if s.GetDims() == 0 {
			vectors = "none"
		}
		if s.GetBase() != 0 {
			vectors += fmt.Sprintf(", delta of %d", s.GetBase())
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d\t%.1f\t%s\t%s\t%s\n", refText(s.GetKg()), active, s.GetTriples(), s.GetEntities(), s.GetRelations(),
			float64(s.GetBytes())/1e6, s.GetCreated().AsTime().Local().Format(time.DateTime), show.Line(s.GetEncoder(), 40), vectors)
	}
	return w.Flush()
}

type kgDrop struct {
	storeFlags
	Name string `arg:"" help:"NAME, or NAME@N for one snapshot."`
}

// Run drops and says what is gone.
func (c *kgDrop) Run(p *program) error {
	ref, err := namedKG(c.Name)
	if err != nil {
		return err
	}
	return p.graphs(c.storeFlags, func(client retrieverv1.KnowledgeGraphServiceClient) error {
		resp, err := client.Drop(p.ctx, &retrieverv1.DropRequest{Kg: ref})
		if err != nil {
			return err
		}
		for _, gone := range resp.GetDropped() {
			fmt.Fprintln(p.stdout, "dropped", refText(gone))
		}
		return nil
	})
}

type kgActivate struct {
	storeFlags
	Name string `arg:"" help:"NAME@N."`
}

// Run activates one snapshot.
func (c *kgActivate) Run(p *program) error {
	ref, err := namedKG(c.Name)
	if err == nil && ref.GetSnapshot() == 0 {
		err = exitError{exitUsage, fmt.Errorf("name the snapshot to activate, such as %s@1: `triplemesh kg list` shows them", c.Name)}
	}
	if err != nil {
		return err
	}
	return p.graphs(c.storeFlags, func(client retrieverv1.KnowledgeGraphServiceClient) error {
		resp, err := client.Activate(p.ctx, &retrieverv1.ActivateRequest{Kg: ref})
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(p.stdout, "active:", refText(resp.GetSnapshot().GetKg()))
		return err
	})
}

type kgRollback struct {
	storeFlags
	Name string `arg:"" help:"NAME."`
}

// Run goes one snapshot back.
func (c *kgRollback) Run(p *program) error {
	return p.graphs(c.storeFlags, func(client retrieverv1.KnowledgeGraphServiceClient) error {
		resp, err := client.Rollback(p.ctx, &retrieverv1.RollbackRequest{Kg: c.Name})
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(p.stdout, "active:", refText(resp.GetSnapshot().GetKg()))
		return err
	})
}

type kgVerify struct {
	storeFlags
	Name string `arg:"" help:"NAME, or NAME@N."`
}

// Run compares every checksum.
func (c *kgVerify) Run(p *program) error {
	ref, err := namedKG(c.Name)
	if err != nil {
		return err
	}
	return p.graphs(c.storeFlags, func(client retrieverv1.KnowledgeGraphServiceClient) error {
		resp, err := client.Verify(p.ctx, &retrieverv1.VerifyRequest{Kg: ref})
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(p.stdout, "%s is whole: %.1f MB read\n", refText(resp.GetSnapshot().GetKg()), float64(resp.GetBytes())/1e6)
		return err
	})
}

func namedKG(text string) (*graphv1.KnowledgeGraphRef, error) {
	ref, err := parseKG(text)
	if err != nil {
		return nil, exitError{exitUsage, err}
	}
	return ref, nil
}
