package client

import (
	"strings"

	"google.golang.org/grpc/resolver"
)

// listed resolves "host:port,host:port": replicas that no name stands for.
type listed struct{}

// Scheme implements resolver.Builder.
func (listed) Scheme() string { return "listed" }

// OverrideAuthority implements resolver.AuthorityOverrider: the list is no name
// that a server could have.
func (listed) OverrideAuthority(t resolver.Target) string {
	first, _, _ := strings.Cut(t.Endpoint(), ",")
	return first
}

// Build implements resolver.Builder.
func (listed) Build(t resolver.Target, cc resolver.ClientConn, _ resolver.BuildOptions) (resolver.Resolver, error) {
	var all []resolver.Endpoint
	for _, addr := range addresses(t.Endpoint()) {
		all = append(all, resolver.Endpoint{Addresses: []resolver.Address{{Addr: addr}}})
	}
	return listed{}, cc.UpdateState(resolver.State{Endpoints: all})
}

// ResolveNow implements resolver.Resolver: the list stays as it is.
func (listed) ResolveNow(resolver.ResolveNowOptions) {}

// Close implements resolver.Resolver.
func (listed) Close() {}

// addresses are those of a list.
func addresses(list string) (all []string) {
	for addr := range strings.SplitSeq(list, ",") {
		if addr = strings.TrimSpace(addr); addr != "" {
			all = append(all, addr)
		}
	}
	return all
}
