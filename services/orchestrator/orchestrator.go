// Package orchestrator is the front door: it takes a question through the
// stages of a method and keeps the run.
package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/internal/admission"
	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/internal/enum"
	"github.com/triplemesh/triplemesh/internal/telemetry"
	"github.com/triplemesh/triplemesh/internal/tenant"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/check"
	"github.com/triplemesh/triplemesh/services/orchestrator/confidence"
	"github.com/triplemesh/triplemesh/services/orchestrator/method"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
	"github.com/triplemesh/triplemesh/services/orchestrator/quota"
	"github.com/triplemesh/triplemesh/services/orchestrator/runs"
)

// defaultMethod is taken where the caller names none.
const defaultMethod = "pg-akv"

// defaultPage is how many runs are listed where the caller does not say.
const defaultPage = 50

// Service answers OrchestratorService calls.
type Service struct {
	orchestratorv1.UnimplementedOrchestratorServiceServer

	stages     method.Stages
	methods    []method.Method
	checker    *check.Checker
	kgs        retrieverv1.KnowledgeGraphServiceClient
	confidence *confidence.Model
	runs       runs.Tenants
	quotas     *quota.Quotas
	tel        *telemetry.Telemetry
	metrics    *metrics
	mesh       Mesh
}

// New returns a Service that answers by methods over stages, says by sure how
// likely answers are right, keeps runs, and holds tenants to quotas.
func New(stages method.Stages, methods []method.Method, kgs retrieverv1.KnowledgeGraphServiceClient, sure *confidence.Model, kept runs.Tenants, quotas *quota.Quotas, tel *telemetry.Telemetry) (*Service, error) {
	m, err := newMetrics(tel.Meter())
	if err != nil {
		return nil, err
	}
	return &Service{stages: stages, methods: methods, checker: check.New(stages), kgs: kgs, confidence: sure, runs: kept, quotas: quotas, tel: tel, metrics: m}, nil
}

// Register adds the service to a server.
func (s *Service) Register(r grpc.ServiceRegistrar) {
	orchestratorv1.RegisterOrchestratorServiceServer(r, s)
}

// Ask implements orchestratorv1.OrchestratorServiceServer.
func (s *Service) Ask(ctx context.Context, req *orchestratorv1.AskRequest) (*orchestratorv1.AskResponse, error) {
	run, err := s.ask(ctx, req, nil)
	if err != nil {
		return nil, err
	}
	return &orchestratorv1.AskResponse{Run: run}, nil
}

// AskStream implements orchestratorv1.OrchestratorServiceServer.
func (s *Service) AskStream(req *orchestratorv1.AskStreamRequest, stream grpc.ServerStreamingServer[orchestratorv1.AskStreamResponse]) error {
	run, err := s.ask(stream.Context(), req.GetRequest(), oneAtATime(stream))
	if err != nil {
		return err
	}
	return stream.Send(&orchestratorv1.AskStreamResponse{Event: &orchestratorv1.AskStreamResponse_Run{Run: run}})
}

// ask answers a question and keeps the run.
func (s *Service) ask(ctx context.Context, req *orchestratorv1.AskRequest, listen question.Listener) (*orchestratorv1.Run, error) {
	m, err := s.method(req)
	if err != nil {
		return nil, err
	}
	admission.Name(ctx, m.Info().GetName())
	turn, err := s.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer turn.end()
	run := newRun(ctx, req, m.Info().GetName(), turn.caller)
	if m.Info().GetNeedsKg() {
		if err := s.pinAll(ctx, req, run); err != nil {
			return nil, err
		}
	}
	var sink *telemetry.SpanSink
	if req.GetOptions().GetSpans() {
		sink = telemetry.NewSpanSink()
		ctx = telemetry.WithSpanSink(ctx, sink)
	}
	q := question.New(req, run, s.tel.Tracer(), listen).Within(turn.purse)
	if err := s.answer(ctx, m, q); err != nil && !errors.Is(err, question.ErrUntil) {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err // nobody waits for the answer any more
	}
	s.judge(q)
	answered := q.Snapshot()
	finish(answered)
	if sink != nil {
		sink.AddRunning(trace.SpanFromContext(ctx))
		answered.Spans = sink.Spans()
	}
	s.metrics.answered(ctx, turn.caller.Tenant, answered)
	if !req.GetOptions().GetNoRecord() {
		if err := turn.kept.Put(answered); err != nil {
			// The answer is worth more than its record.
			s.tel.Logger().ErrorContext(ctx, "the run was answered but not kept", "error", err)
		}
	}
	return answered, nil
}

// answer takes a question through a method, as one that stands alone.
func (s *Service) answer(ctx context.Context, m method.Method, q *question.Question) error {
	if err := s.stages.Rewrite(ctx, q); err != nil {
		return err
	}
	return m.Answer(ctx, q)
}

// method finds the method of a request and checks that it has the stage to
// stop after.
func (s *Service) method(req *orchestratorv1.AskRequest) (method.Method, error) {
	name := req.GetMethod()
	if name == "" {
		name = defaultMethod
	}
	var names []string
	for _, m := range s.methods {
		info := m.Info()
		if info.GetName() != name {
			names = append(names, info.GetName())
			continue
		}
		if info.GetNeedsKg() && req.GetKg() == nil {
			return nil, invalid("kg", fmt.Sprintf("the method %s reads a knowledge graph: name one", name))
		}
		if err := checkKGs(req); err != nil {
			return nil, err
		}
		if err := checkAbstention(req.GetOptions()); err != nil {
			return nil, err
		}
		if err := checkAblation(info, req.GetOptions().GetAblation()); err != nil {
			return nil, err
		}
		return m, checkUntil(m, req)
	}
	return nil, invalid("method", fmt.Sprintf("there is no method %q; there are: %s", name, strings.Join(names, ", ")))
}

// checkAblation wants an ablation that the method has.
func checkAblation(info *orchestratorv1.Method, ablation orchestratorv1.Ablation) error {
	if ablation == orchestratorv1.Ablation_ABLATION_UNSPECIFIED || slices.Contains(info.GetAblations(), ablation) {
		return nil
	}
	names := []string{"none"}
	if has := info.GetAblations(); len(has) > 0 {
		names = nil
		for _, a := range has {
			names = append(names, enum.Name(a))
		}
	}
	return invalid("options.ablation", fmt.Sprintf("the method %s has no ablation %s; it has: %s",
		info.GetName(), enum.Name(ablation), strings.Join(names, ", ")))
}

// checkUntil wants a stage that the method has and the ablation leaves in, or
// the one before all methods, where the question comes to it.
func checkUntil(m method.Method, req *orchestratorv1.AskRequest) error {
	options, until := req.GetOptions(), req.GetOptions().GetUntil()
	if until == orchestratorv1.Stage_STAGE_UNSPECIFIED || until == orchestratorv1.Stage_STAGE_REWRITE && len(req.GetHistory()) > 0 {
		return nil
	}
	with := "the method " + m.Info().GetName()
	var without []orchestratorv1.Stage
	if ablated, ok := m.(method.Ablated); ok && options.GetAblation() != orchestratorv1.Ablation_ABLATION_UNSPECIFIED {
		with += " with the ablation " + enum.Name(options.GetAblation())
		without = ablated.Without(options.GetAblation())
	}
	var names []string
	for _, stage := range m.Info().GetStages() {
		if slices.Contains(without, stage) {
			continue
		}
		if stage == until {
			return nil
		}
		names = append(names, question.Name(stage))
	}
	return invalid("options.until", fmt.Sprintf("%s has no stage %s; it has: %s", with, question.Name(until), strings.Join(names, ", ")))
}

// ListMethods implements orchestratorv1.OrchestratorServiceServer.
func (s *Service) ListMethods(context.Context, *orchestratorv1.ListMethodsRequest) (*orchestratorv1.ListMethodsResponse, error) {
	resp := &orchestratorv1.ListMethodsResponse{}
	for _, m := range s.methods {
		resp.Methods = append(resp.Methods, m.Info())
	}
	return resp, nil
}

// whose is who makes a request, and the runs that are theirs.
func (s *Service) whose(ctx context.Context) (auth.Caller, runs.Store, error) {
	caller, ok := auth.From(ctx)
	if !ok {
		return auth.Caller{}, nil, tenant.ErrNone
	}
	store, err := s.runs.Of(caller.Tenant)
	return caller, store, err
}

// GetRun implements orchestratorv1.OrchestratorServiceServer.
func (s *Service) GetRun(ctx context.Context, req *orchestratorv1.GetRunRequest) (*orchestratorv1.GetRunResponse, error) {
	_, kept, err := s.whose(ctx)
	if err != nil {
		return nil, err
	}
	run, err := kept.Get(req.GetId())
	switch {
	case errors.Is(err, runs.ErrNotFound):
		return nil, status.Errorf(codes.NotFound, "there is no run %q; `triplemesh runs` lists those there are", req.GetId())
	case errors.Is(err, runs.ErrDamaged):
		return nil, status.Errorf(codes.DataLoss, "the record of run %q is damaged; `triplemesh runs` lists those that can be read", req.GetId())
	case err != nil:
		return nil, err
	}
	return &orchestratorv1.GetRunResponse{Run: run}, nil
}

// ListRuns implements orchestratorv1.OrchestratorServiceServer.
func (s *Service) ListRuns(ctx context.Context, req *orchestratorv1.ListRunsRequest) (*orchestratorv1.ListRunsResponse, error) {
	_, kept, err := s.whose(ctx)
	if err != nil {
		return nil, err
	}
	size := defaultPage
	if n := int(req.GetPageSize()); n > 0 {
		size = n
	}
	page, next, err := kept.List(ctx, size, req.GetPageToken(), runs.Filter{Method: req.GetMethod(), KG: req.GetKg(), Query: req.GetQuery()})
	if err != nil {
		return nil, err
	}
	return &orchestratorv1.ListRunsResponse{Runs: page, NextPageToken: next}, nil
}
