package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/show"
	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/internal/paging"
	"github.com/triplemesh/triplemesh/internal/terminal"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/retriever/load"
)

type kgLoad struct {
	storeFlags
	Name       string   `arg:"" help:"Name of the knowledge graph: a lower-case word."`
	Files      []string `arg:"" optional:"" help:"${kg_load_files}"`
	Format     string   `enum:"${formats}" default:"" placeholder:"FORMAT" help:"${kg_load_format}"`
	Columns    string   `xor:"key" placeholder:"S,R,O" help:"${kg_load_columns}"`
	KeyColumn  string   `xor:"key" placeholder:"COLUMN" help:"${kg_load_key}"`
	NameColumn []string `sep:"none" placeholder:"COLUMN" help:"${kg_load_name}"`
	Rows       string   `xor:"key" placeholder:"NAME" help:"${kg_load_rows}"`
	Type       []string `sep:"none" placeholder:"COLUMN=TYPE" help:"${kg_load_type}"`
	Yes        bool     `short:"y" help:"Load CSV files with the key that is proposed, without asking."`
	Separator  string   `placeholder:"CHAR" help:"Column separator of a CSV file; otherwise that of its headings."`
	Language   string   `placeholder:"TAG" help:"Language of labels, such as en or pt-br; otherwise en."`
	Add        bool     `xor:"mode" help:"Add the triples in the files to the active snapshot, as a delta."`
	Remove     bool     `xor:"mode" help:"Remove the triples in the files from the active snapshot, as a delta."`
	NoVectors  bool     `help:"${kg_load_no_vectors}"`
	Strict     bool     `help:"${kg_load_strict}"`
	Provenance bool     `help:"${kg_load_provenance}"`
	NoActivate bool     `help:"Build the snapshot without activating it."`
	IfMissing  bool     `help:"Do nothing if the knowledge graph has an active snapshot."`
	Resume     bool     `help:"Resume an interrupted load of the same files."`
	JSON       bool     `name:"json" help:"Print the new snapshot as JSON."`

	Database     string   `group:"Neo4j" placeholder:"NAME" help:"Database to read; otherwise the user's own."`
	NameProperty []string `group:"Neo4j" placeholder:"[LABEL=]PROPERTY" help:"${kg_load_name_property}"`
	Labels       []string `group:"Neo4j" placeholder:"LABEL" help:"Only nodes with one of these labels."`
	Types        []string `group:"Neo4j" placeholder:"TYPE" help:"Only relationships of these types."`
	Properties   bool     `group:"Neo4j" help:"Make triples of nodes' labels and other properties too."`
	Graph        string   `group:"SPARQL" placeholder:"IRI" help:"Graph to read; otherwise the default graph."`
	Where        string   `group:"SPARQL" placeholder:"PATTERN" help:"${kg_load_where}"`

	// A call without a deadline gets the server's own, which is meant for
	// questions; encoding a large graph takes hours.
	Timeout time.Duration `default:"24h" help:"Longest time to load and encode."`
}

// goodName is the naming rule of the API.
var goodName = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,62}$`)

// Run streams the files to the retriever, which builds the snapshot.
func (c *kgLoad) Run(p *Program) error {
	if !goodName.MatchString(c.Name) {
		return usageError("load %q: a knowledge graph's name is a lower-case letter and then letters, digits, - or _, "+
			"63 at most, such as wikidata", c.Name)
	}
	inputs := make([]input, len(c.Files))
	for i, arg := range c.Files {
		var err error
		if inputs[i], err = c.input(arg, p.stdin, p.env, func(err error) {
			fmt.Fprintln(p.Stderr, "skipped:", show.Line(err.Error(), 200))
		}); err != nil {
			return usageError("load %s: %w", c.Name, err)
		}
	}
	if len(c.Files) == 1 {
		if err := load.CheckNotEmpty(c.Files[0]); err != nil {
			return usageError("load %s: %w", c.Name, err)
		}
	}
	header, file, err := c.headers()
	if err == nil && len(c.Files) == 0 && len(c.NameProperty)+len(c.Labels)+len(c.Types) > 0 {
		err = errors.New("--name-property, --labels and --types are for an address such as neo4j://…; a graph that " +
			"is read in place has them in retriever.store.neo4j.graphs")
	}
	if err != nil {
		return usageError("load %s: %w", c.Name, err)
	}
	if err := c.proposeColumns(p, inputs, file.GetColumns()); err != nil {
		return err
	}
	return p.graphs(c.storeFlags, func(client retrieverv1.KnowledgeGraphServiceClient) error {
		if c.IfMissing {
			if there, err := c.isThere(p.Ctx, client); err != nil || there {
				return err
			}
		}
		began := time.Now()
		resp, err := c.send(p, client, header, file.GetColumns(), inputs)
		if err != nil {
			return err
		}
		if c.JSON {
			return printJSON(p.Stdout, resp)
		}
		return c.print(p.Stdout, p.Stderr, resp, time.Since(began))
	})
}

func (c *kgLoad) isThere(ctx context.Context, client retrieverv1.KnowledgeGraphServiceClient) (bool, error) {
	snapshots, err := paging.KnowledgeGraphs(ctx, client, c.Name)
	if status.Code(err) == codes.NotFound {
		return false, nil
	}
	return slices.ContainsFunc(snapshots, func(s *retrieverv1.SnapshotInfo) bool {
		return s.GetActive() && s.GetEncoder() != "" // not a corrupt one, or one of an older version
	}), err
}

func (c *kgLoad) send(p *Program, client retrieverv1.KnowledgeGraphServiceClient, header *retrieverv1.LoadHeader,
	columns *retrieverv1.Columns, inputs []input) (*retrieverv1.LoadKnowledgeGraphResponse, error) {
	ctx, cancel := context.WithTimeout(p.Ctx, c.Timeout)
	defer cancel()
	stream, err := client.LoadKnowledgeGraphStream(ctx)
	if err != nil {
		return nil, err
	}
	progress := &loadProgress{name: c.Name, board: p.Board()}
	defer progress.end()
	sent := make(chan error, 1)
	go func() {
		err := c.sendAll(ctx, stream, header, columns, inputs)
		sent <- err
		if err != nil && !errors.Is(err, io.EOF) {
			cancel() // an incomplete load must not be committed
		}
	}()
	for {
		event, err := stream.Recv()
		if err != nil {
			// A read error of a file takes precedence over the server's error that follows from it.
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

func (c *kgLoad) sendAll(ctx context.Context,
	stream grpc.BidiStreamingClient[retrieverv1.LoadKnowledgeGraphStreamRequest,
		retrieverv1.LoadKnowledgeGraphStreamResponse], header *retrieverv1.LoadHeader, columns *retrieverv1.Columns,
	inputs []input) error {
	send := func(r *retrieverv1.LoadKnowledgeGraphRequest) error {
		return stream.Send(&retrieverv1.LoadKnowledgeGraphStreamRequest{Request: r})
	}
	err := send(&retrieverv1.LoadKnowledgeGraphRequest{Part: &retrieverv1.LoadKnowledgeGraphRequest_Header{
		Header: header}})
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

func (c *kgLoad) sendInput(ctx context.Context, send func(*retrieverv1.LoadKnowledgeGraphRequest) error, in input,
	columns *retrieverv1.Columns) error {
	file, err := in.open(ctx)
	if err != nil {
		return fmt.Errorf("load %s: %w", c.Name, err)
	}
	defer file.Close()
	header := &retrieverv1.FileHeader{Name: in.name, Format: in.format, Columns: cmp.Or(in.columns, columns)}
	if err := send(&retrieverv1.LoadKnowledgeGraphRequest{Part: &retrieverv1.LoadKnowledgeGraphRequest_File{
		File: header}}); err != nil {
		return err
	}
	return sendChunks(fmt.Sprintf("load %s: read %s", c.Name, in.name), file, func(chunk []byte) error {
		return send(&retrieverv1.LoadKnowledgeGraphRequest{
			Part: &retrieverv1.LoadKnowledgeGraphRequest_Chunk{Chunk: chunk}})
	})
}

func (c *kgLoad) print(out, notes io.Writer, resp *retrieverv1.LoadKnowledgeGraphResponse, took time.Duration) error {
	for _, e := range resp.GetErrors() {
		fmt.Fprintf(notes, "%s: %s\n", place(e), show.Line(e.GetMessage(), 200))
	}
	if bad := resp.GetBadLines(); bad > uint64(len(resp.GetErrors())) {
		fmt.Fprintf(notes, "and %d more bad lines\n", bad-uint64(len(resp.GetErrors())))
	}
	s := resp.GetSnapshot()
	_, err := fmt.Fprintf(out,
		"%s: %d triples, %d entities, %d relations from %d lines (%d bad, %d duplicates) in %s\n",
		kgtext.FormatKG(s.GetKg()), s.GetTriples(), s.GetEntities(), s.GetRelations(), resp.GetLines(),
		resp.GetBadLines(), resp.GetDuplicates(), took.Round(100*time.Millisecond))
	return err
}

// place returns the position of a bad line.
func place(e *retrieverv1.LineError) string {
	if e.GetLine() == 0 {
		return fmt.Sprintf("%s: byte %d", show.Line(e.GetFile(), 60), e.GetByte())
	}
	return fmt.Sprintf("%s:%d", show.Line(e.GetFile(), 60), e.GetLine())
}

// formats maps the names of file formats to the API's values.
var formats = map[string]retrieverv1.Format{
	"tsv":           retrieverv1.Format_FORMAT_TSV,
	"csv":           retrieverv1.Format_FORMAT_CSV,
	"n-triples":     retrieverv1.Format_FORMAT_N_TRIPLES,
	"n-quads":       retrieverv1.Format_FORMAT_N_QUADS,
	"turtle":        retrieverv1.Format_FORMAT_TURTLE,
	"json-ld":       retrieverv1.Format_FORMAT_JSON_LD,
	"wikidata-json": retrieverv1.Format_FORMAT_WIKIDATA_JSON,
	"freebase":      retrieverv1.Format_FORMAT_FREEBASE,
}

func (c *kgLoad) headers() (*retrieverv1.LoadHeader, *retrieverv1.FileHeader, error) {
	header := &retrieverv1.LoadHeader{
		Kg: &graphv1.KnowledgeGraphRef{Name: c.Name}, Strict: c.Strict, NoActivate: c.NoActivate, Language: c.Language,
		Resume: c.Resume, Provenance: c.Provenance,
	}
	switch {
	case c.Add:
		header.Mode = retrieverv1.LoadMode_LOAD_MODE_ADD
	case c.Remove:
		header.Mode = retrieverv1.LoadMode_LOAD_MODE_REMOVE
	}
	if c.NoVectors {
		header.Vectors = retrieverv1.Vectors_VECTORS_NONE
	}
	file := &retrieverv1.FileHeader{Format: formats[c.Format]}
	types, err := c.typedColumns()
	if err != nil || c.Columns == "" && c.Separator == "" && c.KeyColumn == "" && len(c.NameColumn) == 0 &&
		c.Rows == "" && len(types) == 0 {
		return header, file, err
	}
	if utf8.RuneCountInString(c.Separator) > 1 {
		return nil, nil, fmt.Errorf("--separator %q: want one character", c.Separator)
	}
	file.Columns = &retrieverv1.Columns{Separator: c.Separator, Rows: c.Rows, Types: types}
	setNames(file.Columns, c.NameColumn)
	names := []string{c.KeyColumn}
	if c.Columns != "" {
		names = strings.Split(c.Columns, ",")
	}
	into := []*string{&file.Columns.Subject, &file.Columns.Relation, &file.Columns.Object, &file.Columns.Start,
		&file.Columns.End}
	if len(names) == 2 || len(names) > len(into) {
		return nil, nil, fmt.Errorf("--columns %q: want the heading of the subject alone, or those of subject, "+
			"relation and object, and of start and end where there are any", c.Columns)
	}
	for i, name := range names {
		*into[i] = strings.TrimSpace(name)
	}
	return header, file, nil
}

// loadProgress shows how far a load has come, a task for each phase.
type loadProgress struct {
	name  string
	board *terminal.Board
	phase retrieverv1.LoadPhase
	task  *terminal.Task
}

var phases = map[retrieverv1.LoadPhase]string{
	retrieverv1.LoadPhase_LOAD_PHASE_READ:   "reading",
	retrieverv1.LoadPhase_LOAD_PHASE_SORT:   "sorting",
	retrieverv1.LoadPhase_LOAD_PHASE_ENCODE: "encoding",
	retrieverv1.LoadPhase_LOAD_PHASE_WRITE:  "writing",
}

func (l *loadProgress) show(p *retrieverv1.LoadProgress) {
	phase, known := phases[p.GetPhase()]
	if !known {
		return
	}
	total := int64(p.GetTotal())
	if p.GetPhase() == retrieverv1.LoadPhase_LOAD_PHASE_WRITE {
		total = 0 // the write phase reports only its start
	}
	if p.GetPhase() != l.phase {
		l.end()
		l.phase = p.GetPhase()
		l.task = l.board.Start(l.name+": "+phase, "triples", total)
		l.task.Resume(int64(p.GetDone()))
		return
	}
	l.task.SetProgress(int64(p.GetDone()), total)
}

// end removes the progress bar.
func (l *loadProgress) end() {
	if l.task != nil {
		l.task.Stop()
	}
}
