package retriever

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/triplemesh/triplemesh/internal/paging"
	"github.com/triplemesh/triplemesh/internal/server"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/retriever/encoder"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// KnowledgeGraphs implements KnowledgeGraphService.
type KnowledgeGraphs struct {
	retrieverv1.UnimplementedKnowledgeGraphServiceServer

	tenants store.Tenants
	encoder encoder.Encoder
	// scratch is the directory for temporary files of loads.
	scratch string
	queue   *buildQueue
	// proposing has room for one proposal of columns.
	proposing chan struct{}
	// rankers are those of the service that ranks; nil if none can be stored.
	rankers *rankers
}

// NewKnowledgeGraphs returns a service that keeps each tenant's graphs in a store and encodes what
// it loads with enc. Loads keep temporary files in a directory below scratch; without one they
// cannot be resumed.
func NewKnowledgeGraphs(tenants store.Tenants, enc encoder.Encoder, scratch string) *KnowledgeGraphs {
	return &KnowledgeGraphs{tenants: tenants, encoder: enc, scratch: scratch, queue: newBuildQueue(),
		proposing: make(chan struct{}, 1)}
}

// Register adds the service to a server.
func (s *KnowledgeGraphs) Register(r grpc.ServiceRegistrar) {
	retrieverv1.RegisterKnowledgeGraphServiceServer(r, s)
}

// ListKnowledgeGraphs implements KnowledgeGraphService.
func (s *KnowledgeGraphs) ListKnowledgeGraphs(ctx context.Context,
	req *retrieverv1.ListKnowledgeGraphsRequest) (*retrieverv1.ListKnowledgeGraphsResponse, error) {
	graphs, err := store.ForRequest(ctx, s.tenants)
	if err != nil {
		return nil, err
	}
	listed, err := graphs.List(ctx, req.GetKgName())
	if err != nil {
		return nil, err
	}
	res := &retrieverv1.ListKnowledgeGraphsResponse{}
	for _, l := range listed {
		snapshot := snapshotInfo(l.Info, l.Active)
		snapshot.Shared = l.Shared
		res.Snapshots = append(res.Snapshots, snapshot)
	}
	slices.SortFunc(res.Snapshots, func(a, b *retrieverv1.SnapshotInfo) int {
		return strings.Compare(snapshotKey(a), snapshotKey(b))
	})
	res.Snapshots, res.NextPageToken, err = paging.Cut(res.Snapshots, snapshotKey, req.GetPageSize(), 1000,
		req.GetPageToken())
	return res, err
}

// snapshotKey orders snapshots by name, the newest first.
func snapshotKey(s *retrieverv1.SnapshotInfo) string {
	return fmt.Sprintf("%s@%020d", s.GetKg().GetName(), math.MaxUint64-s.GetKg().GetSnapshot())
}

// ActivateSnapshot implements KnowledgeGraphService.
func (s *KnowledgeGraphs) ActivateSnapshot(ctx context.Context,
	req *retrieverv1.ActivateSnapshotRequest) (*retrieverv1.ActivateSnapshotResponse, error) {
	graphs, err := store.ForRequest(ctx, s.tenants)
	if err != nil {
		return nil, err
	}
	kg, number := req.GetKg().GetName(), req.GetKg().GetSnapshot()
	// Activation by hand can wait for a full read: a damaged snapshot must not replace a sound one.
	// Rollback does not wait.
	if number != 0 {
		if _, _, err := graphs.Verify(ctx, kg, number); err != nil {
			return nil, err
		}
	}
	info, err := graphs.Activate(ctx, kg, number)
	if err != nil {
		return nil, err
	}
	return &retrieverv1.ActivateSnapshotResponse{Snapshot: snapshotInfo(info, true)}, nil
}

// RollbackKnowledgeGraph implements KnowledgeGraphService.
func (s *KnowledgeGraphs) RollbackKnowledgeGraph(ctx context.Context,
	req *retrieverv1.RollbackKnowledgeGraphRequest) (*retrieverv1.RollbackKnowledgeGraphResponse, error) {
	graphs, err := store.ForRequest(ctx, s.tenants)
	if err != nil {
		return nil, err
	}
	info, err := graphs.Rollback(ctx, req.GetKg().GetName())
	if err != nil {
		return nil, err
	}
	return &retrieverv1.RollbackKnowledgeGraphResponse{Snapshot: snapshotInfo(info, true)}, nil
}

// DropKnowledgeGraph implements KnowledgeGraphService.
func (s *KnowledgeGraphs) DropKnowledgeGraph(ctx context.Context,
	req *retrieverv1.DropKnowledgeGraphRequest) (*retrieverv1.DropKnowledgeGraphResponse, error) {
	graphs, err := store.ForRequest(ctx, s.tenants)
	if err != nil {
		return nil, err
	}
	name := req.GetKg().GetName()
	numbers, err := graphs.Drop(ctx, name, req.GetKg().GetSnapshot())
	if err != nil {
		return nil, err
	}
	if req.GetKg().GetSnapshot() == 0 {
		if err := s.dropRankers(ctx, name); err != nil {
			return nil, err
		}
	}
	res := &retrieverv1.DropKnowledgeGraphResponse{}
	for _, n := range numbers {
		res.Dropped = append(res.Dropped, &graphv1.KnowledgeGraphRef{Name: name, Snapshot: n})
	}
	return res, nil
}

// VerifySnapshot implements KnowledgeGraphService.
func (s *KnowledgeGraphs) VerifySnapshot(ctx context.Context,
	req *retrieverv1.VerifySnapshotRequest) (*retrieverv1.VerifySnapshotResponse, error) {
	graphs, err := store.ForRequest(ctx, s.tenants)
	if err != nil {
		return nil, err
	}
	server.AnnounceWork(ctx) // reading a whole snapshot may take minutes
	info, bytes, err := graphs.Verify(ctx, req.GetKg().GetName(), req.GetKg().GetSnapshot())
	if err != nil {
		return nil, err
	}
	return &retrieverv1.VerifySnapshotResponse{Snapshot: snapshotInfo(info, isActive(ctx, graphs, info)),
		Bytes: uint64(bytes)}, nil
}

// isActive reports whether a snapshot is the active one.
func isActive(ctx context.Context, graphs store.Catalogue, info store.Info) bool {
	listed, err := graphs.List(ctx, info.KG)
	return err == nil && slices.ContainsFunc(listed, func(l store.ListedSnapshot) bool {
		return l.Number == info.Number && l.Active
	})
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
		s.CreateTime = timestamppb.New(info.Created)
	}
	return s
}
