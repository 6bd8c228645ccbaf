package client

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"sync"

	"google.golang.org/grpc/balancer"
	"google.golang.org/grpc/balancer/endpointsharding"
	"google.golang.org/grpc/balancer/pickfirst"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/resolver"
	"google.golang.org/grpc/serviceconfig"
	"google.golang.org/grpc/status"
)

// balancerName is what the service config calls the balancer of this package.
const balancerName = "triplemesh_replicas"

// gRPC knows balancers by name, and takes new ones while a program begins only.
func init() { balancer.Register(builder{}) }

type builder struct{}

// Name implements balancer.Builder.
func (builder) Name() string { return balancerName }

// ParseConfig implements balancer.ConfigParser: there is nothing to configure.
func (builder) ParseConfig(json.RawMessage) (serviceconfig.LoadBalancingConfig, error) {
	return struct {
		serviceconfig.LoadBalancingConfig
	}{}, nil
}

// Build implements balancer.Builder.
func (builder) Build(cc balancer.ClientConn, opts balancer.BuildOptions) balancer.Balancer {
	b := &replicas{ClientConn: cc, known: resolver.NewEndpointMap[*replica](), allowance: newAllowance()}
	b.Balancer = endpointsharding.NewBalancer(b, opts, balancer.Get(pickfirst.Name).Build, endpointsharding.Options{})
	return b
}

// replicas spreads the calls of a connection over the machines that say they
// serve: of two chosen by chance, the one with fewer calls under way. In turns it
// would not do: a question makes the same calls in the same order, so that of two
// retrievers one would get every ground graph and the other none.
//
// It differs from gRPC's least_request in what it remembers: which machines a
// call was at already, and which did not do their work of late.
type replicas struct {
	balancer.Balancer   // one below it for each machine
	balancer.ClientConn // above it
	allowance           *allowance

	mu    sync.Mutex
	known *resolver.EndpointMap[*replica]
	ready []member
}

// member is a replica that is connected and serves.
type member struct {
	*replica
	picker balancer.Picker
}

// UpdateClientConnState implements balancer.Balancer. Whether a machine says
// that it serves decides whether it counts as ready.
func (b *replicas) UpdateClientConnState(s balancer.ClientConnState) error {
	return b.Balancer.UpdateClientConnState(balancer.ClientConnState{ResolverState: pickfirst.EnableHealthListener(s.ResolverState)})
}

// UpdateState implements balancer.ClientConn: the machines below have changed.
func (b *replicas) UpdateState(s balancer.State) {
	var ready []member
	there := resolver.NewEndpointMap[*replica]()
	b.mu.Lock()
	for _, child := range endpointsharding.ChildStatesFromPicker(s.Picker) {
		r, ok := b.known.Get(child.Endpoint)
		if !ok {
			r = &replica{}
			for _, a := range child.Endpoint.Addresses[:min(1, len(child.Endpoint.Addresses))] {
				r.addr = a.Addr
			}
		}
		there.Set(child.Endpoint, r)
		if child.State.ConnectivityState == connectivity.Ready {
			ready = append(ready, member{r, child.State.Picker})
		}
	}
	b.known, b.ready = there, ready
	b.mu.Unlock()
	if len(ready) > 0 {
		s = balancer.State{ConnectivityState: connectivity.Ready, Picker: &picker{of: b, ready: ready}}
	}
	b.ClientConn.UpdateState(s)
}

// elsewhere tells whether a machine is ready that is not among those tried, and
// does not rest unless any will do.
func (b *replicas) elsewhere(tried []*replica, any bool) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.ContainsFunc(b.ready, func(m member) bool { return !slices.Contains(tried, m.replica) && (any || m.open()) })
}

// picker chooses among the machines that were ready at one time.
type picker struct {
	of    *replicas
	ready []member
}

// Pick implements balancer.Picker.
func (p *picker) Pick(info balancer.PickInfo) (balancer.PickResult, error) {
	if r := pinned(info.Ctx); r != nil {
		if i := slices.IndexFunc(p.ready, func(m member) bool { return m.replica == r }); i >= 0 {
			return p.ready[i].picker.Pick(info)
		}
		return balancer.PickResult{}, status.Error(codes.Unavailable, "this replica is not connected any more")
	}
	call := triesOf(info.Ctx)
	m := p.choose(call.tried())
	result, err := m.picker.Pick(info)
	if err != nil {
		return result, err
	}
	m.begin()
	call.at(p.of, m.replica)
	done := result.Done
	result.Done = func(info balancer.DoneInfo) {
		if m.end(info) {
			p.of.allowance.earn()
		}
		if done != nil {
			done(info)
		}
	}
	return result, nil
}

// choose takes a machine that the call was not at, if there is one that does not
// rest; else one that it was not at; else any.
func (p *picker) choose(tried []*replica) member {
	fresh := filter(p.ready, func(m member) bool { return !slices.Contains(tried, m.replica) })
	if len(fresh) == 0 {
		fresh = p.ready
	}
	if open := filter(fresh, func(m member) bool { return m.open() }); len(open) > 0 {
		fresh = open
	}
	one, other := fresh[rand.IntN(len(fresh))], fresh[rand.IntN(len(fresh))]
	if other.busy() < one.busy() {
		return other
	}
	return one
}

func filter(all []member, keep func(member) bool) (kept []member) {
	for _, m := range all {
		if keep(m) {
			kept = append(kept, m)
		}
	}
	return kept
}
