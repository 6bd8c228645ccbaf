package quota

import (
	"fmt"
	"strconv"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/tenant"
)

// Reason is that of a refusal's ErrorInfo.
const Reason = "QUOTA_EXCEEDED"

// Exceeded says that a tenant has used up a quota. It is an llm.ErrBudget too:
// a question under way goes on without, as with a budget of its own.
type Exceeded struct {
	Tenant tenant.ID
	// Quota is its name.
	Quota string
	// Used is what counts against it now, and Limit the most.
	Used, Limit float64
	// Retry is when there is room again.
	Retry time.Duration
}

func (e *Exceeded) Error() string {
	when := map[string]string{
		QuestionsPerMinute: "questions in the last minute",
		QuestionsPerDay:    "questions today",
		TokensPerDay:       "tokens today",
		CostUSDPerDay:      "US dollars today",
		ConcurrentRuns:     "questions under way",
	}[e.Quota]
	return fmt.Sprintf("tenant %s has used up its quota %s: %s of %s %s. Ask again in %s; `triplemesh quota` shows what is used, and whoever runs the mesh can raise it",
		e.Tenant, e.Quota, number(e.Used), number(e.Limit), when, e.Retry)
}

// Is tells that it is a budget that ran out.
func (e *Exceeded) Is(target error) bool { return target == llm.ErrBudget }

// GRPCStatus is RESOURCE_EXHAUSTED, with when to try again.
func (e *Exceeded) GRPCStatus() *status.Status {
	st := status.New(codes.ResourceExhausted, e.Error())
	with, err := st.WithDetails(
		&errdetails.ErrorInfo{Domain: "triplemesh", Reason: Reason, Metadata: map[string]string{
			"quota": e.Quota, "limit": number(e.Limit), "used": number(e.Used), "tenant": e.Tenant.String(),
		}},
		&errdetails.RetryInfo{RetryDelay: durationpb.New(e.Retry)},
		&errdetails.QuotaFailure{Violations: []*errdetails.QuotaFailure_Violation{{
			Subject: "tenant:" + e.Tenant.String(), Description: fmt.Sprintf("%s: %s of %s", e.Quota, number(e.Used), number(e.Limit)),
		}}},
	)
	if err != nil {
		return st
	}
	return with
}

// number writes counts in full and money with what it has of cents.
func number(v float64) string {
	text := strconv.FormatFloat(v, 'f', -1, 64)
	if v != float64(int64(v)) {
		text = strconv.FormatFloat(v, 'f', 4, 64)
	}
	return text
}
