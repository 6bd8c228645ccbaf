// Package reflector is the stage that decides on the final answers by the verdicts of both levels
// (Ger §3.4).
package reflector

import (
	"context"

	"google.golang.org/grpc"

	"github.com/triplemesh/triplemesh/internal/llm"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	reflectorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/reflector/v1"
)

// Service answers ReflectorService calls.
type Service struct {
	reflectorv1.UnimplementedReflectorServiceServer

	mode      reflectorv1.ReflectionMode
	llm       llm.Config
	reflector *Reflector
}

// New returns a Service. It calls the model only in the mode model.
func New(cfg Config, model llm.Completer) (*Service, error) {
	mode, err := cfg.mode()
	if err != nil {
		return nil, err
	}
	cfg.Reflection.ReadingShare = cfg.readingShare()
	return &Service{mode: mode, llm: cfg.LLM, reflector: NewReflector(model, cfg.Reflection)}, nil
}

// Register adds the service to a server.
func (s *Service) Register(r grpc.ServiceRegistrar) { reflectorv1.RegisterReflectorServiceServer(r, s) }

// Reflect implements reflectorv1.ReflectorServiceServer.
func (s *Service) Reflect(ctx context.Context, req *reflectorv1.ReflectRequest) (*reflectorv1.ReflectResponse, error) {
	ledger := llm.NewLedger(req.GetLimits())
	verdicts := make(map[string]*graphv1.AnswerVerdict, len(req.GetAnswerVerdicts()))
	for _, v := range req.GetAnswerVerdicts() {
		verdicts[v.GetAnswer()] = v
	}
	mode := req.GetMode()
	if mode == reflectorv1.ReflectionMode_REFLECTION_MODE_UNSPECIFIED {
		mode = s.mode
	}
	outcome, err := s.reflector.Reflect(ctx, mode, Case{
		Question:   req.GetQuestion(),
		Candidates: req.GetCandidates(),
		Paths:      req.GetPaths(),
		Verdict:    req.GetQuestionVerdict(),
		Verdicts:   verdicts,
	}, ledger)
	if err != nil {
		return nil, ledger.AttachUsage(err)
	}
	return &reflectorv1.ReflectResponse{
		Answers:             outcome.Answers,
		Reflections:         outcome.Reflections,
		Reason:              Reason(outcome),
		Usage:               ledger.Usage(),
		Warnings:            outcome.Warnings,
		Mode:                outcome.Mode,
		AnswerProbabilities: outcome.Probabilities,
		ReadingShare:        s.llm.KnownReadingShare(ledger.Model()),
	}, nil
}

// GetReflectionMode implements reflectorv1.ReflectorServiceServer.
func (s *Service) GetReflectionMode(context.Context,
	*reflectorv1.GetReflectionModeRequest) (*reflectorv1.GetReflectionModeResponse, error) {
	return &reflectorv1.GetReflectionModeResponse{Mode: s.mode}, nil
}
