package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/progress"
	"github.com/triplemesh/triplemesh/internal/wholefile"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

type kgExport struct {
	storeFlags
	Name    string        `arg:"" help:"NAME, or NAME@N."`
	File    string        `arg:"" help:"File to write; - writes to standard output."`
	Force   bool          `help:"Write over a file that is there."`
	Timeout time.Duration `default:"24h" help:"Longest time to send. (default: ${default})"`
}

// Run writes a snapshot into one file.
func (c *kgExport) Run(p *program) error {
	ref, err := namedKG(c.Name)
	if err != nil {
		return err
	}
	return p.graphs(c.storeFlags, func(client retrieverv1.KnowledgeGraphServiceClient) error {
		ctx, cancel := context.WithTimeout(p.ctx, c.Timeout)
		defer cancel()
		stream, err := client.Export(ctx, &retrieverv1.ExportRequest{Kg: ref})
		if err != nil {
			return err
		}
		task := p.board().Start("export "+c.Name, progress.Bytes, 0)
		defer task.Stop()
		copyTo := func(w io.Writer) error {
			for written := 0; ; {
				part, err := stream.Recv()
				if errors.Is(err, io.EOF) {
					return nil
				}
				if err != nil {
					return err
				}
				if _, err := w.Write(part.GetChunk()); err != nil {
					return fmt.Errorf("export %s: %w", c.Name, err)
				}
				written += len(part.GetChunk())
				task.Set(int64(written))
			}
		}
		if c.File == "-" {
			return copyTo(p.stdout)
		}
		size, err := writeWhole(c.File, c.Force, copyTo)
		if err != nil {
			return err
		}
		task.Stop()
		_, err = fmt.Fprintf(p.stdout, "%s: %s, %.1f MB; triplemesh kg import takes it in elsewhere\n", c.File, c.Name, float64(size)/1e6)
		return err
	})
}

// writeWhole makes a file that is either whole or not there.
func writeWhole(path string, force bool, fill func(io.Writer) error) (size int64, err error) {
	if _, err := os.Stat(path); err == nil && !force {
		return 0, exitError{exitUsage, fmt.Errorf("%s is there already: name another file, or use --force", path)}
	}
	return wholefile.Write(path, 0o644, fill)
}

type kgImport struct {
	storeFlags
	File       string        `arg:"" help:"File that kg export made; - reads standard input."`
	Name       string        `arg:"" optional:"" help:"Name of the knowledge graph to import into; otherwise the one the file has."`
	NoActivate bool          `help:"Leave the active snapshot as it is."`
	JSON       bool          `name:"json" help:"Print what was built as JSON."`
	Timeout    time.Duration `default:"24h" help:"Longest time to send. (default: ${default})"`
}

// Run sends a file to the retriever.
func (c *kgImport) Run(p *program) error {
	if c.Name != "" && !goodName.MatchString(c.Name) {
		return exitError{exitUsage, fmt.Errorf("import %q: a knowledge graph's name is a lower-case letter and then letters, digits, - or _, 63 at most", c.Name)}
	}
	in := p.stdin
	if c.File != "-" {
		f, err := os.Open(c.File)
		if err != nil {
			return exitError{exitUsage, fmt.Errorf("import: %w", err)}
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
			return printJSON(p.stdout, resp)
		}
		s := resp.GetSnapshot()
		_, err = fmt.Fprintf(p.stdout, "%s: %d triples, %d entities, %d relations\n", refText(s.GetKg()), s.GetTriples(), s.GetEntities(), s.GetRelations())
		return err
	})
}

func (c *kgImport) send(p *program, client retrieverv1.KnowledgeGraphServiceClient, in io.Reader) (*retrieverv1.ImportResponse, error) {
	ctx, cancel := context.WithTimeout(p.ctx, c.Timeout)
	defer cancel()
	stream, err := client.Import(ctx)
	if err != nil {
		return nil, err
	}
	task := p.board().Start("import "+c.File, progress.Bytes, sizeOf(in))
	defer task.Stop()
	err = stream.Send(&retrieverv1.ImportRequest{Part: &retrieverv1.ImportRequest_Header{Header: &retrieverv1.ImportHeader{Kg: c.Name, NoActivate: c.NoActivate}}})
	for sent := 0; err == nil; {
		buffer := make([]byte, chunkBytes)
		n, readErr := io.ReadFull(in, buffer)
		if n > 0 {
			err = stream.Send(&retrieverv1.ImportRequest{Part: &retrieverv1.ImportRequest_Chunk{Chunk: buffer[:n]}})
			sent += n
			task.Set(int64(sent))
		}
		if errors.Is(readErr, io.EOF) || errors.Is(readErr, io.ErrUnexpectedEOF) {
			break
		}
		if readErr != nil {
			return nil, fmt.Errorf("import %s: %w", c.File, readErr)
		}
	}
	// The server's own reason comes with the response.
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return stream.CloseAndRecv()
}

// sizeOf is how long a file is; 0 where it is no file.
func sizeOf(in io.Reader) int64 {
	if f, ok := in.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			return info.Size()
		}
	}
	return 0
}
