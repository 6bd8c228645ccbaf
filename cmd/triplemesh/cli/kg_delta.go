package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"google.golang.org/protobuf/encoding/protojson"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/show"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

type kgCompact struct {
	storeFlags
	Name       string        `arg:"" help:"NAME, or NAME@N."`
	NoActivate bool          `help:"Leave the active snapshot as it is."`
	Timeout    time.Duration `default:"24h" help:"Longest time to write. (default: ${default})"`
}

// Run makes a whole snapshot of a delta.
func (c *kgCompact) Run(p *program) error {
	ref, err := namedKG(c.Name)
	if err != nil {
		return err
	}
	return p.graphs(c.storeFlags, func(client retrieverv1.KnowledgeGraphServiceClient) error {
		ctx, cancel := context.WithTimeout(p.ctx, c.Timeout)
		defer cancel()
		resp, err := client.Compact(ctx, &retrieverv1.CompactRequest{Kg: ref, NoActivate: c.NoActivate})
		if err != nil {
			return err
		}
		s := resp.GetSnapshot()
		_, err = fmt.Fprintf(p.stdout, "%s is whole: %d triples, %.1f MB\n", refText(s.GetKg()), s.GetTriples(), float64(s.GetBytes())/1e6)
		return err
	})
}

type kgDiff struct {
	storeFlags
	From    string        `arg:"" help:"The earlier snapshot, NAME@N."`
	To      string        `arg:"" optional:"" help:"The later one, NAME@M; otherwise the active one."`
	JSON    bool          `name:"json" help:"Print one JSON object a line."`
	Timeout time.Duration `default:"24h" help:"Longest time to compare. (default: ${default})"`
}

// Run prints what one snapshot holds and another does not: a line for each
// triple, with + or - before it.
func (c *kgDiff) Run(p *program) error {
	from, to, err := c.refs()
	if err != nil {
		return err
	}
	return p.graphs(c.storeFlags, func(client retrieverv1.KnowledgeGraphServiceClient) error {
		ctx, cancel := context.WithTimeout(p.ctx, c.Timeout)
		defer cancel()
		stream, err := client.Diff(ctx, &retrieverv1.DiffRequest{Kg: to, From: from.GetSnapshot()})
		if err != nil {
			return err
		}
		for {
			part, err := stream.Recv()
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			for _, d := range part.GetDifferences() {
				if err := c.print(p.stdout, d); err != nil {
					return err
				}
			}
		}
	})
}

func (c *kgDiff) refs() (from, to *graphv1.KnowledgeGraphRef, err error) {
	if from, err = namedKG(c.From); err != nil {
		return nil, nil, err
	}
	if from.GetSnapshot() == 0 {
		return nil, nil, exitError{exitUsage, fmt.Errorf("name the earlier snapshot, such as %s@1: `triplemesh kg list` shows them", c.From)}
	}
	to = &graphv1.KnowledgeGraphRef{Name: from.GetName()}
	if c.To == "" {
		return from, to, nil
	}
	if to, err = namedKG(c.To); err != nil {
		return nil, nil, err
	}
	if to.GetName() != from.GetName() {
		return nil, nil, exitError{exitUsage, fmt.Errorf("%s and %s are two knowledge graphs: name two snapshots of one", c.From, c.To)}
	}
	return from, to, nil
}

func (c *kgDiff) print(out io.Writer, d *retrieverv1.Difference) error {
	if c.JSON {
		line, err := protojson.Marshal(d)
		if err == nil {
			_, err = fmt.Fprintln(out, string(line))
		}
		return err
	}
	sign := "-"
	if d.GetAdded() {
		sign = "+"
	}
	t := d.GetTriple()
	_, err := fmt.Fprintf(out, "%s %s\t%s\t%s%s\n", sign, show.Line(t.GetSubject(), 200), show.Line(t.GetRelation(), 200), show.Line(t.GetObject(), 200), interval(t.GetValidity()))
	return err
}

func interval(v *graphv1.ValidityInterval) string {
	if v.GetStart() == "" && v.GetEnd() == "" {
		return ""
	}
	return "\t" + show.Line(v.GetStart(), 64) + "\t" + show.Line(v.GetEnd(), 64)
}
