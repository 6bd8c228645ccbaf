package retriever

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/triplemesh/triplemesh/internal/auth"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/retriever/encoder"
	"github.com/triplemesh/triplemesh/services/retriever/load"
	"github.com/triplemesh/triplemesh/services/retriever/source"
	"github.com/triplemesh/triplemesh/services/retriever/source/table"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// receive returns the next message of a load, io.EOF after the last.
type receive func() (*retrieverv1.LoadKnowledgeGraphRequest, error)

// LoadKnowledgeGraph implements KnowledgeGraphService. Files are read as they arrive; none
// is kept whole.
func (s *KnowledgeGraphs) LoadKnowledgeGraph(stream grpc.ClientStreamingServer[retrieverv1.LoadKnowledgeGraphRequest,
	retrieverv1.LoadKnowledgeGraphResponse]) error {
	resp, err := s.load(stream.Context(), stream.Recv, nil)
	if err != nil {
		return err
	}
	return stream.SendAndClose(resp)
}

// LoadKnowledgeGraphStream implements KnowledgeGraphService.
func (s *KnowledgeGraphs) LoadKnowledgeGraphStream(
	stream grpc.BidiStreamingServer[retrieverv1.LoadKnowledgeGraphStreamRequest,
		retrieverv1.LoadKnowledgeGraphStreamResponse]) error {
	recv := func() (*retrieverv1.LoadKnowledgeGraphRequest, error) {
		message, err := stream.Recv()
		return message.GetRequest(), err
	}
	var last time.Time
	var phase load.Phase
	progress := func(p load.Progress) {
		if now := time.Now(); p.Phase != phase || now.Sub(last) >= progressEvery {
			last, phase = now, p.Phase
			// If the caller is gone, the context ends the load.
			_ = stream.Send(&retrieverv1.LoadKnowledgeGraphStreamResponse{
				Event: &retrieverv1.LoadKnowledgeGraphStreamResponse_Progress{
					Progress: &retrieverv1.LoadProgress{
						Phase: loadPhases[p.Phase], Done: p.Done, Total: proto.Uint64(p.Total),
					}}})
		}
	}
	resp, err := s.load(stream.Context(), recv, progress)
	if err != nil {
		return err
	}
	return stream.Send(&retrieverv1.LoadKnowledgeGraphStreamResponse{
		Event: &retrieverv1.LoadKnowledgeGraphStreamResponse_Result{Result: resp}})
}

// progressEvery is the minimum time between two events of one phase.
const progressEvery = 200 * time.Millisecond

func (s *KnowledgeGraphs) load(ctx context.Context, recv receive,
	progress func(load.Progress)) (*retrieverv1.LoadKnowledgeGraphResponse, error) {
	first, err := recv()
	if errors.Is(err, io.EOF) {
		return nil, errLoadOutOfOrder("the stream is empty, want a header")
	}
	if err != nil {
		return nil, err
	}
	header := first.GetHeader()
	if header == nil {
		return nil, errLoadOutOfOrder("the first message is no header")
	}
	id, err := auth.TenantFrom(ctx)
	if err != nil {
		return nil, err
	}
	graphs, err := s.tenants.ForTenant(id)
	if err != nil {
		return nil, err
	}
	if err := store.CheckName(header.GetKg().GetName()); err != nil {
		return nil, &store.Error{Op: "load", KG: header.GetKg().GetName(), Err: err}
	}
	release, err := s.queue.acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	options := loadOptions(header)
	scratch := s.scratchDir(id)
	if scratch != "" {
		options.Scratch = filepath.Join(scratch, header.GetKg().GetName())
	}
	options.Progress = progress
	loader := load.New(options)
	defer func() {
		_ = loader.Close()
		// Removes only empty directories, because an interrupted load may be resumed.
		for _, dir := range []string{options.Scratch, scratch, s.scratch} {
			_ = os.Remove(dir)
		}
	}()
	origin, hasOrigin := findOrigin(graphs, header.GetKg().GetName())
	files := &fileReader{receive: receiveUnlessIdle(ctx, s.queue, recv)}
	for {
		file, err := files.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if hasOrigin {
			return nil, errFilesOfOrigin(header.GetKg().GetName())
		}
		if err := readFile(ctx, loader, file, files); err != nil {
			return nil, err
		}
	}
	if hasOrigin {
		if err := loader.ReadFrom(ctx, header.GetKg().GetName(), origin); err != nil {
			return nil, err
		}
	}
	report, err := loader.Finish(ctx, graphs, s.encoderToLoad(ctx, graphs, options))
	if err != nil {
		return nil, err
	}
	return loadResponse(report), nil
}

// encoderToLoad returns the encoder of a load: of a delta that of the snapshot that it changes. Where
// that cannot be opened, the store refuses the delta.
func (s *KnowledgeGraphs) encoderToLoad(ctx context.Context, graphs store.Store, options load.Options) encoder.Encoder {
	if options.Mode == load.Replace {
		return s.encoder
	}
	snap, err := graphs.Open(ctx, options.KG, 0)
	if err != nil {
		return s.encoder
	}
	defer snap.Release()
	if enc, err := encoder.ForName(ctx, s.encoder, snap.Info().Encoder); err == nil {
		return enc
	}
	return s.encoder
}

// readFile reads one file; a file with named columns is a table.
func readFile(ctx context.Context, loader *load.Loader, file *retrieverv1.FileHeader, r io.Reader) error {
	if c := file.GetColumns(); c != nil {
		isEmpty := func(name string) bool { return name == "" }
		names := slices.DeleteFunc(append([]string{c.GetName()}, c.GetFurtherNames()...), isEmpty)
		return loader.ReadTable(ctx, file.GetName(), table.Columns{
			Subject: c.GetSubject(), Relation: c.GetRelation(), Object: c.GetObject(),
			Start: c.GetStart(), End: c.GetEnd(), Separator: separatorRune(c.GetSeparator()), Rows: c.GetRows(),
			Names: names, Types: columnTypes(c.GetTypes()), References: references(c.GetTypes()),
		}, r)
	}
	return loader.Read(ctx, file.GetName(), formats[file.GetFormat()], r)
}

var formats = map[retrieverv1.Format]load.Format{
	retrieverv1.Format_FORMAT_UNSPECIFIED:   load.DetectFormat,
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

// scratchDir returns the directory for temporary files of a tenant's loads.
func (s *KnowledgeGraphs) scratchDir(id auth.Tenant) string {
	if s.scratch == "" || id.IsDefault() {
		return s.scratch
	}
	return filepath.Join(s.scratch, "@"+id.String())
}

func loadOptions(header *retrieverv1.LoadHeader) load.Options {
	options := load.Options{
		KG: header.GetKg().GetName(), Strict: header.GetStrict(), NoActivate: header.GetNoActivate(),
		Language: header.GetLanguage(), Mode: loadModes[header.GetMode()], Provenance: header.GetProvenance(),
		Resume: header.GetResume(),
	}
	if header.GetVectors() == retrieverv1.Vectors_VECTORS_NONE {
		options.Vectors = load.RelationVectors
	}
	return options
}

func loadResponse(report load.Report) *retrieverv1.LoadKnowledgeGraphResponse {
	res := &retrieverv1.LoadKnowledgeGraphResponse{
		Snapshot:   snapshotInfo(report.Snapshot, report.Active),
		Lines:      report.Lines,
		BadLines:   report.BadLines,
		Duplicates: report.Duplicates,
	}
	for _, e := range report.Errors {
		res.Errors = append(res.Errors, &retrieverv1.LineError{File: e.File, Line: e.Line, Byte: e.Byte,
			Message: e.Err.Error()})
	}
	return res
}

func errLoadOutOfOrder(what string) error {
	return status.Errorf(codes.InvalidArgument, "load: %s; send a header, then for each file its header and its chunks",
		what)
}

// fileReader reads the files of a stream one after another.
type fileReader struct {
	receive receive
	// inFile reports whether a file was opened.
	inFile bool
	chunk  []byte
	// nextFile is the header that ended the previous file, err the end of the stream.
	nextFile *retrieverv1.FileHeader
	err      error
}

// next advances to the next file; io.EOF means that there is none.
func (r *fileReader) next() (*retrieverv1.FileHeader, error) {
	// A reader may stop before the end of its file, as gzip does before padding.
	if _, err := io.Copy(io.Discard, r); err != nil {
		return nil, err
	}
	if r.nextFile == nil {
		return nil, io.EOF
	}
	file := r.nextFile
	r.nextFile, r.inFile = nil, true
	return file, nil
}

// Read implements io.Reader for the file that next returned.
func (r *fileReader) Read(p []byte) (int, error) {
	for len(r.chunk) == 0 {
		if r.err != nil {
			return 0, r.err
		}
		if r.nextFile != nil {
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
		r.err = errLoadOutOfOrder("a second header")
	case message.GetFile() != nil:
		r.nextFile = message.GetFile()
	case !r.inFile:
		r.err = errLoadOutOfOrder("bytes before any file")
	default:
		r.chunk = message.GetChunk()
	}
}

const (
	// maxIdle is how long a build may wait for its input before other waiting builds count.
	maxIdle = time.Minute
	// minRate is the minimum number of bytes per second of waiting from then on.
	minRate = 64 << 10
)

// receiveUnlessIdle returns a receive function that fails when nothing or next to nothing arrives
// while other builds wait: an idle sender must not block all other loads. It receives until ctx is
// done.
func receiveUnlessIdle[M proto.Message](ctx context.Context, queue *buildQueue,
	receive func() (M, error)) func() (M, error) {
	type received struct {
		message M
		err     error
	}
	// A stream's Recv only returns when the stream ends, so it runs in a goroutine of its own.
	arrived := make(chan received)
	go func() {
		for {
			m, err := receive()
			select {
			case arrived <- received{m, err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	left := maxIdle
	var ended error
	return func() (none M, _ error) {
		if ended != nil {
			return none, ended
		}
		began := time.Now()
		for {
			late := time.NewTimer(max(left-time.Since(began), time.Second))
			select {
			case r := <-arrived:
				late.Stop()
				earned := time.Duration(proto.Size(r.message)) * time.Second / minRate
				left = min(left-time.Since(began)+earned, maxIdle)
				ended = r.err
				return r.message, r.err
			case <-ctx.Done():
				late.Stop()
				return none, ctx.Err()
			case <-late.C:
				if queue.waiting.Load() > 0 {
					return none, status.Errorf(codes.Aborted,
						"receive knowledge graph: less than %d KiB/s arrived for %s while other loads wait; "+
							"send it again over a faster connection", minRate>>10, maxIdle)
				}
			}
		}
	}
}
