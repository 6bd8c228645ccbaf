package retriever

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/internal/tenant"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/retriever/load"
	"github.com/triplemesh/triplemesh/services/retriever/source"
	"github.com/triplemesh/triplemesh/services/retriever/source/csv"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// receive returns the next message of a load, io.EOF after the last.
type receive func() (*retrieverv1.LoadRequest, error)

// Load implements KnowledgeGraphService. Files are read as they arrive; none
// is kept whole.
func (s *KnowledgeGraphs) Load(stream grpc.ClientStreamingServer[retrieverv1.LoadRequest, retrieverv1.LoadResponse]) error {
	resp, err := s.load(stream.Context(), stream.Recv, nil)
	if err != nil {
		return err
	}
	return stream.SendAndClose(resp)
}

// LoadStream implements KnowledgeGraphService.
func (s *KnowledgeGraphs) LoadStream(stream grpc.BidiStreamingServer[retrieverv1.LoadStreamRequest, retrieverv1.LoadStreamResponse]) error {
	recv := func() (*retrieverv1.LoadRequest, error) {
		message, err := stream.Recv()
		return message.GetRequest(), err
	}
	var last time.Time
	var phase load.Phase
	progress := func(p load.Progress) {
		if now := time.Now(); p.Phase != phase || now.Sub(last) >= progressEvery {
			last, phase = now, p.Phase
			// A caller who is gone ends the load by its context.
			_ = stream.Send(&retrieverv1.LoadStreamResponse{Event: &retrieverv1.LoadStreamResponse_Progress{Progress: &retrieverv1.LoadProgress{
				Phase: loadPhases[p.Phase], Done: p.Done, Total: p.Total,
			}}})
		}
	}
	resp, err := s.load(stream.Context(), recv, progress)
	if err != nil {
		return err
	}
	return stream.Send(&retrieverv1.LoadStreamResponse{Event: &retrieverv1.LoadStreamResponse_Result{Result: resp}})
}

// progressEvery is the least time between two events of one phase.
const progressEvery = 200 * time.Millisecond

func (s *KnowledgeGraphs) load(ctx context.Context, recv receive, progress func(load.Progress)) (*retrieverv1.LoadResponse, error) {
	first, err := recv()
	if errors.Is(err, io.EOF) {
		return nil, outOfOrder("the stream is empty, want a header")
	}
	if err != nil {
		return nil, err
	}
	header := first.GetHeader()
	if header == nil {
		return nil, outOfOrder("the first message is no header")
	}
	id, err := tenant.From(ctx)
	if err != nil {
		return nil, err
	}
	graphs, err := s.tenants.Of(id)
	if err != nil {
		return nil, err
	}
	if err := store.CheckName(header.GetKg()); err != nil {
		return nil, &store.Error{Op: "load", KG: header.GetKg(), Err: err}
	}
	release, err := s.turns.take(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	options := loadOptions(header)
	scratch := s.scratchOf(id)
	if scratch != "" {
		options.Scratch = filepath.Join(scratch, header.GetKg())
	}
	options.Progress = progress
	loader := load.New(options)
	defer func() {
		_ = loader.Close()
		// Only empty directories go: a load that was interrupted may go on.
		for _, dir := range []string{options.Scratch, scratch, s.scratch} {
			_ = os.Remove(dir)
		}
	}()
	origin, hasOrigin := originOf(graphs, header.GetKg())
	files := &fileReader{receive: hurried(ctx, s.turns, recv)}
	for {
		file, err := files.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if hasOrigin {
			return nil, filesOfOrigin(header.GetKg())
		}
		if err := read(ctx, loader, file, files); err != nil {
			return nil, err
		}
	}
	if hasOrigin {
		if err := loader.ReadFrom(ctx, header.GetKg(), origin); err != nil {
			return nil, err
		}
	}
	report, err := loader.Finish(ctx, graphs, s.encoder)
	if err != nil {
		return nil, err
	}
	return loadResponse(report), nil
}

// read takes one file; one whose columns are named is a table.
func read(ctx context.Context, loader *load.Loader, file *retrieverv1.FileHeader, r io.Reader) error {
	if c := file.GetColumns(); c != nil {
		var separator rune
		for _, r := range c.GetSeparator() {
			separator = r
		}
		return loader.ReadTable(ctx, file.GetName(), csv.Columns{
			Subject: c.GetSubject(), Relation: c.GetRelation(), Object: c.GetObject(),
			Start: c.GetStart(), End: c.GetEnd(), Separator: separator,
		}, r)
	}
	return loader.Read(ctx, file.GetName(), formats[file.GetFormat()], r)
}

var formats = map[retrieverv1.Format]load.Format{
	retrieverv1.Format_FORMAT_UNSPECIFIED:   load.ByName,
	retrieverv1.Format_FORMAT_TSV:           source.TSV,
	retrieverv1.Format_FORMAT_N_TRIPLES:     source.NTriples,
	retrieverv1.Format_FORMAT_N_QUADS:       source.NQuads,
	retrieverv1.Format_FORMAT_TURTLE:        source.Turtle,
	retrieverv1.Format_FORMAT_JSON_LD:       source.JSONLD,
	retrieverv1.Format_FORMAT_WIKIDATA_JSON: source.Wikidata,
	retrieverv1.Format_FORMAT_FREEBASE:      source.Freebase,
	retrieverv1.Format_FORMAT_CSV:           source.CSV,
}

var loadModes = map[retrieverv1.LoadMode]load.Mode{
	retrieverv1.LoadMode_LOAD_MODE_ADD:    load.Add,
	retrieverv1.LoadMode_LOAD_MODE_REMOVE: load.Remove,
}

var loadPhases = map[load.Phase]retrieverv1.LoadPhase{
	load.Read:   retrieverv1.LoadPhase_LOAD_PHASE_READ,
	load.Sort:   retrieverv1.LoadPhase_LOAD_PHASE_SORT,
	load.Encode: retrieverv1.LoadPhase_LOAD_PHASE_ENCODE,
	load.Write:  retrieverv1.LoadPhase_LOAD_PHASE_WRITE,
}

// scratchOf is where a tenant's loads put what does not fit in memory.
func (s *KnowledgeGraphs) scratchOf(id tenant.ID) string {
	if s.scratch == "" || id.IsDefault() {
		return s.scratch
	}
	return filepath.Join(s.scratch, "@"+id.String())
}

func loadOptions(header *retrieverv1.LoadHeader) load.Options {
	options := load.Options{
		KG: header.GetKg(), Strict: header.GetStrict(), NoActivate: header.GetNoActivate(),
		Language: header.GetLanguage(), Mode: loadModes[header.GetMode()], Resume: header.GetResume(),
	}
	if header.GetVectors() == retrieverv1.Vectors_VECTORS_NONE {
		options.Vectors = load.RelationVectors
	}
	return options
}

func loadResponse(report load.Report) *retrieverv1.LoadResponse {
	res := &retrieverv1.LoadResponse{
		Snapshot:   snapshotInfo(report.Snapshot, report.Active),
		Lines:      report.Lines,
		BadLines:   report.BadLines,
		Duplicates: report.Duplicates,
	}
	for _, e := range report.Errors {
		res.Errors = append(res.Errors, &retrieverv1.LineError{File: e.File, Line: e.Line, Byte: e.Byte, Message: e.Err.Error()})
	}
	return res
}

func outOfOrder(what string) error {
	return status.Errorf(codes.InvalidArgument, "load: %s; send a header, then for each file its header and its chunks", what)
}

// fileReader reads the files of a stream, each to its end.
type fileReader struct {
	receive receive
	// within says that a file was opened.
	within bool
	chunk  []byte
	// following is the header that ended the file before, err the end of the
	// stream.
	following *retrieverv1.FileHeader
	err       error
}

// next goes to the next file; io.EOF says that there is none.
func (r *fileReader) next() (*retrieverv1.FileHeader, error) {
	// A reader may stop before its file does, as gzip's does before padding.
	if _, err := io.Copy(io.Discard, r); err != nil {
		return nil, err
	}
	if r.following == nil {
		return nil, io.EOF
	}
	file := r.following
	r.following, r.within = nil, true
	return file, nil
}

// Read implements io.Reader for the file that next returned.
func (r *fileReader) Read(p []byte) (int, error) {
	for len(r.chunk) == 0 {
		if r.err != nil {
			return 0, r.err
		}
		if r.following != nil {
			return 0, io.EOF
		}
		r.fill()
	}
	n := copy(p, r.chunk)
	r.chunk = r.chunk[n:]
	return n, nil
}

func (r *fileReader) fill() {
	message, err := r.receive()
	switch {
	case err != nil:
		r.err = err
	case message.GetHeader() != nil:
		r.err = outOfOrder("a second header")
	case message.GetFile() != nil:
		r.following = message.GetFile()
	case !r.within:
		r.err = outOfOrder("bytes before any file")
	default:
		r.chunk = message.GetChunk()
	}
}
