package client

import (
	"fmt"

	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"google.golang.org/grpc/balancer/leastrequest"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// pushback is how a server of this mesh forbids to try again, for what lies
// behind it and was tried again there.
const pushback = "grpc-retry-pushback-ms"

// serviceConfig spreads calls over the machines that say they serve: of two
// chosen by chance, the one with fewer calls under way. In turns it would not do:
// a question makes the same calls in the same order, so that of two retrievers
// one would get every ground graph and the other none.
//
// A call is tried again where the machine went away, until too many calls need
// it: a machine that dies takes all calls with it that were under way there, so
// a burst of fifty is still tried again. A rollback alone is not: twice is not
// the same as once.
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
	"loadBalancingConfig": [{"` + leastrequest.Name + `": {"choiceCount": 2}}],
	"healthCheckConfig": {"serviceName": ""}` + retry + `
}`
}

// cutShort tells whether an answer had begun when its connection was lost. That
// is where the retries of gRPC end, though the answer is as little known to the
// caller as one that had not begun.
func cutShort(err error, header, trailer metadata.MD) bool {
	return status.Code(err) == codes.Unavailable && len(header) > 0 && len(trailer.Get(pushback)) == 0
}
