// Package orchestrator is the front of the mesh: it takes a question through the stages of a method
// and records the run.
package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/internal/paging"
	"github.com/triplemesh/triplemesh/internal/server"
	"github.com/triplemesh/triplemesh/internal/telemetry"
	authv1 "github.com/triplemesh/triplemesh/proto/triplemesh/auth/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/check"
	"github.com/triplemesh/triplemesh/services/orchestrator/confidence"
	"github.com/triplemesh/triplemesh/services/orchestrator/feedback"
	"github.com/triplemesh/triplemesh/services/orchestrator/method"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
	"github.com/triplemesh/triplemesh/services/orchestrator/quota"
	"github.com/triplemesh/triplemesh/services/orchestrator/runs"
)

const (
	// defaultPageSize is the number of runs in a page if the request does not set one.
	defaultPageSize = 50
	// healthTimeout bounds the health check of one stage.
	healthTimeout = 2 * time.Second
)

// Options are the dependencies of a Service. All but Mesh and TenantRuns are required.
type Options struct {
	// Stages are the clients of the stages.
	Stages method.Stages
	// Methods are the methods that a question may name.
	Methods []method.Method
	// KnowledgeGraphs lists the snapshots of knowledge graphs.
	KnowledgeGraphs retrieverv1.KnowledgeGraphServiceClient
	// Confidence estimates the probability that answers are right.
	Confidence *confidence.Model
	// MinGrounded is the least confidence of grounded answers, 0 to 1.
	MinGrounded float32
	// AnswerUncovered answers questions in languages that the labels of their knowledge graphs are not
	// in. Otherwise the run abstains.
	AnswerUncovered bool
	// Runs stores answered questions.
	Runs runs.Tenants
	// TenantRuns lets callers read all runs of their tenant, not only their own.
	TenantRuns bool
	// Feedback stores what callers say about answers.
	Feedback *feedback.Dir
	// Quotas bound the usage of tenants.
	Quotas *quota.Quotas
	// Mesh is what GetMesh reports.
	Mesh      Mesh
	Telemetry *telemetry.Telemetry
}

// Mesh describes the mesh to GetMesh.
type Mesh struct {
	// Stages are the stages whose health is reported.
	Stages []Peer
	// Version of the orchestrator.
	Version string
	// TraceURL is the page of a trace, with "{trace_id}" in the place of its id; empty if there is
	// none.
	TraceURL string
}

// Peer is a stage and the connection to it.
type Peer struct {
	Name string
	Conn grpc.ClientConnInterface
}

// Service implements OrchestratorService and FeedbackService.
type Service struct {
	orchestratorv1.UnimplementedOrchestratorServiceServer
	orchestratorv1.UnimplementedFeedbackServiceServer
	Options
	checker *check.Checker
	metrics *metrics
}

// New returns a Service.
func New(o Options) (*Service, error) {
	m, err := newMetrics(o.Telemetry.Meter())
	if err != nil {
		return nil, err
	}
	return &Service{Options: o, checker: check.New(o.Stages), metrics: m}, nil
}

// Register adds both services to a server.
func (s *Service) Register(r grpc.ServiceRegistrar) {
	orchestratorv1.RegisterOrchestratorServiceServer(r, s)
	orchestratorv1.RegisterFeedbackServiceServer(r, s)
}

func (s *Service) callerRuns(ctx context.Context) (auth.Caller, runs.Store, error) {
	caller, ok := auth.CallerFrom(ctx)
	if !ok {
		return auth.Caller{}, nil, auth.ErrNoTenant
	}
	store, err := s.Runs.Tenant(caller.Tenant)
	return caller, store, err
}

// admittedRequest is a request that was admitted within the quotas of its tenant.
type admittedRequest struct {
	caller auth.Caller
	// runs are those of the tenant.
	runs runs.Store
	// purse is the tenant's quota.
	purse question.Purse
	// end must be called when the request ends.
	end func()
}

// admit admits a request, or refuses it if a quota of the tenant is exceeded.
func (s *Service) admit(ctx context.Context) (admittedRequest, error) {
	caller, store, err := s.callerRuns(ctx)
	if err != nil {
		return admittedRequest{}, err
	}
	trace.SpanFromContext(ctx).SetAttributes(caller.Tenant.Attribute())
	purse, err := s.Quotas.Begin(caller.Tenant)
	if err != nil {
		s.metrics.countRefusal(ctx, err)
		return admittedRequest{}, err
	}
	endRunning := s.metrics.countRunning(ctx, caller.Tenant)
	server.AnnounceWork(ctx)
	return admittedRequest{
		caller: caller, runs: store,
		purse: meteredPurse{purse, s.metrics, context.WithoutCancel(ctx), caller.Tenant},
		end: func() {
			purse.End()
			endRunning()
		},
	}, nil
}

// ListMethods implements orchestratorv1.OrchestratorServiceServer.
func (s *Service) ListMethods(_ context.Context,
	req *orchestratorv1.ListMethodsRequest) (*orchestratorv1.ListMethodsResponse, error) {
	resp := &orchestratorv1.ListMethodsResponse{}
	for _, m := range s.Methods {
		resp.Methods = append(resp.Methods, m.Info())
	}
	var err error
	resp.Methods, resp.NextPageToken, err = paging.Cut(resp.Methods, (*orchestratorv1.Method).GetName,
		req.GetPageSize(), 100, req.GetPageToken())
	return resp, err
}

// GetRun implements orchestratorv1.OrchestratorServiceServer.
func (s *Service) GetRun(ctx context.Context,
	req *orchestratorv1.GetRunRequest) (*orchestratorv1.GetRunResponse, error) {
	caller, store, err := s.callerRuns(ctx)
	if err != nil {
		return nil, err
	}
	run, err := s.readRun(caller, store, req.GetId())
	if err != nil {
		return nil, err
	}
	return &orchestratorv1.GetRunResponse{Run: run}, nil
}

// readRun reads a run that a caller may read.
func (s *Service) readRun(caller auth.Caller, store runs.Store, id string) (*orchestratorv1.Run, error) {
	run, err := store.Get(id)
	switch {
	case errors.Is(err, runs.ErrNotFound), err == nil && !s.visible(run, caller):
		return nil, status.Errorf(codes.NotFound, "there is no run %q; `triplemesh runs` lists those there are", id)
	case errors.Is(err, runs.ErrDamaged):
		return nil, status.Errorf(codes.DataLoss,
			"the record of run %q is damaged; `triplemesh runs` lists those that can be read", id)
	}
	return run, err
}

// ListRuns implements orchestratorv1.OrchestratorServiceServer.
func (s *Service) ListRuns(ctx context.Context,
	req *orchestratorv1.ListRunsRequest) (*orchestratorv1.ListRunsResponse, error) {
	caller, store, err := s.callerRuns(ctx)
	if err != nil {
		return nil, err
	}
	if token := req.GetPageToken(); token != "" { // the id of the last run of the page before
		if _, err := ulid.ParseStrict(token); err != nil {
			return nil, paging.ErrToken
		}
	}
	size := defaultPageSize
	if n := int(req.GetPageSize()); n > 0 {
		size = n
	}
	filter := runs.Filter{Method: req.GetMethod(), KG: req.GetKgName(), Query: req.GetQuery()}
	if !s.seesTenant(caller) {
		filter.Subject = &caller.Subject
	}
	page, next, err := store.List(ctx, size, req.GetPageToken(), filter)
	if err != nil {
		return nil, err
	}
	return &orchestratorv1.ListRunsResponse{Runs: page, NextPageToken: next}, nil
}

// visible reports whether a caller may read a run of their tenant: their own, or all with the scope
// admin or Options.TenantRuns.
func (s *Service) visible(run *orchestratorv1.Run, caller auth.Caller) bool {
	return run.GetSubject() == caller.Subject || s.seesTenant(caller)
}

func (s *Service) seesTenant(caller auth.Caller) bool {
	return s.TenantRuns || caller.Allows(authv1.Scope_SCOPE_ADMIN)
}

// GetQuota implements orchestratorv1.OrchestratorServiceServer.
func (s *Service) GetQuota(ctx context.Context,
	_ *orchestratorv1.GetQuotaRequest) (*orchestratorv1.GetQuotaResponse, error) {
	caller, _, err := s.callerRuns(ctx)
	if err != nil {
		return nil, err
	}
	resp := &orchestratorv1.GetQuotaResponse{Tenant: caller.Tenant.String(), Subject: caller.Subject,
		Scopes: caller.Scopes}
	for _, state := range s.Quotas.States(caller.Tenant) {
		q := &orchestratorv1.Quota{Name: state.Name, Limit: state.Limit, Used: state.Used}
		if !state.Resets.IsZero() {
			q.ResetTime = timestamppb.New(state.Resets)
		}
		resp.Quotas = append(resp.Quotas, q)
	}
	return resp, nil
}

// GetMesh implements orchestratorv1.OrchestratorServiceServer. It checks all stages at once.
func (s *Service) GetMesh(ctx context.Context,
	_ *orchestratorv1.GetMeshRequest) (*orchestratorv1.GetMeshResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	stages := make([]*orchestratorv1.StageHealth, 1+len(s.Mesh.Stages))
	stages[0] = &orchestratorv1.StageHealth{Stage: "orchestrator", Serving: true, Latency: &durationpb.Duration{}}
	var group sync.WaitGroup
	for i, peer := range s.Mesh.Stages {
		group.Go(func() { stages[1+i] = peer.checkHealth(ctx) })
	}
	group.Wait()
	return &orchestratorv1.GetMeshResponse{Stages: stages, Version: s.Mesh.Version, TraceUrl: s.Mesh.TraceURL}, nil
}

// checkHealth returns the health of a stage. Its error names no address, because every caller with
// the scope ask may read it.
func (p Peer) checkHealth(ctx context.Context) *orchestratorv1.StageHealth {
	start := time.Now()
	resp, err := healthpb.NewHealthClient(p.Conn).Check(ctx, &healthpb.HealthCheckRequest{})
	health := &orchestratorv1.StageHealth{Stage: p.Name, Latency: durationpb.New(time.Since(start))}
	switch code := status.Code(err); {
	case code == codes.DeadlineExceeded:
		health.Error = fmt.Sprintf("it did not answer within %s", healthTimeout)
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
