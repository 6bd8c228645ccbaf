// Package verifier is the stage that corrects a pseudo-graph by its ground graph.
package verifier

import (
	"context"
	"errors"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"google.golang.org/grpc"

	"github.com/triplemesh/triplemesh/internal/config"
	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/internal/llm"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
	"github.com/triplemesh/triplemesh/services/verifier/align"
	"github.com/triplemesh/triplemesh/services/verifier/judge"
	"github.com/triplemesh/triplemesh/services/verifier/query"
)

// Service answers VerifierService calls.
type Service struct {
	verifierv1.UnimplementedVerifierServiceServer

	mode      verifierv1.VerificationMode
	align     align.Config
	judge     judge.Config
	queries   *query.Aligner
	maxShown  int
	llm       llm.Config
	editor    *Editor
	rewriter  *Rewriter
	telemetry *metrics
}

// New returns a Service. The model is asked in the modes edits and rewrite only.
func New(cfg Config, model llm.Completer, tel Meter) (*Service, error) {
	mode, err := cfg.mode()
	if err != nil {
		return nil, err
	}
	m, err := newMetrics(tel)
	if err != nil {
		return nil, err
	}
	return &Service{
		mode: mode, align: cfg.alignment(), judge: cfg.Judge, queries: query.New(cfg.Query), maxShown: cfg.MaxEvidence,
		llm:    cfg.LLM,
		editor: NewEditor(model, cfg.EditTokens), rewriter: NewRewriter(model, cfg.RewriteTokens), telemetry: m,
	}, nil
}

// Register adds the service to a server.
func (s *Service) Register(r grpc.ServiceRegistrar) { verifierv1.RegisterVerifierServiceServer(r, s) }

// Verify implements verifierv1.VerifierServiceServer.
func (s *Service) Verify(ctx context.Context, req *verifierv1.VerifyRequest) (*verifierv1.VerifyResponse, error) {
	mode := req.GetMode()
	if mode == verifierv1.VerificationMode_VERIFICATION_MODE_UNSPECIFIED {
		mode = s.mode
	}
	ledger := llm.NewLedger(req.GetLimits())
	fixed, used, warnings, err := s.verify(ctx, req, mode, ledger)
	if err != nil {
		return nil, ledger.AttachUsage(err)
	}
	s.telemetry.countEdits(ctx, fixed.Edits)
	return &verifierv1.VerifyResponse{
		FixedGraph: fixed.FixedGraph, Edits: fixed.Edits, Mode: used, Usage: ledger.Usage(), Warnings: warnings,
		ReadingShare: s.llm.KnownReadingShare(ledger.Model()),
	}, nil
}

// verify runs one mode. Every mode starts from the alignment, which is the result if the model's
// output cannot be used, the budget has no call left or there is nothing to ask about.
func (s *Service) verify(ctx context.Context, req *verifierv1.VerifyRequest, mode verifierv1.VerificationMode,
	ledger *llm.Ledger) (align.Alignment, verifierv1.VerificationMode, []*llmv1.Warning, error) {
	const alignMode = verifierv1.VerificationMode_VERIFICATION_MODE_ALIGN
	drafts, ground := req.GetPseudoGraph(), req.GetGroundGraph()
	cfg := s.align
	cfg.AllFacts = kgtext.ChooseAnswerForm(req.GetQuestion(), req.GetForm()) == graphv1.AnswerForm_ANSWER_FORM_TEXT
	aligned := align.Align(req.GetQuestion(), drafts, ground, cfg)
	if mode == alignMode || len(drafts.GetTriples()) == 0 {
		return aligned, alignMode, nil, nil
	}
	pool := align.OrderEvidence(ground, s.maxShown)
	if len(pool) == 0 {
		return aligned, alignMode, nil, nil
	}
	var fixed align.Alignment
	var warnings []*llmv1.Warning
	var err error
	if mode == verifierv1.VerificationMode_VERIFICATION_MODE_EDITS {
		fixed, warnings, err = s.editor.Edit(ctx, req.GetQuestion(), drafts, pool, aligned, ledger)
	} else {
		fixed, warnings, err = s.rewriter.Rewrite(ctx, req.GetQuestion(), drafts, pool, ledger)
	}
	switch {
	case errors.Is(err, llm.ErrUnusable):
		warning := llm.Warn(llm.WarnUnusable,
			"the model's verification could not be read; the alignment by cosine was used: %v", err)
		return aligned, alignMode, []*llmv1.Warning{warning}, nil
	case errors.Is(err, llm.ErrBudget):
		warning := llm.Warn(llm.WarnBudget, "the model was not asked to verify; the alignment by cosine was used: %v",
			err)
		return aligned, alignMode, []*llmv1.Warning{warning}, nil
	}
	return fixed, mode, warnings, err
}

// AlignQueryPlan implements verifierv1.VerifierServiceServer.
func (s *Service) AlignQueryPlan(_ context.Context,
	req *verifierv1.AlignQueryPlanRequest) (*verifierv1.AlignQueryPlanResponse, error) {
	aligned := s.queries.Align(req.GetQuestion(), req.GetPlan(), req.GetTerms(), req.GetPatterns())
	return &verifierv1.AlignQueryPlanResponse{Plan: aligned.Plan, Edits: aligned.Edits, Reason: aligned.Reason,
		Confidence: float32(aligned.Confidence)}, nil
}

// JudgeClaims implements verifierv1.VerifierServiceServer.
func (s *Service) JudgeClaims(ctx context.Context,
	req *verifierv1.JudgeClaimsRequest) (*verifierv1.JudgeClaimsResponse, error) {
	judgements := judge.Judge(req, s.judge)
	s.telemetry.countVerdicts(ctx, judgements)
	return &verifierv1.JudgeClaimsResponse{Judgements: judgements}, nil
}

// Meter is where the service counts.
type Meter interface{ Meter() metric.Meter }

type metrics struct{ edits, verdicts metric.Int64Counter }

func newMetrics(tel Meter) (*metrics, error) {
	edits, err := tel.Meter().Int64Counter("triplemesh.verifier.edits",
		metric.WithDescription("Triples kept, replaced, added and deleted by verification."), metric.WithUnit("{edit}"))
	if err != nil {
		return nil, err
	}
	verdicts, err := tel.Meter().Int64Counter("triplemesh.verifier.verdicts",
		metric.WithDescription("Claims judged, by verdict."), metric.WithUnit("{claim}"))
	if err != nil {
		return nil, err
	}
	return &metrics{edits: edits, verdicts: verdicts}, nil
}

// countEdits records the edits by kind.
func (m *metrics) countEdits(ctx context.Context, edits []*graphv1.Edit) {
	byKind := map[graphv1.EditKind]int64{}
	for _, e := range edits {
		byKind[e.GetKind()]++
	}
	for kind, n := range byKind {
		name := strings.ToLower(strings.TrimPrefix(kind.String(), "EDIT_KIND_"))
		m.edits.Add(ctx, n, metric.WithAttributes(attribute.String("kind", name)))
	}
}

// countVerdicts records the verdicts on claims.
func (m *metrics) countVerdicts(ctx context.Context, judgements []*verifierv1.Judgement) {
	for _, j := range judgements {
		m.verdicts.Add(ctx, 1, metric.WithAttributes(attribute.String("verdict", config.EnumName(j.GetVerdict()))))
	}
}
