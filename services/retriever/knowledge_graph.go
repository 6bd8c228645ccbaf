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

	tenants store.Tenants
	encoder encoder.Encoder
	// scratch is where loads put what does not fit in memory.
	scratch string
	turns   *turns
}

// NewKnowledgeGraphs returns a service that keeps each tenant's graphs in a
// store and encodes what it loads with enc. Loads put scratch files into a
// directory below scratch; without one they cannot be resumed.
func NewKnowledgeGraphs(tenants store.Tenants, enc encoder.Encoder, scratch string) *KnowledgeGraphs {
	return &KnowledgeGraphs{tenants: tenants, encoder: enc, scratch: scratch, turns: newTurns()}
}

// Register adds the service to a server.
func (s *KnowledgeGraphs) Register(r grpc.ServiceRegistrar) {
	retrieverv1.RegisterKnowledgeGraphServiceServer(r, s)
}

// List implements KnowledgeGraphService.
func (s *KnowledgeGraphs) List(ctx context.Context, req *retrieverv1.ListRequest) (*retrieverv1.ListResponse, error) {
	graphs, err := store.Of(ctx, s.tenants)
	if err != nil {
		return nil, err
	}
	listed, err := graphs.List(ctx, req.GetKg())
	if err != nil {
		return nil, err
	}
	res := &retrieverv1.ListResponse{}
	for _, l := range listed {
		snapshot := snapshotInfo(l.Info, l.Active)
		snapshot.Shared = l.Shared
		res.Snapshots = append(res.Snapshots, snapshot)
	}
	return res, nil
}

// Activate implements KnowledgeGraphService.
func (s *KnowledgeGraphs) Activate(ctx context.Context, req *retrieverv1.ActivateRequest) (*retrieverv1.ActivateResponse, error) {
	graphs, err := store.Of(ctx, s.tenants)
	if err != nil {
		return nil, err
	}
	kg, number := req.GetKg().GetName(), req.GetKg().GetSnapshot()
	// Whoever switches by hand can wait for all of it to be read: a damaged
	// snapshot never replaces one that is whole. Rollback does not wait.
	if number != 0 {
		if _, _, err := graphs.Verify(ctx, kg, number); err != nil {
			return nil, err
		}
	}
	info, err := graphs.Activate(ctx, kg, number)
	if err != nil {
		return nil, err
	}
	return &retrieverv1.ActivateResponse{Snapshot: snapshotInfo(info, true)}, nil
}

// Rollback implements KnowledgeGraphService.
func (s *KnowledgeGraphs) Rollback(ctx context.Context, req *retrieverv1.RollbackRequest) (*retrieverv1.RollbackResponse, error) {
	graphs, err := store.Of(ctx, s.tenants)
	if err != nil {
		return nil, err
	}
	info, err := graphs.Rollback(ctx, req.GetKg())
	if err != nil {
		return nil, err
	}
	return &retrieverv1.RollbackResponse{Snapshot: snapshotInfo(info, true)}, nil
}

// Drop implements KnowledgeGraphService.
func (s *KnowledgeGraphs) Drop(ctx context.Context, req *retrieverv1.DropRequest) (*retrieverv1.DropResponse, error) {
	graphs, err := store.Of(ctx, s.tenants)
	if err != nil {
		return nil, err
	}
	name := req.GetKg().GetName()
	numbers, err := graphs.Drop(ctx, name, req.GetKg().GetSnapshot())
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
	graphs, err := store.Of(ctx, s.tenants)
	if err != nil {
		return nil, err
	}
	info, bytes, err := graphs.Verify(ctx, req.GetKg().GetName(), req.GetKg().GetSnapshot())
	if err != nil {
		return nil, err
	}
	return &retrieverv1.VerifyResponse{Snapshot: snapshotInfo(info, active(ctx, graphs, info)), Bytes: uint64(bytes)}, nil
}

// active says whether questions read a snapshot.
func active(ctx context.Context, graphs store.Catalogue, info store.Info) bool {
	listed, err := graphs.List(ctx, info.KG)
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
