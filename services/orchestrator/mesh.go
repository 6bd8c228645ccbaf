package orchestrator

import (
	"context"
	"fmt"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// healthPatience is how long a stage may take to say how it is.
const healthPatience = 2 * time.Second

// Mesh is what the orchestrator knows of the mesh that it is the front door of.
type Mesh struct {
	// Stages are those that it calls.
	Stages []Peer
	// Version is the orchestrator's own.
	Version string
	// TraceURL is where a trace can be looked at, with "{trace_id}" in the place
	// of its id; empty where there is no such place.
	TraceURL string
}

// Peer is a stage and the connection to it.
type Peer struct {
	Name string
	Conn grpc.ClientConnInterface
}

// Knows has GetMesh tell of a mesh. Call it before the service is registered.
func (s *Service) Knows(mesh Mesh) { s.mesh = mesh }

// GetMesh implements orchestratorv1.OrchestratorServiceServer. All stages are
// asked at once.
func (s *Service) GetMesh(ctx context.Context, _ *orchestratorv1.GetMeshRequest) (*orchestratorv1.GetMeshResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, healthPatience)
	defer cancel()
	stages := make([]*orchestratorv1.StageHealth, 1+len(s.mesh.Stages))
	stages[0] = &orchestratorv1.StageHealth{Stage: "orchestrator", Serving: true, Latency: &durationpb.Duration{}}
	var group sync.WaitGroup
	for i, peer := range s.mesh.Stages {
		group.Go(func() { stages[1+i] = peer.health(ctx) })
	}
	group.Wait()
	return &orchestratorv1.GetMeshResponse{Stages: stages, Version: s.mesh.Version, TraceUrl: s.mesh.TraceURL}, nil
}

// health is how a stage is. It tells nothing of where the stage is: whoever may
// ask questions may ask for it.
func (p Peer) health(ctx context.Context) *orchestratorv1.StageHealth {
	start := time.Now()
	resp, err := healthpb.NewHealthClient(p.Conn).Check(ctx, &healthpb.HealthCheckRequest{})
	health := &orchestratorv1.StageHealth{Stage: p.Name, Latency: durationpb.New(time.Since(start))}
	switch code := status.Code(err); {
	case code == codes.DeadlineExceeded:
		health.Error = fmt.Sprintf("it did not answer within %s", healthPatience)
	case code == codes.Unavailable:
		health.Error = "it cannot be reached, or says that it cannot serve"
	case err != nil:
		health.Error = fmt.Sprintf("asked how it is, it answered %s", code)
	case resp.GetStatus() != healthpb.HealthCheckResponse_SERVING:
		health.Error = "it says " + resp.GetStatus().String()
	default:
		health.Serving = true
	}
	return health
}
