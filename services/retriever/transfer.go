package retriever

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"slices"

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
	out := bufio.NewWriterSize(chunkWriter(func(chunk []byte) error {
		return stream.Send(&retrieverv1.ExportSnapshotResponse{Chunk: chunk})
	}), exportChunk)
	if err := graphs.Export(stream.Context(), req.GetKg().GetName(), req.GetKg().GetSnapshot(), out); err != nil {
		return err
	}
	return out.Flush()
}

// chunkWriter sends what is written to it.
type chunkWriter func(chunk []byte) error

// Write implements io.Writer.
func (send chunkWriter) Write(p []byte) (int, error) {
	for part := range slices.Chunk(p, exportChunk) {
		// The buffer is reused while the message may still wait to be sent.
		if err := send(bytes.Clone(part)); err != nil {
			return 0, err
		}
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
		return errOutOfOrder("import", "the first message is no header")
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
		readChunks("import", receiveUnlessIdle(ctx, s.queue, stream.Recv)))
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

func errOutOfOrder(op, what string) error {
	return status.Errorf(codes.InvalidArgument, "%s: %s; send a header, then the bytes of the file", op, what)
}

// chunkReader reads a file as it arrives.
type chunkReader struct {
	receive func() ([]byte, error)
	chunk   []byte
}

// readChunks reads the messages of a stream after its header.
func readChunks[H comparable, M interface {
	GetHeader() H
	GetChunk() []byte
}](op string, receive func() (M, error)) io.Reader {
	var none H
	return &chunkReader{receive: func() ([]byte, error) {
		message, err := receive()
		if err == nil && message.GetHeader() != none {
			err = errOutOfOrder(op, "a second header")
		}
		return message.GetChunk(), err
	}}
}

// Read implements io.Reader.
func (r *chunkReader) Read(p []byte) (n int, err error) {
	for len(r.chunk) == 0 {
		if r.chunk, err = r.receive(); err != nil {
			return 0, err
		}
	}
	n = copy(p, r.chunk)
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
	var batch []*retrieverv1.Difference
	send := func() error {
		full := &retrieverv1.DiffSnapshotsResponse{Differences: batch}
		batch = nil
		return stream.Send(full)
	}
	server.AnnounceWork(ctx)
	err = store.Diff(ctx, from, to, func(d store.Difference) error {
		batch = append(batch, &retrieverv1.Difference{Triple: factTriple(d.Fact), Added: d.Added})
		if len(batch) < differencesPerMessage {
			return nil
		}
		return send()
	})
	if err != nil || len(batch) == 0 {
		return err
	}
	return send()
}

func factTriple(f store.Fact) *graphv1.Triple {
	return &graphv1.Triple{
		Subject: f.Subject.Name, Relation: f.Relation, Object: f.Object.Name,
		Validity: validity(f.Validity), ObjectKind: termKinds[f.Object.Kind],
		SubjectId: f.Subject.Key, ObjectId: f.Object.Key, Provenance: f.Provenance,
	}
}
