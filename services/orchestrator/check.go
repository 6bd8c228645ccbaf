package orchestrator

import (
	"context"
	"time"
	"unicode/utf8"

	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/triplemesh/triplemesh/internal/llm"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/check"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
)

// Check implements orchestratorv1.OrchestratorServiceServer.
func (s *Service) Check(ctx context.Context, req *orchestratorv1.CheckRequest) (*orchestratorv1.CheckResponse, error) {
	checked, err := s.check(ctx, req, nil)
	if err != nil {
		return nil, err
	}
	return &orchestratorv1.CheckResponse{Check: checked}, nil
}

// CheckStream implements orchestratorv1.OrchestratorServiceServer.
func (s *Service) CheckStream(req *orchestratorv1.CheckStreamRequest,
	stream grpc.ServerStreamingServer[orchestratorv1.CheckStreamResponse]) error {
	total := uint32(utf8.RuneCountInString(req.GetRequest().GetText()))
	// If the caller left, the stream's context is cancelled, which ends the check: the error of Send
	// adds nothing.
	listen := func(findings []*check.Finding, read int) {
		_ = stream.Send(&orchestratorv1.CheckStreamResponse{Event: &orchestratorv1.CheckStreamResponse_Progress{
			Progress: &orchestratorv1.CheckProgress{Claims: check.Claims(findings), Read: uint32(read), Total: total},
		}})
	}
	checked, err := s.check(stream.Context(), req.GetRequest(), listen)
	if err != nil {
		return err
	}
	return stream.Send(&orchestratorv1.CheckStreamResponse{Event: &orchestratorv1.CheckStreamResponse_Check{
		Check: checked}})
}

// check takes a text through the stages. It counts as one question towards the tenant's quotas, and
// is not stored as a run.
func (s *Service) check(ctx context.Context, req *orchestratorv1.CheckRequest,
	listen check.Listener) (*orchestratorv1.Check, error) {
	ask := &orchestratorv1.AskRequest{Question: req.GetText(), Kg: req.GetKg(), OtherKgs: req.GetOtherKgs(),
		Limits: req.GetLimits()}
	if err := validateKGs(ask); err != nil {
		return nil, err
	}
	admitted, err := s.admit(ctx)
	if err != nil {
		return nil, err
	}
	defer admitted.end()
	start := time.Now()
	run := &orchestratorv1.Run{}
	if err := s.pinAll(ctx, ask, run); err != nil {
		return nil, err
	}
	q := question.New(ask, run, s.Telemetry.Tracer(), nil).WithPurse(admitted.purse)
	findings, err := s.checker.Check(ctx, q, req.GetText(), req.GetGrounding(), listen)
	if err != nil && !question.Recoverable(ctx, err) || err != nil && len(findings) == 0 && !question.OutOfBudget(err) {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err // the caller left
	}
	snapshot := q.Snapshot()
	checked := &orchestratorv1.Check{
		Text: req.GetText(), Claims: check.Claims(findings), Kg: snapshot.GetKg(), OtherKgs: snapshot.GetOtherKgs(),
		Stages: mergeReports(snapshot.GetStages()), Usage: snapshot.GetUsage(), Partial: err != nil,
		TraceId:   trace.SpanContextFromContext(ctx).TraceID().String(),
		StartTime: timestamppb.New(start), Duration: durationpb.New(time.Since(start)),
	}
	checked.CorrectedText, checked.Corrections = check.Correct(req.GetText(), findings)
	s.metrics.countCheck(ctx, admitted.caller.Tenant, checked)
	return checked, nil
}

// mergeReports merges the reports of each stage, which a text passes many times, in the order of the
// first reports.
func mergeReports(reports []*orchestratorv1.StageReport) (merged []*orchestratorv1.StageReport) {
	ledgers := map[orchestratorv1.Stage]*llm.Ledger{}
	byStage := map[orchestratorv1.Stage]*orchestratorv1.StageReport{}
	for _, r := range reports {
		m := byStage[r.GetStage()]
		if m == nil {
			m = &orchestratorv1.StageReport{Stage: r.GetStage()}
			byStage[r.GetStage()], ledgers[r.GetStage()] = m, llm.NewLedger(nil)
			merged = append(merged, m)
		}
		m.Duration = durationpb.New(m.GetDuration().AsDuration() + r.GetDuration().AsDuration())
		m.Warnings = append(m.Warnings, r.GetWarnings()...)
		if r.GetUsage() != nil {
			ledgers[r.GetStage()].Charge(r.GetUsage())
			m.Usage = ledgers[r.GetStage()].Usage()
		}
	}
	for _, m := range merged {
		m.Warnings = distinctWarnings(m.GetWarnings())
	}
	return merged
}

// distinctWarnings returns the first of the warnings with each message.
func distinctWarnings(warnings []*llmv1.Warning) (distinct []*llmv1.Warning) {
	seen := map[string]bool{}
	for _, w := range warnings {
		if !seen[w.GetMessage()] {
			seen[w.GetMessage()] = true
			distinct = append(distinct, w)
		}
	}
	return distinct
}

// ProposeTriples implements orchestratorv1.OrchestratorServiceServer. A passage counts as one
// question towards the tenant's quotas, and is not stored as a run.
func (s *Service) ProposeTriples(ctx context.Context,
	req *orchestratorv1.ProposeTriplesRequest) (*orchestratorv1.ProposeTriplesResponse, error) {
	admitted, err := s.admit(ctx)
	if err != nil {
		return nil, err
	}
	defer admitted.end()
	q := question.New(&orchestratorv1.AskRequest{Limits: req.GetLimits()}, &orchestratorv1.Run{}, s.Telemetry.Tracer(),
		nil).WithPurse(admitted.purse)
	var extracted *generatorv1.ExtractClaimsResponse
	err = q.Stage(ctx, orchestratorv1.Stage_STAGE_CLAIMS, func(ctx context.Context) (question.Cost, error) {
		limits, err := q.Limits()
		if err != nil {
			return nil, err
		}
		extracted, err = s.Stages.Generator.ExtractClaims(ctx, &generatorv1.ExtractClaimsRequest{Text: req.GetText(),
			Context: req.GetContext(), Limits: limits})
		return extracted, err
	})
	if err != nil {
		return nil, err
	}
	resp := &orchestratorv1.ProposeTriplesResponse{Usage: extracted.GetUsage(), Warnings: extracted.GetWarnings()}
	for _, c := range extracted.GetClaims() {
		if !c.GetNegated() { // a denied fact is no fact
			resp.Triples = append(resp.Triples, &orchestratorv1.ProposedTriple{Triple: c.GetTriple(),
				Span: c.GetSpan()})
		}
	}
	return resp, nil
}
