package retriever

import (
	"bufio"
	"context"
	"errors"
	"io"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/internal/server"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// exportChunk is the number of bytes per message.
const exportChunk = 256 << 10

// ExportSnapshot implements KnowledgeGraphService.
func (s *KnowledgeGraphs) ExportSnapshot(req *retrieverv1.ExportSnapshotRequest,
	stream grpc.ServerStreamingServer[retrieverv1.ExportSnapshotResponse]) error {
	graphs, err := store.ForRequest(stream.Context(), s.tenants)
	if err != nil {
		return err
	}
	server.AnnounceWork(stream.Context())
	out := bufio.NewWriterSize(chunks{stream}, exportChunk)
	if err := graphs.Export(stream.Context(), req.GetKg().GetName(), req.GetKg().GetSnapshot(), out); err != nil {
		return err
	}
	return out.Flush()
}

// chunks sends what is written to it.
type chunks struct {
	stream grpc.ServerStreamingServer[retrieverv1.ExportSnapshotResponse]
}

func (c chunks) Write(p []byte) (int, error) {
	// The buffer is reused while the message may still wait to be sent.
	if err := c.stream.Send(&retrieverv1.ExportSnapshotResponse{Chunk: append([]byte(nil), p...)}); err != nil {
		return 0, err
	}
	return len(p), nil
}

// ImportSnapshot implements KnowledgeGraphService.
func (s *KnowledgeGraphs) ImportSnapshot(stream grpc.ClientStreamingServer[retrieverv1.ImportSnapshotRequest,
	retrieverv1.ImportSnapshotResponse]) error {
	ctx := stream.Context()
	first, err := stream.Recv()
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	header := first.GetHeader()
	if header == nil {
		return errImportOutOfOrder("the first message is no header")
	}
	graphs, err := store.ForRequest(ctx, s.tenants)
	if err != nil {
		return err
	}
	release, err := s.queue.acquire(ctx)
	if err != nil {
		return err
	}
	defer release()
	info, err := graphs.Import(ctx, header.GetKg().GetName(),
		&importReader{receive: receiveUnlessIdle(ctx, s.queue, stream.Recv)})
	if err != nil {
		return err
	}
	if !header.GetNoActivate() {
		if info, err = graphs.Activate(ctx, info.KG, info.Number); err != nil {
			return err
		}
	}
	return stream.SendAndClose(&retrieverv1.ImportSnapshotResponse{Snapshot: snapshotInfo(info,
		!header.GetNoActivate())})
}

func errImportOutOfOrder(what string) error {
	return status.Errorf(codes.InvalidArgument, "import: %s; send a header, then the bytes of the file", what)
}

// importReader reads the file of an import as it arrives.
type importReader struct {
	receive func() (*retrieverv1.ImportSnapshotRequest, error)
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
			return 0, errImportOutOfOrder("a second header")
		}
		r.chunk = message.GetChunk()
	}
	n := copy(p, r.chunk)
	r.chunk = r.chunk[n:]
	return n, nil
}

// CompactSnapshot implements KnowledgeGraphService.
func (s *KnowledgeGraphs) CompactSnapshot(ctx context.Context,
	req *retrieverv1.CompactSnapshotRequest) (*retrieverv1.CompactSnapshotResponse, error) {
	graphs, err := store.ForRequest(ctx, s.tenants)
	if err != nil {
		return nil, err
	}
	release, err := s.queue.acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	kg := req.GetKg().GetName()
	info, err := graphs.Compact(ctx, kg, req.GetKg().GetSnapshot())
	if err != nil {
		return nil, err
	}
	active := isActive(ctx, graphs, info)
	if !active && !req.GetNoActivate() {
		if info, err = graphs.Activate(ctx, kg, info.Number); err != nil {
			return nil, err
		}
		active = true
	}
	return &retrieverv1.CompactSnapshotResponse{Snapshot: snapshotInfo(info, active)}, nil
}

// differencesPerMessage is the batch size of the stream.
const differencesPerMessage = 256

// DiffSnapshots implements KnowledgeGraphService.
func (s *KnowledgeGraphs) DiffSnapshots(req *retrieverv1.DiffSnapshotsRequest,
	stream grpc.ServerStreamingServer[retrieverv1.DiffSnapshotsResponse]) error {
	ctx, kg := stream.Context(), req.GetKg().GetName()
	graphs, err := store.ForRequest(ctx, s.tenants)
	if err != nil {
		return err
	}
	to, err := graphs.Open(ctx, kg, req.GetKg().GetSnapshot())
	if err != nil {
		return err
	}
	defer to.Release()
	from, err := graphs.Open(ctx, kg, req.GetFrom())
	if err != nil {
		return err
	}
	defer from.Release()
	message := &retrieverv1.DiffSnapshotsResponse{}
	send := func() error {
		full := message
		message = &retrieverv1.DiffSnapshotsResponse{}
		return stream.Send(full)
	}
	server.AnnounceWork(ctx)
	err = store.Diff(ctx, from, to, func(d store.Difference) error {
		message.Differences = append(message.Differences, &retrieverv1.Difference{Triple: factTriple(d.Fact),
			Added: d.Added})
		if len(message.GetDifferences()) < differencesPerMessage {
			return nil
		}
		return send()
	})
	if err != nil || len(message.GetDifferences()) == 0 {
		return err
	}
	return send()
}

func factTriple(f store.Fact) *graphv1.Triple {
	return &graphv1.Triple{
		Subject: f.Subject.Name, Relation: f.Relation, Object: f.Object.Name,
		Validity: validity(f.Validity), ObjectKind: termKind(f.Object.Kind),
		SubjectId: f.Subject.Key, ObjectId: f.Object.Key, Provenance: f.Provenance,
	}
}
