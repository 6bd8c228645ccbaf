package retriever

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/timestamppb"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/retriever/encoder"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// KnowledgeGraphs answers KnowledgeGraphService calls.
type KnowledgeGraphs struct {
	retrieverv1.UnimplementedKnowledgeGraphServiceServer

	graphs  store.Store
	encoder encoder.Encoder
	// scratch is where loads put what does not fit in memory.
	scratch string
	// loading has room for one: a load takes all the memory and cores it may.
	loading chan struct{}
}

// NewKnowledgeGraphs returns a service that keeps graphs in a store and encodes
// what it loads with enc. Loads put scratch files into a directory below
// scratch; without one they cannot be resumed.
func NewKnowledgeGraphs(graphs store.Store, enc encoder.Encoder, scratch string) *KnowledgeGraphs {
	return &KnowledgeGraphs{graphs: graphs, encoder: enc, scratch: scratch, loading: make(chan struct{}, 1)}
}

// Register adds the service to a server.
func (s *KnowledgeGraphs) Register(r grpc.ServiceRegistrar) {
	retrieverv1.RegisterKnowledgeGraphServiceServer(r, s)
}

// List implements KnowledgeGraphService.
func (s *KnowledgeGraphs) List(ctx context.Context, req *retrieverv1.ListRequest) (*retrieverv1.ListResponse, error) {
	listed, err := s.graphs.List(ctx, req.GetKg())
	if err != nil {
		return nil, err
	}
	res := &retrieverv1.ListResponse{}
	for _, l := range listed {
		res.Snapshots = append(res.Snapshots, snapshotInfo(l.Info, l.Active))
	}
	return res, nil
}

// Activate implements KnowledgeGraphService.
func (s *KnowledgeGraphs) Activate(ctx context.Context, req *retrieverv1.ActivateRequest) (*retrieverv1.ActivateResponse, error) {
	kg, number := req.GetKg().GetName(), req.GetKg().GetSnapshot()
	// Whoever switches by hand can wait for all of it to be read: a damaged
	// snapshot never replaces one that is whole. Rollback does not wait.
	if number != 0 {
		if _, _, err := s.graphs.Verify(ctx, kg, number); err != nil {
			return nil, err
		}
	}
	info, err := s.graphs.Activate(ctx, kg, number)
	if err != nil {
		return nil, err
	}
	return &retrieverv1.ActivateResponse{Snapshot: snapshotInfo(info, true)}, nil
}

// Rollback implements KnowledgeGraphService.
func (s *KnowledgeGraphs) Rollback(ctx context.Context, req *retrieverv1.RollbackRequest) (*retrieverv1.RollbackResponse, error) {
	info, err := s.graphs.Rollback(ctx, req.GetKg())
	if err != nil {
		return nil, err
	}
	return &retrieverv1.RollbackResponse{Snapshot: snapshotInfo(info, true)}, nil
}

// Drop implements KnowledgeGraphService.
func (s *KnowledgeGraphs) Drop(ctx context.Context, req *retrieverv1.DropRequest) (*retrieverv1.DropResponse, error) {
	name := req.GetKg().GetName()
	numbers, err := s.graphs.Drop(ctx, name, req.GetKg().GetSnapshot())
	if err != nil {
		return nil, err
	}
	res := &retrieverv1.DropResponse{}
	for _, n := range numbers {
		res.Dropped = append(res.Dropped, &graphv1.KnowledgeGraphRef{Name: name, Snapshot: n})
	}
	return res, nil
}

// Verify implements KnowledgeGraphService.
func (s *KnowledgeGraphs) Verify(ctx context.Context, req *retrieverv1.VerifyRequest) (*retrieverv1.VerifyResponse, error) {
	info, bytes, err := s.graphs.Verify(ctx, req.GetKg().GetName(), req.GetKg().GetSnapshot())
	if err != nil {
		return nil, err
	}
	return &retrieverv1.VerifyResponse{Snapshot: snapshotInfo(info, s.active(ctx, info)), Bytes: uint64(bytes)}, nil
}

// active says whether questions read a snapshot.
func (s *KnowledgeGraphs) active(ctx context.Context, info store.Info) bool {
	listed, err := s.graphs.List(ctx, info.KG)
	if err != nil {
		return false
	}
	for _, l := range listed {
		if l.Number == info.Number {
			return l.Active
		}
	}
	return false
}

func snapshotInfo(info store.Info, active bool) *retrieverv1.SnapshotInfo {
	s := &retrieverv1.SnapshotInfo{
		Kg:        &graphv1.KnowledgeGraphRef{Name: info.KG, Snapshot: info.Number},
		Triples:   uint64(info.Triples),
		Entities:  uint64(info.Entities),
		Relations: uint64(info.Relations),
		Bytes:     uint64(info.Bytes),
		Encoder:   info.Encoder,
		Active:    active,
		Base:      info.Base,
	}
	if info.TripleVectors {
		s.Dims = uint32(info.Dims)
	}
	if !info.Created.IsZero() {
		s.Created = timestamppb.New(info.Created)
	}
	return s
}
