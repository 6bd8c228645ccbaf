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

// balancerName selects the balancer of this package in a service config.
const balancerName = "triplemesh_replicas"

// Balancers must be registered at init time.
func init() { balancer.Register(builder{}) }

type builder struct{}

func (builder) Name() string { return balancerName }

// ParseConfig implements balancer.ConfigParser. The balancer has no settings.
func (builder) ParseConfig(json.RawMessage) (serviceconfig.LoadBalancingConfig, error) {
	return struct {
		serviceconfig.LoadBalancingConfig
	}{}, nil
}

func (builder) Build(cc balancer.ClientConn, opts balancer.BuildOptions) balancer.Balancer {
	b := &replicas{ClientConn: cc, byEndpoint: resolver.NewEndpointMap[*replica](), hedges: newHedgeBudget()}
	b.Balancer = endpointsharding.NewBalancer(b, opts, balancer.Get(pickfirst.Name).Build, endpointsharding.Options{})
	return b
}

// replicas balances the calls of a connection over the healthy replicas: of two chosen at random,
// the one with fewer calls in flight. Round robin would not do: a question makes the same calls in
// the same order, so one of two retrievers would get every ground graph and the other none.
//
// Unlike gRPC's least_request it remembers which replicas a call has been at, and which failed
// recently.
type replicas struct {
	balancer.Balancer   // the child, with a balancer for each replica
	balancer.ClientConn // the parent
	hedges              *hedgeBudget

	mu         sync.Mutex
	byEndpoint *resolver.EndpointMap[*replica]
	ready      []member
}

// member is a replica that is connected and healthy.
type member struct {
	*replica
	picker balancer.Picker
}

// UpdateClientConnState implements balancer.Balancer. Only healthy replicas count as ready.
func (b *replicas) UpdateClientConnState(s balancer.ClientConnState) error {
	return b.Balancer.UpdateClientConnState(balancer.ClientConnState{ResolverState: pickfirst.EnableHealthListener(
		s.ResolverState)})
}

// UpdateState implements balancer.ClientConn: the state of the replicas has changed.
func (b *replicas) UpdateState(s balancer.State) {
	var ready []member
	byEndpoint := resolver.NewEndpointMap[*replica]()
	b.mu.Lock()
	for _, child := range endpointsharding.ChildStatesFromPicker(s.Picker) {
		r, ok := b.byEndpoint.Get(child.Endpoint)
		if !ok {
			r = &replica{}
			for _, a := range child.Endpoint.Addresses[:min(1, len(child.Endpoint.Addresses))] {
				r.addr = a.Addr
			}
		}
		byEndpoint.Set(child.Endpoint, r)
		if child.State.ConnectivityState == connectivity.Ready {
			ready = append(ready, member{r, child.State.Picker})
		}
	}
	b.byEndpoint, b.ready = byEndpoint, ready
	b.mu.Unlock()
	if len(ready) > 0 {
		s = balancer.State{ConnectivityState: connectivity.Ready, Picker: &picker{replicas: b, ready: ready}}
	}
	b.ClientConn.UpdateState(s)
}

// hasAlternative reports whether a replica is ready that is not among those visited, and available
// unless backingOff allows one that is not.
func (b *replicas) hasAlternative(visited []*replica, backingOff bool) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.ContainsFunc(b.ready, func(m member) bool {
		return !slices.Contains(visited, m.replica) && (backingOff || m.available())
	})
}

// picker picks among the replicas that were ready when it was made.
type picker struct {
	replicas *replicas
	ready    []member
}

func (p *picker) Pick(info balancer.PickInfo) (balancer.PickResult, error) {
	if r := pinned(info.Ctx); r != nil {
		if i := slices.IndexFunc(p.ready, func(m member) bool { return m.replica == r }); i >= 0 {
			return p.ready[i].picker.Pick(info)
		}
		return balancer.PickResult{}, status.Error(codes.Unavailable, "the replica is no longer connected")
	}
	call := attemptsOf(info.Ctx)
	m := p.choose(call.list())
	result, err := m.picker.Pick(info)
	if err != nil {
		return result, err
	}
	m.begin()
	call.add(p.replicas, m.replica)
	done := result.Done
	result.Done = func(info balancer.DoneInfo) {
		if m.end(info) {
			p.replicas.hedges.earn()
		}
		if done != nil {
			done(info)
		}
	}
	return result, nil
}

// choose prefers an available replica that the call has not visited, then any that it has not
// visited, then any.
func (p *picker) choose(visited []*replica) member {
	candidates := filter(p.ready, func(m member) bool { return !slices.Contains(visited, m.replica) })
	if len(candidates) == 0 {
		candidates = p.ready
	}
	if available := filter(candidates, func(m member) bool { return m.available() }); len(available) > 0 {
		candidates = available
	}
	one, other := candidates[rand.IntN(len(candidates))], candidates[rand.IntN(len(candidates))]
	if other.load() < one.load() {
		return other
	}
	return one
}

func filter(all []member, keep func(member) bool) (matching []member) {
	for _, m := range all {
		if keep(m) {
			matching = append(matching, m)
		}
	}
	return matching
}
