package client

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/triplemesh/triplemesh/internal/auth"
)

// pushback is the trailer by which a server of this mesh forbids retries: what failed lies behind it
// and was retried there.
const pushback = "grpc-retry-pushback-ms"

// serviceConfig selects the balancer and retries idempotent methods that fail with UNAVAILABLE, as
// when their server goes away. The retry budget allows for that: a server that dies takes all calls
// with it that it was executing, so a burst of fifty is still retried. Health checks change nothing
// and are retried as well.
func serviceConfig(cfg Config) string {
	type method struct {
		Service string `json:"service"`
		Method  string `json:"method,omitempty"`
	}
	sc := map[string]any{
		"loadBalancingConfig": []any{map[string]any{balancerName: struct{}{}}},
		"healthCheckConfig":   map[string]any{"serviceName": ""},
	}
	if cfg.MaxAttempts > 1 {
		names := []method{{Service: grpc_health_v1.Health_ServiceDesc.ServiceName}}
		for service, methods := range auth.IdempotentMethods() {
			for _, m := range methods {
				names = append(names, method{service, m})
			}
		}
		sc["methodConfig"] = []any{map[string]any{
			"name": names,
			"retryPolicy": map[string]any{
				"maxAttempts":          cfg.MaxAttempts,
				"initialBackoff":       "0.1s",
				"maxBackoff":           "1s",
				"backoffMultiplier":    2,
				"retryableStatusCodes": []string{"UNAVAILABLE"},
			},
		}}
		sc["retryThrottling"] = map[string]any{"maxTokens": 100, "tokenRatio": 0.5}
	}
	data, err := json.Marshal(sc)
	if err != nil {
		panic(err) // the value above always marshals
	}
	return string(data)
}

// retryBackoff is the wait before a lost call is retried, as long as that of gRPC's first retry:
// another replica may not be connected yet.
const retryBackoff = 100 * time.Millisecond

// waitBackoff waits for retryBackoff and reports whether ctx has not ended by then.
func waitBackoff(ctx context.Context) bool {
	timer := time.NewTimer(retryBackoff)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// cutShort reports whether the connection was lost after the response had begun. gRPC does not
// retry such a call, although its caller knows as little as if it had not begun.
func cutShort(err error, header, trailer metadata.MD) bool {
	return status.Code(err) == codes.Unavailable && len(header) > 0 && len(trailer.Get(pushback)) == 0
}

// cutShortError marks an error as cutShort for the retry interceptor.
type cutShortError struct{ error }

// GRPCStatus returns the status of the error.
func (e *cutShortError) GRPCStatus() *status.Status { return status.Convert(e.error) }

func isCutShort(err error) bool {
	var cut *cutShortError
	return errors.As(err, &cut)
}

// IsLost reports whether a call ended because its replica died or was abandoned. Errors of a stage
// carry an ErrorInfo and are not lost calls.
func IsLost(err error) bool {
	st, ok := status.FromError(err)
	if !ok || st.Code() != codes.Unavailable {
		return false
	}
	return !slices.ContainsFunc(st.Details(), func(detail any) bool {
		_, ok := detail.(*errdetails.ErrorInfo)
		return ok
	})
}

// The throttle acts when more than a third of the recent calls were refused, and they were so many
// that refusing them costs the server something.
const (
	sentPerAdmitted   = 1.5 // calls sent for each one that the server admits
	minThrottledCalls = 50
	throttleDecay     = 500 * time.Millisecond // after which a call counts for 1/e
	maxUnsentShare    = .9                     // the rest probe whether there is room again
)

// throttle refuses calls without sending them while their server refuses many: what the server
// spends on refusals it lacks for answers. More calls are sent than are admitted, so that the server
// keeps deciding which, and the client notices when there is room again (client-side throttling;
// Beyer et al., Site Reliability Engineering, ch. 21, with a factor of 2). Calls count when they end.
// It is safe for concurrent use; a nil throttle refuses nothing.
type throttle struct {
	mu                sync.Mutex
	updated           time.Time
	admitted, refused float64
	lastRefusal       *status.Status
}

// admit returns an error, with the server's last refusal, if a call must not be sent.
func (t *throttle) admit() error {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.decay(time.Now())
	calls := t.admitted + t.refused
	if calls < minThrottledCalls || rand.Float64() >= min(maxUnsentShare, 1-sentPerAdmitted*t.admitted/calls) {
		return nil
	}
	t.refused++
	return &unsentError{t.lastRefusal}
}

// record counts a call that was sent.
func (t *throttle) record(err error) {
	if t == nil {
		return
	}
	refused := status.Code(err) == codes.ResourceExhausted && HasRetryInfo(err)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.decay(time.Now())
	if refused {
		t.refused++
		t.lastRefusal = status.Convert(err)
	} else {
		t.admitted++
	}
}

// decay reduces the counts by the time passed. t.mu is held.
func (t *throttle) decay(now time.Time) {
	left := math.Exp(-now.Sub(t.updated).Seconds() / throttleDecay.Seconds())
	t.admitted *= left
	t.refused *= left
	t.updated = now
}

// HasRetryInfo reports whether an error says when to retry.
func HasRetryInfo(err error) bool {
	return slices.ContainsFunc(status.Convert(err).Proto().GetDetails(),
		func(detail *anypb.Any) bool { return detail.MessageIs((*errdetails.RetryInfo)(nil)) })
}

// unsentError is a refusal by the client, with the server's last refusal.
type unsentError struct{ last *status.Status }

func (e *unsentError) Error() string {
	return "not sent, as most calls are refused: " + e.last.Err().Error()
}
func (e *unsentError) GRPCStatus() *status.Status { return e.last }

// IsUnsent reports whether the client refused a call itself because of its server's refusals.
func IsUnsent(err error) bool {
	var unsent *unsentError
	return errors.As(err, &unsent)
}
