package kubernetes

import (
	"maps"
	"net"
	"slices"
	"strconv"
)

// What is read of an EndpointSlice (discovery.k8s.io/v1).
type (
	endpointSlice struct {
		Metadata  metadata   `json:"metadata"`
		Endpoints []endpoint `json:"endpoints"`
		Ports     []port     `json:"ports"`
	}
	metadata struct {
		Name            string `json:"name"`
		ResourceVersion string `json:"resourceVersion"`
	}
	endpoint struct {
		Addresses  []string   `json:"addresses"`
		Conditions conditions `json:"conditions"`
	}
	// conditions that are missing count as true, but terminating, which counts
	// as false.
	conditions struct {
		Ready       *bool `json:"ready"`
		Serving     *bool `json:"serving"`
		Terminating *bool `json:"terminating"`
	}
	port struct {
		Name string `json:"name"`
		Port int    `json:"port"`
	}
)

func (c conditions) takesCalls() bool {
	return (c.Ready == nil || *c.Ready) && (c.Serving == nil || *c.Serving) && (c.Terminating == nil || !*c.Terminating)
}

// known is every EndpointSlice of a service by name: a large service has
// several, and while one is written anew a pod may stand in two.
type known map[string]endpointSlice

// addresses are host:port of the pods that take calls, each once, in order.
func (k known) addresses(want string) []string {
	found := map[string]bool{}
	for _, slice := range k {
		number := slice.number(want)
		if number == "" {
			continue
		}
		for _, e := range slice.Endpoints {
			// All addresses of an endpoint are the same pod; the first is enough.
			if e.Conditions.takesCalls() && len(e.Addresses) > 0 {
				found[net.JoinHostPort(e.Addresses[0], number)] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// number is the pods' port: want itself, or the one that has it as its name.
func (s endpointSlice) number(want string) string {
	if _, err := strconv.Atoi(want); err == nil {
		return want
	}
	for _, p := range s.Ports {
		if p.Name == want {
			return strconv.Itoa(p.Port)
		}
	}
	return ""
}
