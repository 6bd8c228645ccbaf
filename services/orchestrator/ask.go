package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/triplemesh/triplemesh/internal/admission"
	"github.com/triplemesh/triplemesh/internal/config"
	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/telemetry"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/method"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
	"github.com/triplemesh/triplemesh/services/orchestrator/sources"
)

// Ask implements orchestratorv1.OrchestratorServiceServer.
func (s *Service) Ask(ctx context.Context, req *orchestratorv1.AskRequest) (*orchestratorv1.AskResponse, error) {
	run, err := s.ask(ctx, req, nil)
	if err != nil {
		return nil, err
	}
	return &orchestratorv1.AskResponse{Run: run}, nil
}

// AskStream implements orchestratorv1.OrchestratorServiceServer.
func (s *Service) AskStream(req *orchestratorv1.AskStreamRequest,
	stream grpc.ServerStreamingServer[orchestratorv1.AskStreamResponse]) error {
	// Stages may run in parallel, but Send must not. If the caller left, the stream's context is
	// cancelled, which ends the question: the error of Send adds nothing.
	var mu sync.Mutex
	run, err := s.ask(stream.Context(), req.GetRequest(), func(event *orchestratorv1.AskStreamResponse) {
		mu.Lock()
		defer mu.Unlock()
		_ = stream.Send(event)
	})
	if err != nil {
		return err
	}
	return stream.Send(&orchestratorv1.AskStreamResponse{Event: &orchestratorv1.AskStreamResponse_Run{Run: run}})
}

// ask answers a question and stores the run.
func (s *Service) ask(ctx context.Context, req *orchestratorv1.AskRequest,
	listen question.Listener) (*orchestratorv1.Run, error) {
	m, err := s.validateAsk(req)
	if err != nil {
		return nil, err
	}
	if req, err = s.chooseKG(ctx, m, req); err != nil {
		return nil, err
	}
	admission.SetKind(ctx, m.Info().GetName())
	admitted, err := s.admit(ctx)
	if err != nil {
		return nil, err
	}
	defer admitted.end()
	run := &orchestratorv1.Run{
		Id:        ulid.Make().String(),
		Question:  req.GetQuestion(),
		Method:    m.Info().GetName(),
		Subject:   admitted.caller.Subject,
		Ablation:  req.GetOptions().GetAblation(),
		TraceId:   trace.SpanContextFromContext(ctx).TraceID().String(),
		StartTime: timestamppb.Now(),
	}
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
	q := question.New(req, run, s.Telemetry.Tracer(), listen).WithPurse(admitted.purse)
	if err = s.Stages.Rewrite(ctx, q); err == nil {
		err = s.answer(ctx, q, m)
	}
	if err != nil && !errors.Is(err, question.ErrStopped) {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err // the caller left
	}
	if err := s.decide(ctx, q, s.findMissingNames(ctx, q)); err != nil {
		return nil, err
	}
	answered := q.Snapshot()
	answered.Duration = durationpb.New(time.Since(answered.GetStartTime().AsTime()))
	if sink != nil {
		sink.AddRunning(trace.SpanFromContext(ctx))
		answered.Spans = sink.Spans()
	}
	s.metrics.countAnswer(ctx, admitted.caller.Tenant, answered)
	s.logFailures(ctx, answered)
	if !req.GetOptions().GetNoRecord() {
		if err := admitted.runs.Save(answered); err != nil {
			s.Telemetry.Logger().ErrorContext(ctx, logRunNotStored, "run", answered.GetId(), "error", err)
		}
	}
	return answered, nil
}

// logFailures logs the failed stages of a question that was answered without them.
func (s *Service) logFailures(ctx context.Context, run *orchestratorv1.Run) {
	for _, stage := range run.GetStages() {
		for _, w := range stage.GetWarnings() {
			if w.GetCode() == llm.WarnUnavailable {
				s.Telemetry.Logger().WarnContext(ctx, logStageFailed, "stage", config.EnumName(stage.GetStage()),
					"warning", w.GetMessage(), "run", run.GetId())
			}
		}
	}
}

// answer answers a question by its method. Methods that read a knowledge graph are asked the sentence that
// asks, whatever a text commands around it. What screen refuses is not answered by methods that read a
// knowledge graph. They answer a yes/no question, and a statement as if it were one, by the verdict on
// what it claims, unless reading that fails; query plans it like any other.
func (s *Service) answer(ctx context.Context, q *question.Question, m method.Method) error {
	if !m.Info().GetNeedsKg() || !isWhole(q) {
		return m.Answer(ctx, q)
	}
	if asked := kgtext.AskedSentence(q.Text()); asked != "" {
		q.Restate(asked)
	}
	screened := s.screen(ctx, q)
	if screened.refusal != "" {
		q.Update(func(run *orchestratorv1.Run) { refuse(run, screened.refusal) })
		return nil
	}
	// A plan says whether there is a row.
	if !method.Computes(m, q) && (kgtext.IsYesNo(q.Text()) || kgtext.IsStatement(q.Text())) {
		if answered, err := s.answerYesNo(ctx, q); answered || err != nil {
			if auto, isAuto := m.(method.Auto); isAuto && err == nil {
				err = auto.Confirm(ctx, q)
			}
			return err
		}
	}
	if err := m.Answer(ctx, q); err != nil {
		return err
	}
	otherKind := s.findOtherKind(ctx, q)
	if auto, isAuto := m.(method.Auto); isAuto {
		certainty := s.rateFacts(q)
		if otherKind != "" {
			certainty = 0
		}
		if certainty < 1 {
			isPlanned, err := auto.Reconsider(ctx, q, certainty)
			if err != nil {
				return err
			}
			if isPlanned {
				otherKind = s.findOtherKind(ctx, q)
			}
		}
	}
	for _, reason := range []string{otherKind, s.keepSex(ctx, q), screened.doubt} {
		if reason != "" {
			q.Update(func(run *orchestratorv1.Run) { doubt(run, reason) })
		}
	}
	return nil
}

// isWhole reports whether a question is answered by all stages of its method.
func isWhole(q *question.Question) bool {
	options := q.Request().GetOptions()
	return options.GetUntil() == orchestratorv1.Stage_STAGE_UNSPECIFIED &&
		options.GetAblation() == orchestratorv1.Ablation_ABLATION_UNSPECIFIED
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

// chooseKG returns a question with a knowledge graph, if its method reads one: the only one there is, if
// the question names none.
func (s *Service) chooseKG(ctx context.Context, m method.Method,
	req *orchestratorv1.AskRequest) (*orchestratorv1.AskRequest, error) {
	if req.GetKg() != nil || !m.Info().GetNeedsKg() {
		return req, nil
	}
	names, err := s.kgNames(ctx)
	switch {
	case err != nil:
		return nil, err
	case len(names) == 0:
		return nil, status.Error(codes.NotFound,
			"there is no knowledge graph: load one with `triplemesh kg load NAME FILE`")
	case len(names) > 1:
		return nil, invalidArgument("kg", "there are several knowledge graphs: name one of "+strings.Join(names, ", "))
	}
	req = proto.CloneOf(req)
	req.Kg = &graphv1.KnowledgeGraphRef{Name: names[0]}
	return req, validateKGs(req)
}

// pin resolves a knowledge graph to one snapshot before the first model call, so that all stages of a
// question read the same one, and a wrong name costs nothing.
func (s *Service) pin(ctx context.Context, kg *graphv1.KnowledgeGraphRef) (*graphv1.KnowledgeGraphRef, error) {
	listed, err := s.KnowledgeGraphs.ListKnowledgeGraphs(ctx,
		&retrieverv1.ListKnowledgeGraphsRequest{KgName: kg.GetName()})
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
		return nil, s.unknownKG(ctx, kg.GetName())
	case kg.GetSnapshot() != 0:
		return nil, status.Errorf(codes.NotFound, "the knowledge graph %s has no snapshot %d", kg.GetName(),
			kg.GetSnapshot())
	}
	return nil, status.Errorf(codes.FailedPrecondition,
		"the knowledge graph %s has no active snapshot: activate one with `triplemesh kg activate`", kg.GetName())
}

// unknownKG returns an error that lists the existing knowledge graphs.
func (s *Service) unknownKG(ctx context.Context, name string) error {
	names, err := s.kgNames(ctx)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		return status.Errorf(codes.NotFound,
			"there is no knowledge graph %q, nor any other: load one with `triplemesh kg load NAME FILE`", name)
	}
	return status.Errorf(codes.NotFound, "there is no knowledge graph %q; there are: %s", name,
		strings.Join(names, ", "))
}

// kgNames returns the names of the knowledge graphs of the caller.
func (s *Service) kgNames(ctx context.Context) (names []string, err error) {
	all, err := s.KnowledgeGraphs.ListKnowledgeGraphs(ctx, &retrieverv1.ListKnowledgeGraphsRequest{})
	for _, info := range all.GetSnapshots() {
		if n := info.GetKg().GetName(); !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return names, err
}

// decide sets the conflicts and the confidence of a run, withholds answers below the caller's
// threshold, marks those that no knowledge graph says, and releases the text to the listener. missing
// are names of the question that the knowledge graph lacks: answers about others are withheld too, as are those that
// turn out to be doubtful and that the model, asked once, does not find in their triples.
func (s *Service) decide(ctx context.Context, q *question.Question, missing []string) (err error) {
	replacement, doubtful := "", (*orchestratorv1.Answer)(nil)
	q.Update(func(run *orchestratorv1.Run) {
		run.Conflicts = sources.Conflicts(run)
		isAssessed := run.Confidence == nil // not decided by verdicts
		wasGrounded := run.GetGrounding() == orchestratorv1.Grounding_GROUNDING_GROUNDED
		if isAssessed {
			s.assess(run, q)
		}
		below := q.Request().GetOptions().GetAbstainBelow()
		switch {
		case len(run.GetWithheld()) > 0:
		case len(missing) > 0:
			withhold(run, fmt.Sprintf("nothing that was found there is about %s", strings.Join(missing, " or ")))
		case run.Confidence != nil && run.GetConfidence() < below:
			withhold(run, fmt.Sprintf("the confidence in what would have been answered is %.2f, below the %.2f asked "+
				"for", run.GetConfidence(), below))
		}
		if isAssessed && (wasGrounded || run.GetQuery() != nil) {
			doubtful = findDoubtful(run, q)
		}
	})
	fits := true
	if doubtful != nil {
		fits, err = s.Stages.JudgeFit(ctx, q, doubtful)
	}
	q.Update(func(run *orchestratorv1.Run) {
		if !fits && err == nil {
			withholdMisfit(run, "asked whether the triples answer the question, the model says no")
		}
		if markOwnAnswer(run) || len(run.GetWithheld()) > 0 {
			replacement = run.GetText()
		}
	})
	q.Release(replacement)
	return err
}

// assess sets the confidence of a run, doubts answers that may not say what was asked, and withholds those that say
// something else. What a caller's own plan computes is what it asks for.
func (s *Service) assess(run *orchestratorv1.Run, q *question.Question) {
	run.Confidence = s.Confidence.Estimate(run)
	demote(run, s.MinGrounded)
	if q.Request().GetPlan() != "" {
		return
	}
	text := nameIDs(q.Text(), run)
	doubtNames(run, text)
	doubtPath(run, text)
	doubtConditions(run, text)
	doubtNumber(run, text)
	doubtName(run, text)
	doubtRelation(run, text)
	doubtShared(run, text)
	doubtBoth(run, text)
	doubtDate(run, q.Request().GetOptions().GetGrounding().GetFilter().GetAt())
}

// nameIDs returns a question with names in the place of the ids of what its answers rest on.
func nameIDs(text string, run *orchestratorv1.Run) string {
	for _, a := range run.GetAnswers() {
		text = kgtext.NameIDs(text, a.GetEvidence())
	}
	return text
}

// rateFacts returns how sure triples say the answers so far: 1 if they are grounded, their confidence if that alone is
// too low, 0 if the answers are not what was asked for by their words, or rest on no triple.
func (s *Service) rateFacts(q *question.Question) float32 {
	run := q.Snapshot()
	s.assess(run, q)
	switch run.GetGrounding() {
	case orchestratorv1.Grounding_GROUNDING_GROUNDED:
		return 1
	case orchestratorv1.Grounding_GROUNDING_RELATED, orchestratorv1.Grounding_GROUNDING_PARTIAL:
		if run.GetConfidence() < s.MinGrounded {
			return run.GetConfidence()
		}
	}
	return 0
}

// demote makes grounded answers related ones if the confidence in them is too low: that triples name
// them does not mean that they say what was asked.
func demote(run *orchestratorv1.Run, least float32) {
	grounded := run.GetGrounding() == orchestratorv1.Grounding_GROUNDING_GROUNDED ||
		run.GetGrounding() == orchestratorv1.Grounding_GROUNDING_PARTIAL
	if !grounded || run.Confidence == nil || run.GetConfidence() >= least {
		return
	}
	run.Grounding = orchestratorv1.Grounding_GROUNDING_RELATED
	run.GroundingReason += fmt.Sprintf("; with a confidence of %.2f, below %.2f, they may not say what was asked",
		run.GetConfidence(), least)
}

// withhold moves the answers to Run.withheld. The graphs keep their evidence.
func withhold(run *orchestratorv1.Run, reason string) {
	run.Withheld, run.Answers = run.GetAnswers(), nil
	run.Text = "This is not in " + describeSources(run) + "."
	run.Grounding = orchestratorv1.Grounding_GROUNDING_ABSTAINED
	run.GroundingReason = reason
}

// markOwnAnswer makes the text of an answer that rests on the model alone say first that the
// knowledge graph does not say, and that alone where a text has no answer. It reports whether it changed the text. The
// text of a method or an ablation that reads no knowledge graph stays as it is.
func markOwnAnswer(run *orchestratorv1.Run) bool {
	own, isOwn := run.GetText(), run.GetGrounding() == orchestratorv1.Grounding_GROUNDING_UNGROUNDED
	hasNone := run.GetGrounding() == orchestratorv1.Grounding_GROUNDING_ABSTAINED &&
		run.GetGroundingReason() == method.NoAnswer
	if run.GetKg() == nil || run.GetAblation() == orchestratorv1.Ablation_ABLATION_FROM_PSEUDO_GRAPH ||
		!isOwn && !hasNone || own == "" {
		return false
	}
	if hasNone {
		own = ""
	}
	text := kgtext.MarkOwnAnswer(describeSources(run), len(run.GetOtherKgs()) > 0, own)
	changed := text != run.GetText()
	run.Text = text
	return changed
}

// describeSources names the knowledge graphs that a run read.
func describeSources(run *orchestratorv1.Run) string {
	if run.GetKg() == nil {
		return "what the model knows well enough"
	}
	names := []string{run.GetKg().GetName()}
	for _, kg := range run.GetOtherKgs() {
		names = append(names, kg.GetName())
	}
	if len(names) == 1 {
		return "the knowledge graph " + names[0]
	}
	return "the knowledge graphs " + strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}
