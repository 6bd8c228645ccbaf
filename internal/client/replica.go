package client

import (
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc/balancer"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/resolver"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/internal/errinfo"
	errorsv1 "github.com/triplemesh/triplemesh/proto/triplemesh/errors/v1"
)

// The backoff of a replica that failed doubles with each failure in a row.
const (
	minBackoff = time.Second
	maxBackoff = 30 * time.Second
)

// replica is one machine of a service, as one connection sees it.
type replica struct {
	addr string

	mu       sync.Mutex
	inFlight int
	failures int       // in a row
	backoff  time.Time // its end
}

// fail begins a backoff. Calls that fail together count once.
func (r *replica) fail() {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	if now.Before(r.backoff) {
		return
	}
	r.backoff = now.Add(min(minBackoff<<min(r.failures, 10), maxBackoff))
	r.failures++
}

// available reports whether the replica may be sent a call. After its backoff a replica that failed
// gets one call at a time until one succeeds.
func (r *replica) available() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failures == 0 || r.inFlight == 0 && !time.Now().Before(r.backoff)
}

func (r *replica) load() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.inFlight
}

func (r *replica) begin() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.inFlight++
}

// end records how a call ended and reports whether the replica answered it. An error of the service
// is an answer.
func (r *replica) end(info balancer.DoneInfo) (answered bool) {
	r.mu.Lock()
	r.inFlight--
	r.mu.Unlock()
	switch code := status.Code(info.Err); {
	case code == codes.Canceled, code == codes.OK && !info.BytesReceived:
		return false // the caller went away
	case code == codes.DeadlineExceeded && info.BytesReceived:
		return false // it was working
	case code == codes.DeadlineExceeded, code == codes.Unavailable && len(info.Trailer.Get(pushback)) == 0:
		r.fail()
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failures, r.backoff = 0, time.Time{}
	return true
}

// outdated reports whether the server has an older version without the method or service. These
// messages are gRPC's own: a server that has the method uses others for UNIMPLEMENTED.
func outdated(err error) bool {
	st := status.Convert(err)
	return st.Code() == codes.Unimplemented &&
		(strings.HasPrefix(st.Message(), "unknown method ") || strings.HasPrefix(st.Message(), "unknown service "))
}

// explain rewrites errors of gRPC so that they name who must act: the caller for a request that
// cannot be encoded, the operator for a service that is too old.
func explain(err error, method string) error {
	unconnected := status.Code(err) == codes.Unavailable &&
		strings.Contains(status.Convert(err).Message(), "connect: connection refused")
	if !outdated(err) && !unconnected {
		return blameEncoding(err)
	}
	// /triplemesh.generator.v1.GeneratorService/ExtractClaims
	service, call, _ := strings.Cut(strings.TrimPrefix(method, "/"), "/")
	stage := service
	if parts := strings.Split(service, "."); len(parts) > 1 {
		stage = parts[1]
	}
	if unconnected {
		return status.Errorf(codes.Unavailable, "the %s cannot be reached: it is starting, or down; try again", stage)
	}
	st := status.Newf(codes.Unimplemented,
		"the %s does not have %s: its version is older than its caller's; upgrade it first", stage, call)
	if with, failed := st.WithDetails(errinfo.New(errorsv1.ErrorReason_ERROR_REASON_STAGE_OUTDATED,
		map[string]string{"stage": stage, "method": method})); failed == nil {
		st = with
	}
	return st.Err()
}

// listed resolves "host:port,host:port", replicas without a common name.
type listed struct{}

func (listed) Scheme() string { return "listed" }

// OverrideAuthority implements resolver.AuthorityOverrider: the list is not a server's name.
func (listed) OverrideAuthority(t resolver.Target) string {
	first, _, _ := strings.Cut(t.Endpoint(), ",")
	return first
}

func (listed) Build(t resolver.Target, cc resolver.ClientConn, _ resolver.BuildOptions) (resolver.Resolver, error) {
	var all []resolver.Endpoint
	for _, addr := range addresses(t.Endpoint()) {
		all = append(all, resolver.Endpoint{Addresses: []resolver.Address{{Addr: addr}}})
	}
	return listed{}, cc.UpdateState(resolver.State{Endpoints: all})
}

// ResolveNow implements resolver.Resolver. The list does not change.
func (listed) ResolveNow(resolver.ResolveNowOptions) {}

func (listed) Close() {}

func addresses(list string) (all []string) {
	for addr := range strings.SplitSeq(list, ",") {
		if addr = strings.TrimSpace(addr); addr != "" {
			all = append(all, addr)
		}
	}
	return all
}
