package retriever

import (
	"errors"
	"io"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/retriever/load"
)

type loadStream = grpc.ClientStreamingServer[retrieverv1.LoadRequest, retrieverv1.LoadResponse]

// Load implements KnowledgeGraphService. Files are read as they arrive; none
// is kept whole.
func (s *KnowledgeGraphs) Load(stream loadStream) error {
	ctx := stream.Context()
	first, err := stream.Recv()
	if errors.Is(err, io.EOF) {
		return outOfOrder("the stream is empty, want a header")
	}
	if err != nil {
		return err
	}
	header := first.GetHeader()
	if header == nil {
		return outOfOrder("the first message is no header")
	}
	select {
	case s.loading <- struct{}{}:
		defer func() { <-s.loading }()
	case <-ctx.Done():
		return status.FromContextError(ctx.Err()).Err()
	}
	loader := load.New(load.Options{KG: header.GetKg(), Strict: header.GetStrict(), NoActivate: header.GetNoActivate()})
	files := &fileReader{stream: stream}
	for {
		file, err := files.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if err := loader.Read(ctx, file.GetName(), formats[file.GetFormat()], files); err != nil {
			return err
		}
	}
	report, err := loader.Finish(ctx, s.graphs, s.encoder)
	if err != nil {
		return err
	}
	return stream.SendAndClose(loadResponse(report))
}

var formats = map[retrieverv1.Format]load.Format{
	retrieverv1.Format_FORMAT_UNSPECIFIED: load.ByName,
	retrieverv1.Format_FORMAT_TSV:         load.TSV,
	retrieverv1.Format_FORMAT_N_TRIPLES:   load.NTriples,
}

func loadResponse(report load.Report) *retrieverv1.LoadResponse {
	res := &retrieverv1.LoadResponse{
		Snapshot:   snapshotInfo(report.Snapshot, report.Active),
		Lines:      report.Lines,
		BadLines:   report.BadLines,
		Duplicates: report.Duplicates,
	}
	for _, e := range report.Errors {
		res.Errors = append(res.Errors, &retrieverv1.LineError{File: e.File, Line: e.Line, Message: e.Err.Error()})
	}
	return res
}

func outOfOrder(what string) error {
	return status.Errorf(codes.InvalidArgument, "load: %s; send a header, then for each file its header and its chunks", what)
}

// fileReader reads the files of a stream, each to its end.
type fileReader struct {
	stream loadStream
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
		r.receive()
	}
	n := copy(p, r.chunk)
	r.chunk = r.chunk[n:]
	return n, nil
}

func (r *fileReader) receive() {
	message, err := r.stream.Recv()
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
