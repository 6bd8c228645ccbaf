package orchestrator

import (
	"context"

	"go.opentelemetry.io/otel/trace"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/internal/server"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
	"github.com/triplemesh/triplemesh/services/orchestrator/runs"
)

// turn is what a caller was let in to do: one of their tenant's questions.
type turn struct {
	caller auth.Caller
	// kept are the tenant's runs.
	kept runs.Store
	// purse is what may be spent of the tenant's quotas.
	purse question.Purse
	// end must be called when it is done.
	end func()
}

// begin lets a caller in as far as their tenant's quotas do.
func (s *Service) begin(ctx context.Context) (turn, error) {
	caller, kept, err := s.whose(ctx)
	if err != nil {
		return turn{}, err
	}
	trace.SpanFromContext(ctx).SetAttributes(caller.Tenant.Attribute())
	purse, err := s.quotas.Begin(caller.Tenant)
	if err != nil {
		s.metrics.refused(ctx, err)
		return turn{}, err
	}
	counted := s.metrics.running(ctx, caller.Tenant)
	server.AtWork(ctx)
	return turn{
		caller: caller, kept: kept, purse: s.metrics.metered(ctx, caller.Tenant, purse),
		end: func() {
			purse.End()
			counted()
		},
	}, nil
}
