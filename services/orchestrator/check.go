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
func (s *Service) CheckStream(req *orchestratorv1.CheckStreamRequest, stream grpc.ServerStreamingServer[orchestratorv1.CheckStreamResponse]) error {
	total := uint32(utf8.RuneCountInString(req.GetRequest().GetText()))
	// A caller that went away ends the stream's context and with it the check, so
	// what Send says of that need not be looked at here.
	tell := func(findings []*check.Finding, read int) {
		_ = stream.Send(&orchestratorv1.CheckStreamResponse{Event: &orchestratorv1.CheckStreamResponse_Progress{
			Progress: &orchestratorv1.CheckProgress{Claims: check.Claims(findings), Read: uint32(read), Total: total},
		}})
	}
	checked, err := s.check(stream.Context(), req.GetRequest(), tell)
	if err != nil {
		return err
	}
	return stream.Send(&orchestratorv1.CheckStreamResponse{Event: &orchestratorv1.CheckStreamResponse_Check{Check: checked}})
}

// check takes a text through the stages, as ask takes a question. It counts as
// one question for its tenant's quotas, and is not kept as a run.
func (s *Service) check(ctx context.Context, req *orchestratorv1.CheckRequest, tell check.Listener) (*orchestratorv1.Check, error) {
	ask := &orchestratorv1.AskRequest{Question: req.GetText(), Kg: req.GetKg(), OtherKgs: req.GetOtherKgs(), Limits: req.GetLimits()}
	if err := checkKGs(ask); err != nil {
		return nil, err
	}
	turn, err := s.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer turn.end()
	began := time.Now()
	run := &orchestratorv1.Run{}
	if err := s.pinAll(ctx, ask, run); err != nil {
		return nil, err
	}
	q := question.New(ask, run, s.tel.Tracer(), nil).Within(turn.purse)
	findings, err := s.checker.Check(ctx, q, req.GetText(), req.GetGrounding(), tell)
	if err != nil && !question.Survivable(ctx, err) || err != nil && len(findings) == 0 && !question.OutOfBudget(err) {
		return nil, err
	}
	if gone := ctx.Err(); gone != nil {
		return nil, gone // nobody waits for it any more
	}
	read := q.Snapshot()
	checked := &orchestratorv1.Check{
		Text: req.GetText(), Claims: check.Claims(findings), Kg: read.GetKg(), OtherKgs: read.GetOtherKgs(),
		Stages: perStage(read.GetStages()), Usage: read.GetUsage(), Partial: err != nil,
		TraceId: trace.SpanContextFromContext(ctx).TraceID().String(),
		Started: timestamppb.New(began), Duration: durationpb.New(time.Since(began)),
	}
	checked.CorrectedText, checked.Corrections = check.Correct(req.GetText(), findings)
	s.metrics.checked(ctx, turn.caller.Tenant, checked)
	return checked, nil
}

// perStage joins the reports of each stage, which a text goes through again and
// again, in the order in which stages were first gone through.
func perStage(reports []*orchestratorv1.StageReport) (joined []*orchestratorv1.StageReport) {
	ledgers := map[orchestratorv1.Stage]*llm.Ledger{}
	byStage := map[orchestratorv1.Stage]*orchestratorv1.StageReport{}
	for _, r := range reports {
		one := byStage[r.GetStage()]
		if one == nil {
			one = &orchestratorv1.StageReport{Stage: r.GetStage()}
			byStage[r.GetStage()], ledgers[r.GetStage()] = one, llm.NewLedger(nil)
			joined = append(joined, one)
		}
		one.Duration = durationpb.New(one.GetDuration().AsDuration() + r.GetDuration().AsDuration())
		one.Warnings = append(one.Warnings, r.GetWarnings()...)
		if r.GetUsage() != nil {
			ledgers[r.GetStage()].Charge(r.GetUsage())
			one.Usage = ledgers[r.GetStage()].Usage()
		}
	}
	for _, one := range joined {
		one.Warnings = once(one.GetWarnings())
	}
	return joined
}

// once leaves one of warnings that say the same.
func once(warnings []*llmv1.Warning) (kept []*llmv1.Warning) {
	seen := map[string]bool{}
	for _, w := range warnings {
		if !seen[w.GetMessage()] {
			seen[w.GetMessage()] = true
			kept = append(kept, w)
		}
	}
	return kept
}
