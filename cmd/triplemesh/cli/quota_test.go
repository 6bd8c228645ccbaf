package cli

import (
	"context"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	authv1 "github.com/triplemesh/triplemesh/proto/triplemesh/auth/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

func (s *services) GetQuota(context.Context,
	*orchestratorv1.GetQuotaRequest) (*orchestratorv1.GetQuotaResponse, error) {
	return quotas(time.Now().Add(time.Hour)), s.err
}

func quotas(at time.Time) *orchestratorv1.GetQuotaResponse {
	return &orchestratorv1.GetQuotaResponse{
		Tenant: "acme", Subject: "ci\x1b[31m", Scopes: []authv1.Scope{authv1.Scope_SCOPE_ASK,
			authv1.Scope_SCOPE_KG_READ},
		Quotas: []*orchestratorv1.Quota{
			{Name: "questions_per_minute", Limit: 10},
			{Name: "tokens_per_day", Limit: 1e6, Used: 123456, ResetTime: timestamppb.New(at)},
			{Name: "cost_usd_per_day", Used: 0.25, ResetTime: timestamppb.New(at)},
			{Name: "concurrent_runs", Limit: 2, Used: 1},
		},
	}
}

func TestQuota(t *testing.T) {
	s := serve(t, &services{})
	triplemesh(t, nil, "", "quota", "--server", s.addr).Expect(t, ExitOK, "acme", "ask, kg:read", "123456")
	triplemesh(t, nil, "", "quota", "--json", "--server", s.addr).Expect(t, ExitOK, `"tenant"`, `"tokens_per_day"`)
	old := serve(t, &services{err: status.Error(codes.Unimplemented, "unknown method GetQuota")})
	triplemesh(t, nil, "", "quota", "--server", old.addr).Expect(t, ExitFailed, "another version")
}

func TestPrintQuota(t *testing.T) {
	now := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	var out strings.Builder
	if err := printQuota(&out, quotas(now.Add(14*time.Hour)), now); err != nil {
		t.Fatal(err)
	}
	want := `tenant   acme
subject  ci\u001b[31m
scopes   ask, kg:read

quota                 used    of        resets
questions_per_minute  0       10        -
tokens_per_day        123456  1000000   in 14h0m0s
cost_usd_per_day      0.2500  no bound  in 14h0m0s
concurrent_runs       1       2         -
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}
