package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/show"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

type kgLoad struct {
	storeFlags
	Name       string   `arg:"" help:"Name of the knowledge graph: a lower-case word."`
	Files      []string `arg:"" help:"Files of triples: TSV (subject, relation, object, separated by tabs) or N-Triples, plain or .gz; - reads TSV from standard input."`
	Format     string   `enum:",tsv,n-triples" default:"" placeholder:"FORMAT" help:"tsv or n-triples; otherwise told by the files' names."`
	Strict     bool     `help:"End at the first line that holds no triple; otherwise such lines are counted and reported."`
	NoActivate bool     `help:"Build the snapshot and leave the active one as it is."`
	IfMissing  bool     `help:"Do nothing where the knowledge graph has an active snapshot already."`

	// A call without a deadline gets the server's own, which is meant for
	// questions; encoding a large graph takes hours.
	Timeout time.Duration `default:"24h" help:"Longest time to load and encode. (default: ${default})"`
}

// goodName is the contract's rule.
var goodName = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,62}$`)

// Run streams the files to the retriever, which builds the snapshot.
func (c *kgLoad) Run(p *program) error {
	if !goodName.MatchString(c.Name) {
		return exitError{exitUsage, fmt.Errorf("load %q: a knowledge graph's name is a lower-case letter and then letters, digits, - or _, 63 at most, such as wikidata", c.Name)}
	}
	for _, f := range c.Files {
		if f == "-" {
			continue
		}
		if info, err := os.Stat(f); err != nil {
			return exitError{exitUsage, fmt.Errorf("load %s: %w", c.Name, err)}
		} else if info.IsDir() {
			return exitError{exitUsage, fmt.Errorf("load %s: %s is a folder: name the files in it", c.Name, f)}
		}
	}
	return p.graphs(c.storeFlags, func(client retrieverv1.KnowledgeGraphServiceClient) error {
		if c.IfMissing {
			if there, err := c.isThere(p.ctx, client); err != nil || there {
				return err
			}
		}
		began := time.Now()
		resp, err := c.send(p, client)
		if err != nil {
			return err
		}
		return c.print(p.stdout, p.stderr, resp, time.Since(began))
	})
}

func (c *kgLoad) isThere(ctx context.Context, client retrieverv1.KnowledgeGraphServiceClient) (bool, error) {
	resp, err := client.List(ctx, &retrieverv1.ListRequest{Kg: c.Name})
	if status.Code(err) == codes.NotFound {
		return false, nil
	}
	for _, s := range resp.GetSnapshots() {
		if s.GetActive() {
			return true, nil
		}
	}
	return false, err
}

func (c *kgLoad) send(p *program, client retrieverv1.KnowledgeGraphServiceClient) (*retrieverv1.LoadResponse, error) {
	ctx, cancel := context.WithTimeout(p.ctx, c.Timeout)
	defer cancel()
	stream, err := client.Load(ctx)
	if err != nil {
		return nil, err
	}
	line := p.status()
	defer line.clear()
	err = stream.Send(&retrieverv1.LoadRequest{Part: &retrieverv1.LoadRequest_Header{Header: &retrieverv1.LoadHeader{
		Kg: c.Name, Strict: c.Strict, NoActivate: c.NoActivate,
	}}})
	for _, f := range c.Files {
		if err == nil {
			err = c.sendFile(stream, f, p.stdin, line)
		}
	}
	// The server's own reason comes with the response.
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	stop := c.waiting(ctx, line)
	defer stop()
	return stream.CloseAndRecv()
}

// chunkBytes is how much of a file goes into one message; the contract allows
// 1 MiB.
const chunkBytes = 256 << 10

func (c *kgLoad) sendFile(stream grpc.ClientStreamingClient[retrieverv1.LoadRequest, retrieverv1.LoadResponse], path string, stdin io.Reader, line *statusLine) error {
	var file io.Reader = stdin
	header := &retrieverv1.FileHeader{Name: "stdin.tsv", Format: map[string]retrieverv1.Format{
		"tsv": retrieverv1.Format_FORMAT_TSV, "n-triples": retrieverv1.Format_FORMAT_N_TRIPLES,
	}[c.Format]}
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return fmt.Errorf("load %s: %w", c.Name, err)
		}
		defer f.Close()
		file, header.Name = f, filepath.Base(path)
	}
	if err := stream.Send(&retrieverv1.LoadRequest{Part: &retrieverv1.LoadRequest_File{File: header}}); err != nil {
		return err
	}
	buffer := make([]byte, chunkBytes)
	for sent := 0; ; {
		n, err := io.ReadFull(file, buffer)
		if n > 0 {
			if err := stream.Send(&retrieverv1.LoadRequest{Part: &retrieverv1.LoadRequest_Chunk{Chunk: buffer[:n]}}); err != nil {
				return err
			}
			sent += n
			line.set("%s: %d kB sent", header.Name, sent/1000)
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("load %s: read %s: %w", c.Name, path, err)
		}
	}
}

// waiting shows how long the snapshot is being built.
func (c *kgLoad) waiting(ctx context.Context, line *statusLine) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		clock := time.NewTicker(time.Second)
		defer clock.Stop()
		for began := time.Now(); ; {
			line.set("%s: encoding the triples and building the snapshot, %s", c.Name, time.Since(began).Round(time.Second))
			select {
			case <-done:
				return
			case <-ctx.Done():
				return
			case <-clock.C:
			}
		}
	}()
	return func() { close(done); <-ended }
}

func (c *kgLoad) print(out, notes io.Writer, resp *retrieverv1.LoadResponse, took time.Duration) error {
	for _, e := range resp.GetErrors() {
		fmt.Fprintf(notes, "%s:%d: %s\n", show.Line(e.GetFile(), 60), e.GetLine(), show.Line(e.GetMessage(), 200))
	}
	if bad := resp.GetBadLines(); bad > uint64(len(resp.GetErrors())) {
		fmt.Fprintf(notes, "and %d more bad lines\n", bad-uint64(len(resp.GetErrors())))
	}
	s := resp.GetSnapshot()
	_, err := fmt.Fprintf(out, "%s: %d triples, %d entities, %d relations from %d lines (%d bad, %d duplicates) in %s\n",
		refText(s.GetKg()), s.GetTriples(), s.GetEntities(), s.GetRelations(), resp.GetLines(), resp.GetBadLines(), resp.GetDuplicates(), took.Round(100*time.Millisecond))
	return err
}
