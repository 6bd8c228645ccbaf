package orchestrator

import (
	"context"

	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
)

// ProposeTriples implements orchestratorv1.OrchestratorServiceServer. A passage
// counts as one question for its tenant's quotas, and is not kept as a run.
func (s *Service) ProposeTriples(ctx context.Context, req *orchestratorv1.ProposeTriplesRequest) (*orchestratorv1.ProposeTriplesResponse, error) {
	turn, err := s.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer turn.end()
	q := question.New(&orchestratorv1.AskRequest{Limits: req.GetLimits()}, &orchestratorv1.Run{}, s.tel.Tracer(), nil).Within(turn.purse)
	var read *generatorv1.ExtractClaimsResponse
	err = q.Stage(ctx, orchestratorv1.Stage_STAGE_CLAIMS, func(ctx context.Context) (question.Spent, error) {
		limits, err := q.Limits()
		if err != nil {
			return nil, err
		}
		read, err = s.stages.Generator.ExtractClaims(ctx, &generatorv1.ExtractClaimsRequest{Text: req.GetText(), Context: req.GetContext(), Limits: limits})
		return read, err
	})
	if err != nil {
		return nil, err
	}
	return &orchestratorv1.ProposeTriplesResponse{Triples: proposed(read), Usage: read.GetUsage(), Warnings: read.GetWarnings()}, nil
}

// proposed are the claims that a text makes: what it denies is no fact.
func proposed(read *generatorv1.ExtractClaimsResponse) (all []*orchestratorv1.ProposedTriple) {
	for _, c := range read.GetClaims() {
		if !c.GetNegated() {
			all = append(all, &orchestratorv1.ProposedTriple{Triple: c.GetTriple(), Span: c.GetSpan()})
		}
	}
	return all
}
