package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"google.golang.org/protobuf/encoding/protojson"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/show"
	"github.com/triplemesh/triplemesh/internal/config"
	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/internal/terminal"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

type kgExport struct {
	storeFlags
	Name    string        `arg:"" help:"NAME, or NAME@N."`
	File    string        `arg:"" help:"File to write; - writes to standard output."`
	Force   bool          `help:"Overwrite an existing file."`
	Timeout time.Duration `default:"24h" help:"Longest time to send."`
}

func (c *kgExport) Run(p *Program) error {
	ref, err := namedKG(c.Name)
	if err != nil {
		return err
	}
	return p.graphs(c.storeFlags, func(client retrieverv1.KnowledgeGraphServiceClient) error {
		ctx, cancel := context.WithTimeout(p.Ctx, c.Timeout)
		defer cancel()
		stream, err := client.ExportSnapshot(ctx, &retrieverv1.ExportSnapshotRequest{Kg: ref})
		if err != nil {
			return err
		}
		task := p.Board().Start("export "+c.Name, terminal.Bytes, 0)
		defer task.Stop()
		copyTo := func(w io.Writer) error {
			written := 0
			return receive(stream, func(part *retrieverv1.ExportSnapshotResponse) error {
				if _, err := w.Write(part.GetChunk()); err != nil {
					return fmt.Errorf("export %s: %w", c.Name, err)
				}
				written += len(part.GetChunk())
				task.SetDone(int64(written))
				return nil
			})
		}
		if c.File == "-" {
			return copyTo(p.Stdout)
		}
		size, err := writeWhole(c.File, c.Force, copyTo)
		if err != nil {
			return err
		}
		task.Stop()
		_, err = fmt.Fprintf(p.Stdout, "%s: %s, %.1f MB; load it elsewhere with triplemesh kg import\n", c.File, c.Name,
			float64(size)/1e6)
		return err
	})
}

// writeWhole writes a file atomically.
func writeWhole(path string, force bool, fill func(io.Writer) error) (size int64, err error) {
	if _, err := os.Stat(path); err == nil && !force {
		return 0, usageError("%s exists; name another file, or use --force", path)
	}
	return config.ReplaceFileFunc(path, 0o644, fill)
}

type kgImport struct {
	storeFlags
	File       string        `arg:"" help:"File written by kg export; - reads standard input."`
	Name       string        `arg:"" optional:"" help:"${kg_import_name}"`
	NoActivate bool          `help:"Do not activate the new snapshot."`
	JSON       bool          `name:"json" help:"Print the new snapshot as JSON."`
	Timeout    time.Duration `default:"24h" help:"Longest time to send."`
}

func (c *kgImport) Run(p *Program) error {
	if c.Name != "" && !goodName.MatchString(c.Name) {
		return usageError(
			"import %q: a knowledge graph's name is a lower-case letter and then letters, digits, - or _, "+
				"63 at most", c.Name)
	}
	in := p.stdin
	if c.File != "-" {
		f, err := os.Open(c.File)
		if err != nil {
			return usageError("import: %w", err)
		}
		defer f.Close()
		in = f
	}
	return p.graphs(c.storeFlags, func(client retrieverv1.KnowledgeGraphServiceClient) error {
		resp, err := c.send(p, client, in)
		if err != nil {
			return err
		}
		if c.JSON {
			return printJSON(p.Stdout, resp)
		}
		s := resp.GetSnapshot()
		_, err = fmt.Fprintf(p.Stdout, "%s: %d triples, %d entities, %d relations\n", kgtext.FormatKG(s.GetKg()),
			s.GetTriples(), s.GetEntities(), s.GetRelations())
		return err
	})
}

func (c *kgImport) send(p *Program, client retrieverv1.KnowledgeGraphServiceClient,
	in io.Reader) (*retrieverv1.ImportSnapshotResponse, error) {
	ctx, cancel := context.WithTimeout(p.Ctx, c.Timeout)
	defer cancel()
	stream, err := client.ImportSnapshot(ctx)
	if err != nil {
		return nil, err
	}
	task := p.Board().Start("import "+c.File, terminal.Bytes, inputSize(in))
	defer task.Stop()
	err = stream.Send(&retrieverv1.ImportSnapshotRequest{Part: &retrieverv1.ImportSnapshotRequest_Header{
		Header: &retrieverv1.ImportHeader{Kg: &graphv1.KnowledgeGraphRef{Name: c.Name}, NoActivate: c.NoActivate}}})
	if err == nil {
		sent := 0
		err = sendChunks("import "+c.File, in, func(chunk []byte) error {
			sent += len(chunk)
			task.SetDone(int64(sent))
			return stream.Send(&retrieverv1.ImportSnapshotRequest{
				Part: &retrieverv1.ImportSnapshotRequest_Chunk{Chunk: chunk}})
		})
	}
	// io.EOF means that the server ended the stream; its error comes with the response.
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return stream.CloseAndRecv()
}

// inputSize returns the size of a regular file; 0 for other inputs.
func inputSize(in io.Reader) int64 {
	if f, ok := in.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			return info.Size()
		}
	}
	return 0
}

type kgCompact struct {
	storeFlags
	Name       string        `arg:"" help:"NAME, or NAME@N."`
	NoActivate bool          `help:"Do not activate the new snapshot."`
	Timeout    time.Duration `default:"24h" help:"Longest time to write."`
}

// Run merges a delta snapshot into a full one.
func (c *kgCompact) Run(p *Program) error {
	ref, err := namedKG(c.Name)
	if err != nil {
		return err
	}
	return p.graphs(c.storeFlags, func(client retrieverv1.KnowledgeGraphServiceClient) error {
		ctx, cancel := context.WithTimeout(p.Ctx, c.Timeout)
		defer cancel()
		resp, err := client.CompactSnapshot(ctx, &retrieverv1.CompactSnapshotRequest{Kg: ref, NoActivate: c.NoActivate})
		if err != nil {
			return err
		}
		s := resp.GetSnapshot()
		_, err = fmt.Fprintf(p.Stdout, "%s is a full snapshot: %d triples, %.1f MB\n", kgtext.FormatKG(s.GetKg()),
			s.GetTriples(),
			float64(s.GetBytes())/1e6)
		return err
	})
}

type kgDiff struct {
	storeFlags
	From    string        `arg:"" help:"The earlier snapshot, NAME@N."`
	To      string        `arg:"" optional:"" help:"The later one, NAME@M; otherwise the active one."`
	JSON    bool          `name:"json" help:"Print one JSON object a line."`
	Timeout time.Duration `default:"24h" help:"Longest time to compare."`
}

// Run prints the added (+) and removed (-) triples, one a line.
func (c *kgDiff) Run(p *Program) error {
	from, to, err := c.refs()
	if err != nil {
		return err
	}
	return p.graphs(c.storeFlags, func(client retrieverv1.KnowledgeGraphServiceClient) error {
		ctx, cancel := context.WithTimeout(p.Ctx, c.Timeout)
		defer cancel()
		stream, err := client.DiffSnapshots(ctx, &retrieverv1.DiffSnapshotsRequest{Kg: to, From: from.GetSnapshot()})
		if err != nil {
			return err
		}
		return receive(stream, func(part *retrieverv1.DiffSnapshotsResponse) error {
			for _, d := range part.GetDifferences() {
				if err := c.print(p.Stdout, d); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

func (c *kgDiff) refs() (from, to *graphv1.KnowledgeGraphRef, err error) {
	if from, err = namedKG(c.From); err != nil {
		return nil, nil, err
	}
	if from.GetSnapshot() == 0 {
		return nil, nil, usageError("name the earlier snapshot, such as %s@1; `triplemesh kg list` shows them", c.From)
	}
	to = &graphv1.KnowledgeGraphRef{Name: from.GetName()}
	if c.To == "" {
		return from, to, nil
	}
	if to, err = namedKG(c.To); err != nil {
		return nil, nil, err
	}
	if to.GetName() != from.GetName() {
		return nil, nil, usageError("%s and %s are different knowledge graphs; name two snapshots of one", c.From, c.To)
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
	_, err := fmt.Fprintf(out, "%s %s\t%s\t%s%s\n", sign, show.Line(t.GetSubject(), 200),
		show.Line(t.GetRelation(), 200), show.Line(t.GetObject(), 200), interval(t.GetValidity()))
	return err
}

func interval(v *graphv1.ValidityInterval) string {
	if v.GetStart() == "" && v.GetEnd() == "" {
		return ""
	}
	return "\t" + show.Line(v.GetStart(), 64) + "\t" + show.Line(v.GetEnd(), 64)
}
