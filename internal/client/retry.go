package client

import (
	"context"
	"fmt"
	"time"

	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// pushback is how a server of this mesh forbids to try again, for what lies
// behind it and was tried again there.
const pushback = "grpc-retry-pushback-ms"

// serviceConfig spreads calls over the replicas. A call is tried again where the
// machine went away, until too many calls need it: a machine that dies takes all
// calls with it that were under way there, so a burst of fifty is still tried
// again. A rollback alone is not: twice is not the same as once.
func serviceConfig(cfg Config) string {
	retry := ""
	if cfg.MaxAttempts > 1 {
		retry = fmt.Sprintf(`,
	"methodConfig": [{
		"name": [{}],
		"retryPolicy": {
			"maxAttempts": %d,
			"initialBackoff": "0.1s",
			"maxBackoff": "1s",
			"backoffMultiplier": 2,
			"retryableStatusCodes": ["UNAVAILABLE"]
		}
	}, {
		"name": [{"service": %q, "method": "Rollback"}]
	}],
	"retryThrottling": {"maxTokens": 100, "tokenRatio": 0.5}`, cfg.MaxAttempts, retrieverv1.KnowledgeGraphService_ServiceDesc.ServiceName)
	}
	return `{
	"loadBalancingConfig": [{"` + balancerName + `": {}}],
	"healthCheckConfig": {"serviceName": ""}` + retry + `
}`
}

// breath is the pause before a call that was lost is made again, as long as
// gRPC's own before a first retry: another replica may not be connected yet.
const breath = 100 * time.Millisecond

// breathe waits for a breath, and tells whether there is still somebody who
// waits for the answer.
func breathe(ctx context.Context) bool {
	timer := time.NewTimer(breath)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// cutShort tells whether an answer had begun when its connection was lost. That
// is where the retries of gRPC end, though the answer is as little known to the
// caller as one that had not begun.
func cutShort(err error, header, trailer metadata.MD) bool {
	return status.Code(err) == codes.Unavailable && len(header) > 0 && len(trailer.Get(pushback)) == 0
}

// Lost tells whether a call ended because nobody answered: its replica died, or
// was left. No stage has said so: what a stage says carries an ErrorInfo.
func Lost(err error) bool {
	st, ok := status.FromError(err)
	if !ok || st.Code() != codes.Unavailable {
		return false
	}
	for _, detail := range st.Details() {
		if _, ok := detail.(*errdetails.ErrorInfo); ok {
			return false
		}
	}
	return true
}
