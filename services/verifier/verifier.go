// Package verifier is the stage that corrects a pseudo-graph by its ground
// graph.
package verifier

import (
	"context"
	"errors"

	"google.golang.org/grpc"

	"github.com/triplemesh/triplemesh/internal/answerform"
	"github.com/triplemesh/triplemesh/internal/llm"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
	"github.com/triplemesh/triplemesh/services/verifier/align"
	"github.com/triplemesh/triplemesh/services/verifier/edits"
	"github.com/triplemesh/triplemesh/services/verifier/evidence"
	"github.com/triplemesh/triplemesh/services/verifier/judge"
	"github.com/triplemesh/triplemesh/services/verifier/rewrite"
)

// Service answers VerifierService calls.
type Service struct {
	verifierv1.UnimplementedVerifierServiceServer

	mode      verifierv1.VerificationMode
	align     align.Config
	judge     judge.Config
	maxShown  int
	editor    *edits.Editor
	rewriter  *rewrite.Rewriter
	telemetry *metrics
}

// New returns a Service. The model is asked in the modes edits and rewrite
// only.
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
		mode: mode, align: cfg.Align, judge: cfg.Judge, maxShown: cfg.MaxEvidence,
		editor: edits.New(model), rewriter: rewrite.New(model), telemetry: m,
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
		return nil, llm.WithSpent(err, ledger)
	}
	s.telemetry.count(ctx, fixed.Edits)
	return &verifierv1.VerifyResponse{
		FixedGraph: fixed.FixedGraph, Edits: fixed.Edits, Mode: used, Usage: ledger.Usage(), Warnings: warnings,
	}, nil
}

// verify runs one mode. Every mode starts from the alignment, which stands
// where the model's output cannot be used, the budget has no call left for it
// or there is nothing to ask about.
func (s *Service) verify(ctx context.Context, req *verifierv1.VerifyRequest, mode verifierv1.VerificationMode, ledger *llm.Ledger) (align.Alignment, verifierv1.VerificationMode, []*llmv1.Warning, error) {
	const alignMode = verifierv1.VerificationMode_VERIFICATION_MODE_ALIGN
	drafts, ground := req.GetPseudoGraph(), req.GetGroundGraph()
	cfg := s.align
	cfg.Whole = answerform.Of(req.GetQuestion(), req.GetForm()) == generatorv1.AnswerForm_ANSWER_FORM_TEXT
	aligned := align.Align(req.GetQuestion(), drafts, ground, cfg)
	if mode == alignMode || len(drafts.GetTriples()) == 0 {
		return aligned, alignMode, nil, nil
	}
	pool := evidence.Order(ground, s.maxShown)
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
		warning := llm.Warn(llm.WarnUnusable, "the model's verification could not be read; the alignment by cosine stands: %v", err)
		return aligned, alignMode, []*llmv1.Warning{warning}, nil
	case errors.Is(err, llm.ErrBudget):
		warning := llm.Warn(llm.WarnBudget, "the model was not asked to verify; the alignment by cosine stands: %v", err)
		return aligned, alignMode, []*llmv1.Warning{warning}, nil
	}
	return fixed, mode, warnings, err
}

// JudgeClaims implements verifierv1.VerifierServiceServer.
func (s *Service) JudgeClaims(ctx context.Context, req *verifierv1.JudgeClaimsRequest) (*verifierv1.JudgeClaimsResponse, error) {
	judgements := judge.Judge(req, s.judge)
	s.telemetry.judged(ctx, judgements)
	return &verifierv1.JudgeClaimsResponse{Judgements: judgements}, nil
}
