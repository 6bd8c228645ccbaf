package orchestrator

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/triplemesh/triplemesh/internal/auth"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
)

// newRun opens the run of a question.
func newRun(ctx context.Context, req *orchestratorv1.AskRequest, method string, caller auth.Caller) *orchestratorv1.Run {
	return &orchestratorv1.Run{
		Id:       ulid.Make().String(),
		Question: req.GetQuestion(),
		Method:   method,
		Subject:  caller.Subject,
		Ablation: req.GetOptions().GetAblation(),
		TraceId:  trace.SpanContextFromContext(ctx).TraceID().String(),
		Started:  timestamppb.Now(),
	}
}

// finish closes a run.
func finish(run *orchestratorv1.Run) {
	run.Duration = durationpb.New(time.Since(run.GetStarted().AsTime()))
}

// pinAll pins every knowledge graph of a request.
func (s *Service) pinAll(ctx context.Context, req *orchestratorv1.AskRequest, run *orchestratorv1.Run) (err error) {
	if run.Kg, err = s.pin(ctx, req.GetKg()); err != nil {
		return err
	}
	for _, kg := range req.GetOtherKgs() {
		pinned, err := s.pin(ctx, kg)
		if err != nil {
			return err
		}
		run.OtherKgs = append(run.OtherKgs, pinned)
	}
	return nil
}

// checkKGs wants each knowledge graph named once: evidence is told apart by
// that name. Relation paths are followed in knowledge graphs that are read.
func checkKGs(req *orchestratorv1.AskRequest) error {
	seen := map[string]bool{req.GetKg().GetName(): true}
	for _, kg := range req.GetOtherKgs() {
		if seen[kg.GetName()] {
			return invalid("other_kgs", fmt.Sprintf("the knowledge graph %s is named twice: name each once, and one snapshot of it", kg.GetName()))
		}
		seen[kg.GetName()] = true
	}
	for _, path := range req.GetRelationPaths() {
		if kg := path.GetKg(); kg != "" && !seen[kg] {
			return invalid("relation_paths", fmt.Sprintf("a relation path is to be followed in the knowledge graph %s, which the question does not read: name it too, or none", kg))
		}
	}
	return nil
}

// pin resolves a knowledge graph to one snapshot before any model is asked, so
// that every stage of a question reads the same one and a wrong name costs
// nothing.
func (s *Service) pin(ctx context.Context, kg *graphv1.KnowledgeGraphRef) (*graphv1.KnowledgeGraphRef, error) {
	listed, err := s.kgs.List(ctx, &retrieverv1.ListRequest{Kg: kg.GetName()})
	if err != nil && status.Code(err) != codes.NotFound {
		return nil, err
	}
	for _, info := range listed.GetSnapshots() {
		if n := kg.GetSnapshot(); n == 0 && info.GetActive() || n != 0 && n == info.GetKg().GetSnapshot() {
			return info.GetKg(), nil
		}
	}
	switch {
	case len(listed.GetSnapshots()) == 0:
		return nil, s.unknown(ctx, kg.GetName())
	case kg.GetSnapshot() != 0:
		return nil, status.Errorf(codes.NotFound, "the knowledge graph %s has no snapshot %d", kg.GetName(), kg.GetSnapshot())
	}
	return nil, status.Errorf(codes.FailedPrecondition,
		"the knowledge graph %s has no active snapshot: activate one with `triplemesh kg activate`", kg.GetName())
}

// unknown names the knowledge graphs there are.
func (s *Service) unknown(ctx context.Context, name string) error {
	all, err := s.kgs.List(ctx, &retrieverv1.ListRequest{})
	if err != nil {
		return err
	}
	var names []string
	seen := map[string]bool{}
	for _, info := range all.GetSnapshots() {
		if n := info.GetKg().GetName(); !seen[n] {
			seen[n] = true
			names = append(names, n)
		}
	}
	if len(names) == 0 {
		return status.Errorf(codes.NotFound, "there is no knowledge graph %q, nor any other: load one with `triplemesh kg load NAME FILE`", name)
	}
	return status.Errorf(codes.NotFound, "there is no knowledge graph %q; there are: %s", name, strings.Join(names, ", "))
}

// oneAtATime sends events that may come from parallel stages. A caller that
// went away ends the stream's context and with it the question, so what Send
// says of that need not be looked at here.
func oneAtATime(stream grpc.ServerStreamingServer[orchestratorv1.AskStreamResponse]) question.Listener {
	var mu sync.Mutex
	return func(event *orchestratorv1.AskStreamResponse) {
		mu.Lock()
		defer mu.Unlock()
		_ = stream.Send(event)
	}
}

// invalid is an INVALID_ARGUMENT that names the field.
func invalid(field, description string) error {
	st := status.New(codes.InvalidArgument, fmt.Sprintf("%s: %s", field, description))
	detailed, err := st.WithDetails(&errdetails.BadRequest{FieldViolations: []*errdetails.BadRequest_FieldViolation{
		{Field: field, Description: description},
	}})
	if err != nil {
		return st.Err()
	}
	return detailed.Err()
}
