package retriever

import (
	"bufio"
	"errors"
	"io"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// exportChunk is how many bytes of a file one message carries.
const exportChunk = 256 << 10

// Export implements KnowledgeGraphService.
func (s *KnowledgeGraphs) Export(req *retrieverv1.ExportRequest, stream grpc.ServerStreamingServer[retrieverv1.ExportResponse]) error {
	graphs, err := store.Of(stream.Context(), s.tenants)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(chunks{stream}, exportChunk)
	if err := graphs.Export(stream.Context(), req.GetKg().GetName(), req.GetKg().GetSnapshot(), out); err != nil {
		return err
	}
	return out.Flush()
}

// chunks sends what is written to it.
type chunks struct {
	stream grpc.ServerStreamingServer[retrieverv1.ExportResponse]
}

// Write implements io.Writer.
func (c chunks) Write(p []byte) (int, error) {
	// The buffer is used again while the message may wait to be sent.
	if err := c.stream.Send(&retrieverv1.ExportResponse{Chunk: append([]byte(nil), p...)}); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Import implements KnowledgeGraphService.
func (s *KnowledgeGraphs) Import(stream grpc.ClientStreamingServer[retrieverv1.ImportRequest, retrieverv1.ImportResponse]) error {
	ctx := stream.Context()
	first, err := stream.Recv()
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	header := first.GetHeader()
	if header == nil {
		return importOutOfOrder("the first message is no header")
	}
	graphs, err := store.Of(ctx, s.tenants)
	if err != nil {
		return err
	}
	release, err := s.turns.take(ctx)
	if err != nil {
		return err
	}
	defer release()
	info, err := graphs.Import(ctx, header.GetKg(), &importReader{receive: hurried(ctx, s.turns, stream.Recv)})
	if err != nil {
		return err
	}
	if !header.GetNoActivate() {
		if info, err = graphs.Activate(ctx, info.KG, info.Number); err != nil {
			return err
		}
	}
	return stream.SendAndClose(&retrieverv1.ImportResponse{Snapshot: snapshotInfo(info, !header.GetNoActivate())})
}

func importOutOfOrder(what string) error {
	return status.Errorf(codes.InvalidArgument, "import: %s; send a header, then the bytes of the file", what)
}

// importReader reads the file of an import as it arrives.
type importReader struct {
	receive func() (*retrieverv1.ImportRequest, error)
	chunk   []byte
}

// Read implements io.Reader.
func (r *importReader) Read(p []byte) (int, error) {
	for len(r.chunk) == 0 {
		message, err := r.receive()
		if err != nil {
			return 0, err
		}
		if message.GetHeader() != nil {
			return 0, importOutOfOrder("a second header")
		}
		r.chunk = message.GetChunk()
	}
	n := copy(p, r.chunk)
	r.chunk = r.chunk[n:]
	return n, nil
}
