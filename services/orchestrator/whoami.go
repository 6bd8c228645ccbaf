package orchestrator

import (
	"context"

	"google.golang.org/protobuf/types/known/timestamppb"

	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// GetQuota implements orchestratorv1.OrchestratorServiceServer.
func (s *Service) GetQuota(ctx context.Context, _ *orchestratorv1.GetQuotaRequest) (*orchestratorv1.GetQuotaResponse, error) {
	caller, _, err := s.whose(ctx)
	if err != nil {
		return nil, err
	}
	resp := &orchestratorv1.GetQuotaResponse{Tenant: caller.Tenant.String(), Subject: caller.Subject, Scopes: caller.Scopes}
	for _, state := range s.quotas.Of(caller.Tenant) {
		q := &orchestratorv1.Quota{Name: state.Name, Limit: state.Limit, Used: state.Used}
		if !state.Resets.IsZero() {
			q.Resets = timestamppb.New(state.Resets)
		}
		resp.Quotas = append(resp.Quotas, q)
	}
	return resp, nil
}
