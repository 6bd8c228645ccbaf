// Package evaluator is the stage that judges candidates as a set and one by one (Ger §3.3), ranks
// relations and entities, and decides whether paths suffice (ToG).
package evaluator

import (
	"context"
	"errors"

	"google.golang.org/grpc"

	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/server"
	"github.com/triplemesh/triplemesh/internal/telemetry"
	evaluatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/evaluator/v1"
)

// defaultRanked is the default number of candidates that are kept: ToG's beam width.
const defaultRanked = 3

// Service answers EvaluatorService calls.
type Service struct {
	evaluatorv1.UnimplementedEvaluatorServiceServer

	judge  *Judge
	ranker *Ranker
}

// New returns a Service that judges with model.
func New(cfg Config, model llm.Completer) *Service {
	return &Service{judge: NewJudge(model, cfg.Verdict), ranker: NewRanker(model)}
}

// Register adds the service to a server.
func (s *Service) Register(r grpc.ServiceRegistrar) { evaluatorv1.RegisterEvaluatorServiceServer(r, s) }

// EvaluateQuestion implements evaluatorv1.EvaluatorServiceServer.
func (s *Service) EvaluateQuestion(ctx context.Context,
	req *evaluatorv1.EvaluateQuestionRequest) (*evaluatorv1.EvaluateQuestionResponse, error) {
	ledger := llm.NewLedger(req.GetLimits())
	v, warnings, err := s.judge.Question(ctx, req.GetQuestion(), req.GetCandidates(), req.GetPaths(), ledger)
	if err != nil {
		return nil, ledger.AttachUsage(err)
	}
	return &evaluatorv1.EvaluateQuestionResponse{Verdict: v, Usage: ledger.Usage(), Warnings: warnings}, nil
}

// EvaluateAnswers implements evaluatorv1.EvaluatorServiceServer.
func (s *Service) EvaluateAnswers(ctx context.Context,
	req *evaluatorv1.EvaluateAnswersRequest) (*evaluatorv1.EvaluateAnswersResponse, error) {
	ledger := llm.NewLedger(req.GetLimits())
	judge := s.judge.Answers
	if req.GetByRelation() {
		judge = s.judge.Relations
	}
	verdicts, warnings, err := judge(ctx, req.GetQuestion(), req.GetCandidates(), ledger)
	if err != nil {
		return nil, ledger.AttachUsage(err)
	}
	return &evaluatorv1.EvaluateAnswersResponse{Verdicts: verdicts, Usage: ledger.Usage(), Warnings: warnings}, nil
}

// RankCandidates implements evaluatorv1.EvaluatorServiceServer.
func (s *Service) RankCandidates(ctx context.Context,
	req *evaluatorv1.RankCandidatesRequest) (*evaluatorv1.RankCandidatesResponse, error) {
	ledger := llm.NewLedger(req.GetLimits())
	limit := defaultRanked
	if n := int(req.GetLimit()); n > 0 {
		limit = n
	}
	ranked, warnings, err := s.ranker.Rank(ctx, req.GetQuestion(), req.GetContext(), req.GetCandidates(), limit, ledger)
	if err != nil {
		return nil, ledger.AttachUsage(err)
	}
	return &evaluatorv1.RankCandidatesResponse{Ranked: ranked, Usage: ledger.Usage(), Warnings: warnings}, nil
}

// JudgeSufficiency implements evaluatorv1.EvaluatorServiceServer.
func (s *Service) JudgeSufficiency(ctx context.Context,
	req *evaluatorv1.JudgeSufficiencyRequest) (*evaluatorv1.JudgeSufficiencyResponse, error) {
	ledger := llm.NewLedger(req.GetLimits())
	answer, warnings, err := s.judge.Sufficient(ctx, req.GetQuestion(), req.GetPaths(), ledger)
	if err != nil {
		return nil, ledger.AttachUsage(err)
	}
	return &evaluatorv1.JudgeSufficiencyResponse{
		Sufficient: answer.Known && answer.Yes, Probability: answer.Probability, Usage: ledger.Usage(),
		Warnings: warnings,
	}, nil
}

// Config holds the settings of the evaluator.
type Config struct {
	Server    server.Config    `koanf:"server"`
	Telemetry telemetry.Config `koanf:"telemetry"`
	LLM       llm.Config       `koanf:"llm"`
	// Verdict bounds what the judge sees and writes.
	Verdict JudgeConfig `koanf:"verdict"`
}

// DefaultConfig serves on port 9094.
func DefaultConfig() Config {
	return Config{
		Server:    server.DefaultConfig("127.0.0.1:9094"),
		Telemetry: telemetry.DefaultConfig(),
		LLM:       llm.DefaultConfig(),
		Verdict:   DefaultJudgeConfig(),
	}
}

// Validate returns an error that names the first invalid setting.
func (c Config) Validate() error {
	v := c.Verdict
	if min(v.Parallel, v.MaxGroups, v.MaxEnds, v.MaxPaths, v.QuestionTokens, v.YesNoTokens) < 1 ||
		v.ThinkingTokens < 0 {
		return errors.New("the numbers under verdict must be at least 1, thinking_tokens at least 0")
	}
	return nil
}

// Run serves until ctx ends.
func Run(ctx context.Context, cfg Config) error {
	return server.Run(ctx, "evaluator", cfg.Telemetry, cfg.Server, func(tel *telemetry.Telemetry) (server.Service,
		error) {
		completer, err := llm.New(cfg.LLM, tel)
		if err != nil {
			return nil, err
		}
		return New(cfg, completer), nil
	})
}
