// Package generator is the stage that writes pseudo-graphs, relation paths, candidate answers,
// claims and answers.
package generator

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/internal/llm"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	"github.com/triplemesh/triplemesh/services/generator/answer"
	"github.com/triplemesh/triplemesh/services/generator/candidates"
	"github.com/triplemesh/triplemesh/services/generator/claims"
	"github.com/triplemesh/triplemesh/services/generator/followup"
	"github.com/triplemesh/triplemesh/services/generator/paths"
	"github.com/triplemesh/triplemesh/services/generator/pseudograph"
	"github.com/triplemesh/triplemesh/services/generator/query"
)

// Service answers GeneratorService calls.
type Service struct {
	generatorv1.UnimplementedGeneratorServiceServer

	maxPaths   int
	drafts     *pseudograph.Planner
	paths      *paths.Planner
	candidates *candidates.Reader
	answers    *answer.Writer
	claims     *claims.Reader
	followUps  *followup.Writer
	queries    *query.Planner
	words      *paths.WordFinder
}

// New returns a Service that writes with model.
func New(cfg Config, model llm.Completer) *Service {
	return &Service{
		maxPaths:   cfg.MaxPaths,
		drafts:     pseudograph.New(model, cfg.PseudoGraph),
		paths:      paths.New(model, cfg.RelationPaths),
		candidates: candidates.New(model, cfg.Candidates),
		answers:    answer.New(model, cfg.Answer),
		claims:     claims.New(model, cfg.Claims),
		followUps:  followup.New(model, cfg.FollowUps),
		queries:    query.New(model, cfg.QueryPlan),
		words:      paths.NewWordFinder(model),
	}
}

// Register adds the service to a server.
func (s *Service) Register(r grpc.ServiceRegistrar) { generatorv1.RegisterGeneratorServiceServer(r, s) }

// GeneratePseudoGraph implements generatorv1.GeneratorServiceServer.
func (s *Service) GeneratePseudoGraph(ctx context.Context,
	req *generatorv1.GeneratePseudoGraphRequest) (*generatorv1.GeneratePseudoGraphResponse, error) {
	ledger := llm.NewLedger(req.GetLimits())
	p, err := s.drafts.PseudoGraph(ctx, req.GetQuestion(), ledger)
	if err != nil {
		return nil, ledger.AttachUsage(err)
	}
	return &generatorv1.GeneratePseudoGraphResponse{
		PseudoGraph: p.PseudoGraph,
		Cypher:      p.Cypher,
		Diagnostics: p.Diagnostics,
		Usage:       ledger.Usage(),
		Warnings:    p.Warnings,
	}, nil
}

// GenerateRelationPaths implements generatorv1.GeneratorServiceServer.
func (s *Service) GenerateRelationPaths(ctx context.Context,
	req *generatorv1.GenerateRelationPathsRequest) (*generatorv1.GenerateRelationPathsResponse, error) {
	ledger := llm.NewLedger(req.GetLimits())
	limit := s.maxPaths
	if n := int(req.GetMaxPaths()); n > 0 {
		limit = n
	}
	resp := &generatorv1.GenerateRelationPathsResponse{}
	var err error
	if existing := req.GetExisting(); len(existing) > 0 {
		resp.Paths, resp.Warnings, err = s.paths.Choose(ctx, req.GetQuestion(), existing, limit, ledger)
	} else {
		resp.Paths, resp.Warnings, err = s.paths.Propose(ctx, req.GetQuestion(), req.GetTopicEntities(), limit, ledger)
	}
	if err != nil {
		return nil, ledger.AttachUsage(err)
	}
	resp.Usage = ledger.Usage()
	return resp, nil
}

// GenerateQueryPlan implements generatorv1.GeneratorServiceServer.
func (s *Service) GenerateQueryPlan(ctx context.Context,
	req *generatorv1.GenerateQueryPlanRequest) (*generatorv1.GenerateQueryPlanResponse, error) {
	ledger := llm.NewLedger(req.GetLimits())
	var p query.Plan
	var err error
	switch {
	case req.GetDraft() != "":
		if p, err = query.Read(req.GetDraft()); err != nil {
			return nil, status.Error(codes.InvalidArgument, err.Error())
		}
	case len(req.GetSchema()) > 0:
		p, err = s.queries.PlanBySchema(ctx, req.GetQuestion(), req.GetSchema(), ledger)
	default:
		p, err = s.queries.Plan(ctx, req.GetQuestion(), ledger)
	}
	if err != nil {
		return nil, ledger.AttachUsage(err)
	}
	return &generatorv1.GenerateQueryPlanResponse{Plan: p.Plan, Draft: p.Draft, Edits: p.Edits, Usage: ledger.Usage(),
		Warnings: p.Warnings}, nil
}

// GenerateCandidateAnswers implements generatorv1.GeneratorServiceServer.
func (s *Service) GenerateCandidateAnswers(ctx context.Context,
	req *generatorv1.GenerateCandidateAnswersRequest) (*generatorv1.GenerateCandidateAnswersResponse, error) {
	ledger := llm.NewLedger(req.GetLimits())
	candidates, warnings, err := s.candidates.Read(ctx, req.GetQuestion(), req.GetPaths(), req.GetFeedback(), ledger)
	if err != nil {
		return nil, ledger.AttachUsage(err)
	}
	return &generatorv1.GenerateCandidateAnswersResponse{Candidates: candidates, Usage: ledger.Usage(),
		Warnings: warnings}, nil
}

// ExtractClaims implements generatorv1.GeneratorServiceServer.
func (s *Service) ExtractClaims(ctx context.Context,
	req *generatorv1.ExtractClaimsRequest) (*generatorv1.ExtractClaimsResponse, error) {
	ledger := llm.NewLedger(req.GetLimits())
	claims, warnings, err := s.claims.Read(ctx, req.GetText(), req.GetContext(), ledger)
	if err != nil {
		return nil, ledger.AttachUsage(err)
	}
	return &generatorv1.ExtractClaimsResponse{Claims: claims, Usage: ledger.Usage(), Warnings: warnings}, nil
}

// GenerateAnswer implements generatorv1.GeneratorServiceServer.
func (s *Service) GenerateAnswer(ctx context.Context,
	req *generatorv1.GenerateAnswerRequest) (*generatorv1.GenerateAnswerResponse, error) {
	return s.answer(ctx, req, nil)
}

// GenerateAnswerStream implements generatorv1.GeneratorServiceServer.
func (s *Service) GenerateAnswerStream(req *generatorv1.GenerateAnswerStreamRequest,
	stream grpc.ServerStreamingServer[generatorv1.GenerateAnswerStreamResponse]) error {
	// A client that disconnects cancels the stream's context and with it the model call, so errors
	// of Send can be ignored here.
	delta := func(text string) {
		_ = stream.Send(&generatorv1.GenerateAnswerStreamResponse{
			Event: &generatorv1.GenerateAnswerStreamResponse_Delta{Delta: text},
		})
	}
	resp, err := s.answer(stream.Context(), req.GetRequest(), delta)
	if err != nil {
		return err
	}
	return stream.Send(&generatorv1.GenerateAnswerStreamResponse{
		Event: &generatorv1.GenerateAnswerStreamResponse_Answer{Answer: resp},
	})
}

func (s *Service) answer(ctx context.Context, req *generatorv1.GenerateAnswerRequest,
	delta func(string)) (*generatorv1.GenerateAnswerResponse, error) {
	ledger := llm.NewLedger(req.GetLimits())
	a, err := s.answers.Write(ctx, answer.Request{
		Question:    req.GetQuestion(),
		Style:       req.GetStyle(),
		Form:        req.GetForm(),
		FixedGraph:  req.GetFixedGraph(),
		Paths:       req.GetPaths(),
		Temperature: req.GetTemperature(),
		Seed:        req.GetSeed(),
		Delta:       delta,
	}, ledger)
	if err != nil {
		return nil, ledger.AttachUsage(err)
	}
	return &generatorv1.GenerateAnswerResponse{
		Text: a.Text, Form: a.Form, Answers: a.Entities, Probability: a.Probability, Usage: ledger.Usage(),
		Warnings: a.Warnings,
	}, nil
}

// RewriteQuestion implements generatorv1.GeneratorServiceServer.
func (s *Service) RewriteQuestion(ctx context.Context,
	req *generatorv1.RewriteQuestionRequest) (*generatorv1.RewriteQuestionResponse, error) {
	ledger := llm.NewLedger(req.GetLimits())
	question, warnings, err := s.followUps.Rewrite(ctx, req.GetQuestion(), req.GetHistory(), ledger)
	if err != nil {
		return nil, ledger.AttachUsage(err)
	}
	return &generatorv1.RewriteQuestionResponse{
		Question: question, Changed: question != req.GetQuestion(), Usage: ledger.Usage(), Warnings: warnings,
	}, nil
}

// GenerateRelationWords implements generatorv1.GeneratorServiceServer.
func (s *Service) GenerateRelationWords(ctx context.Context,
	req *generatorv1.GenerateRelationWordsRequest) (*generatorv1.GenerateRelationWordsResponse, error) {
	ledger := llm.NewLedger(req.GetLimits())
	found, warnings, err := s.words.Find(ctx, req.GetExamples(), ledger)
	if err != nil {
		return nil, ledger.AttachUsage(err)
	}
	return &generatorv1.GenerateRelationWordsResponse{Words: found, Usage: ledger.Usage(), Warnings: warnings}, nil
}
