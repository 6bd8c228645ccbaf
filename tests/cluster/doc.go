// Package cluster tests a mesh in Kubernetes: rollouts, scaling and lost pods
// under load, shares of traffic, traces across pods, snapshots that switch. Run
// it by `make k8s-test`; it is behind the build tag "cluster", since it needs
// one.
package cluster
