package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/probe"
	"github.com/triplemesh/triplemesh/cmd/triplemesh/show"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

type kgLoad struct {
	storeFlags
	Name       string   `arg:"" help:"Name of the knowledge graph: a lower-case word."`
	Files      []string `arg:"" optional:"" help:"Files of triples, plain, .gz, .bz2 or .zst: TSV (subject, relation, object, separated by tabs), CSV, N-Triples, N-Quads, Turtle, JSON-LD, or the dumps of Wikidata (JSON) and Freebase; - reads TSV from standard input. A Neo4j server (neo4j://HOST:PORT, bolt://…; NEO4J_USER, NEO4J_PASSWORD) or a SPARQL endpoint (sparql+https://…; SPARQL_USER, SPARQL_PASSWORD) is read as a file is. Without any, the retriever reads the knowledge graph where its configuration says that it is kept."`
	Format     string   `enum:"${formats}" default:"" placeholder:"FORMAT" help:"tsv, csv, n-triples, n-quads, turtle, json-ld, wikidata-json or freebase; otherwise told by the files' names."`
	Columns    string   `placeholder:"S,R,O" help:"Headings of a CSV file's columns of subject, relation and object, and if there are any of start and end. One heading alone is the subject, and every other column a relation."`
	Separator  string   `placeholder:"CHAR" help:"What stands between the cells of a CSV file; otherwise a comma."`
	Language   string   `placeholder:"TAG" help:"Language of labels, such as en or pt-br; otherwise en."`
	Add        bool     `xor:"mode" help:"Add what the files hold to the active snapshot: the new one is a delta."`
	Remove     bool     `xor:"mode" help:"Take what the files hold out of the active snapshot: the new one is a delta."`
	NoVectors  bool     `help:"Encode no triples now; those of the subjects that a question is about are encoded when it is asked. For knowledge graphs that are too large to encode."`
	Strict     bool     `help:"End at the first line that holds no triple; otherwise such lines are counted and reported."`
	NoActivate bool     `help:"Build the snapshot and leave the active one as it is."`
	IfMissing  bool     `help:"Do nothing where the knowledge graph has an active snapshot already."`
	Resume     bool     `help:"Go on with a load of the same files that was interrupted."`
	JSON       bool     `name:"json" help:"Print what was built as JSON."`

	Database     string   `group:"Neo4j" placeholder:"NAME" help:"Database to read; otherwise the user's own."`
	NameProperty string   `group:"Neo4j" placeholder:"NAME" help:"Property that names a node; otherwise name."`
	Labels       []string `group:"Neo4j" placeholder:"LABEL" help:"Only nodes with one of these labels."`
	Types        []string `group:"Neo4j" placeholder:"TYPE" help:"Only relationships of these types."`
	Properties   bool     `group:"Neo4j" help:"Make triples of nodes' labels and other properties too."`
	Graph        string   `group:"SPARQL" placeholder:"IRI" help:"Graph to read; otherwise the default graph."`
	Where        string   `group:"SPARQL" placeholder:"PATTERN" help:"Graph pattern that binds ?s, ?p and ?o; otherwise all statements."`

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
	inputs := make([]input, len(c.Files))
	for i, arg := range c.Files {
		var err error
		if inputs[i], err = c.input(arg, p.stdin, p.env, func(err error) { fmt.Fprintln(p.stderr, "passed over:", show.Line(err.Error(), 200)) }); err != nil {
			return exitError{exitUsage, fmt.Errorf("load %s: %w", c.Name, err)}
		}
	}
	if len(c.Files) == 1 {
		if err := probe.Empty(c.Files[0]); err != nil {
			return exitError{exitUsage, fmt.Errorf("load %s: %w", c.Name, err)}
		}
	}
	return p.graphs(c.storeFlags, func(client retrieverv1.KnowledgeGraphServiceClient) error {
		if c.IfMissing {
			if there, err := c.isThere(p.ctx, client); err != nil || there {
				return err
			}
		}
		began := time.Now()
		resp, err := c.send(p, client, inputs)
		if err != nil {
			return err
		}
		if c.JSON {
			return printJSON(p.stdout, resp)
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
		// One that cannot be read, or that an older version wrote, is not there.
		if s.GetActive() && s.GetEncoder() != "" {
			return true, nil
		}
	}
	return false, err
}

func (c *kgLoad) send(p *program, client retrieverv1.KnowledgeGraphServiceClient, inputs []input) (*retrieverv1.LoadResponse, error) {
	header, file, err := c.headers()
	if err != nil {
		return nil, exitError{exitUsage, fmt.Errorf("load %s: %w", c.Name, err)}
	}
	ctx, cancel := context.WithTimeout(p.ctx, c.Timeout)
	defer cancel()
	stream, err := client.LoadStream(ctx)
	if err != nil {
		return nil, err
	}
	progress := &loadProgress{name: c.Name, board: p.board()}
	defer progress.end()
	sent := make(chan error, 1)
	go func() {
		err := c.sendAll(ctx, stream, header, file.GetColumns(), inputs)
		sent <- err
		if err != nil && !errors.Is(err, io.EOF) {
			cancel() // half a file is no load
		}
	}()
	for {
		event, err := stream.Recv()
		if err != nil {
			// A file that cannot be read is the reason of whatever the server
			// made of its end.
			cancel()
			if reason := <-sent; reason != nil && !errors.Is(reason, io.EOF) {
				return nil, reason
			}
			return nil, err
		}
		if result := event.GetResult(); result != nil {
			return result, nil
		}
		progress.show(event.GetProgress())
	}
}

func (c *kgLoad) sendAll(ctx context.Context, stream grpc.BidiStreamingClient[retrieverv1.LoadStreamRequest, retrieverv1.LoadStreamResponse], header *retrieverv1.LoadHeader, columns *retrieverv1.Columns, inputs []input) error {
	send := func(r *retrieverv1.LoadRequest) error {
		return stream.Send(&retrieverv1.LoadStreamRequest{Request: r})
	}
	err := send(&retrieverv1.LoadRequest{Part: &retrieverv1.LoadRequest_Header{Header: header}})
	for _, in := range inputs {
		if err == nil {
			err = c.sendInput(ctx, send, in, columns)
		}
	}
	if err == nil {
		err = stream.CloseSend()
	}
	return err
}

// chunkBytes is how much of a file goes into one message; the contract allows
// 1 MiB.
const chunkBytes = 256 << 10

func (c *kgLoad) sendInput(ctx context.Context, send func(*retrieverv1.LoadRequest) error, in input, columns *retrieverv1.Columns) error {
	file, err := in.open(ctx)
	if err != nil {
		return fmt.Errorf("load %s: %w", c.Name, err)
	}
	defer file.Close()
	header := &retrieverv1.FileHeader{Name: in.name, Format: in.format, Columns: columns}
	if err := send(&retrieverv1.LoadRequest{Part: &retrieverv1.LoadRequest_File{File: header}}); err != nil {
		return err
	}
	for {
		// A message may wait to be sent; it keeps its bytes.
		buffer := make([]byte, chunkBytes)
		n, err := io.ReadFull(file, buffer)
		if n > 0 {
			if err := send(&retrieverv1.LoadRequest{Part: &retrieverv1.LoadRequest_Chunk{Chunk: buffer[:n]}}); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("load %s: read %s: %w", c.Name, in.name, err)
		}
	}
}

func (c *kgLoad) print(out, notes io.Writer, resp *retrieverv1.LoadResponse, took time.Duration) error {
	for _, e := range resp.GetErrors() {
		fmt.Fprintf(notes, "%s: %s\n", place(e), show.Line(e.GetMessage(), 200))
	}
	if bad := resp.GetBadLines(); bad > uint64(len(resp.GetErrors())) {
		fmt.Fprintf(notes, "and %d more bad lines\n", bad-uint64(len(resp.GetErrors())))
	}
	s := resp.GetSnapshot()
	_, err := fmt.Fprintf(out, "%s: %d triples, %d entities, %d relations from %d lines (%d bad, %d duplicates) in %s\n",
		refText(s.GetKg()), s.GetTriples(), s.GetEntities(), s.GetRelations(), resp.GetLines(), resp.GetBadLines(), resp.GetDuplicates(), took.Round(100*time.Millisecond))
	return err
}

// place says where a line or a byte could not be read.
func place(e *retrieverv1.LineError) string {
	if e.GetLine() == 0 {
		return fmt.Sprintf("%s: byte %d", show.Line(e.GetFile(), 60), e.GetByte())
	}
	return fmt.Sprintf("%s:%d", show.Line(e.GetFile(), 60), e.GetLine())
}
