package sim

import (
	"strings"

	"google.golang.org/grpc/resolver"
)

// listed resolves sim:///A,B to A and B.
type listed struct{}

// Scheme implements resolver.Builder.
func (listed) Scheme() string { return "sim" }

// Build implements resolver.Builder.
func (listed) Build(target resolver.Target, cc resolver.ClientConn,
	_ resolver.BuildOptions) (resolver.Resolver, error) {
	var state resolver.State
	for addr := range strings.SplitSeq(target.Endpoint(), ",") {
		state.Addresses = append(state.Addresses, resolver.Address{Addr: addr})
	}
	return listed{}, cc.UpdateState(state)
}

// ResolveNow implements resolver.Resolver.
func (listed) ResolveNow(resolver.ResolveNowOptions) {}

// Close implements resolver.Resolver.
func (listed) Close() {}
