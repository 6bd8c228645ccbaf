// Package cluster tests a mesh in Kubernetes: rollouts, scaling and lost pods under load, load
// balancing, traces across pods, snapshot switches. Run it by `make k8s-test`; it has the build tag
// "cluster", since it needs one.
package cluster
