package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc/resolver"
)

// kubernetesScheme is that of the targets: kubernetes:///service.namespace:port.
const kubernetesScheme = "kubernetes"

// The pause after a failure grows between these.
const (
	minWatchBackoff = 250 * time.Millisecond
	maxWatchBackoff = 5 * time.Second
)

// kubernetesBuilder makes resolvers that resolve a Service to its pods by watching its EndpointSlices:
// pods are added when ready and removed when terminating. DNS would be resolved again only when a
// connection ends.
type kubernetesBuilder struct {
	// API finds the cluster; InCluster unless a test says otherwise.
	API func() (*KubernetesAPI, error)
	// Log is told of changes, and of failures that calls do not show.
	Log *slog.Logger
}

// Scheme implements resolver.Builder.
func (b *kubernetesBuilder) Scheme() string { return kubernetesScheme }

// Build implements resolver.Builder.
func (b *kubernetesBuilder) Build(target resolver.Target, conn resolver.ClientConn,
	_ resolver.BuildOptions) (resolver.Resolver, error) {
	api, err := b.API()
	if err != nil {
		return nil, err
	}
	of, err := parseTarget(target.Endpoint(), api.Namespace)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	w := &watcher{api: api, service: of, conn: conn, log: b.Log.With("service", of.name, "namespace", of.namespace),
		cancel: cancel}
	w.done.Go(func() { w.run(ctx) })
	return w, nil
}

// watcher keeps a connection's addresses up to date. Whatever goes wrong, the last known ones stay.
type watcher struct {
	api     *KubernetesAPI
	service service
	conn    resolver.ClientConn
	log     *slog.Logger
	cancel  context.CancelFunc
	done    sync.WaitGroup

	current []string // the addresses the connection has
}

// ResolveNow implements resolver.Resolver. The watch tells by itself.
func (w *watcher) ResolveNow(resolver.ResolveNowOptions) {}

func (w *watcher) Close() {
	w.cancel()
	w.done.Wait()
	w.api.Client.CloseIdleConnections()
}

func (w *watcher) run(ctx context.Context) {
	pause := minWatchBackoff
	for ctx.Err() == nil {
		heard, err := w.listAndWatch(ctx)
		if ctx.Err() != nil {
			return
		}
		if heard {
			pause = minWatchBackoff
		}
		if !errors.Is(err, errGone) {
			w.report(err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause + rand.N(pause)):
		}
		pause = min(2*pause, maxWatchBackoff)
	}
}

// listAndWatch lists the endpoints and then follows their changes until something
// goes wrong. heard is whether the API server answered at all.
func (w *watcher) listAndWatch(ctx context.Context) (heard bool, err error) {
	all, version, err := w.api.list(ctx, w.service)
	if err != nil {
		return false, err
	}
	w.update(all)
	for {
		began := time.Now()
		version, err = w.api.watch(ctx, w.service, all, version, func() { w.update(all) })
		if err != nil {
			return true, err
		}
		// An API server that ends watches as soon as they begin is not asked without pause.
		if time.Since(began) < minWatchBackoff {
			return true, errors.New("the API server ends watches at once")
		}
	}
}

// update passes changed addresses to the connection. A service without a ready pod keeps its last
// addresses, which may still answer.
func (w *watcher) update(all sliceSet) {
	addresses := all.addresses(w.service.port)
	if len(addresses) == 0 {
		w.report(fmt.Errorf("no pod of the service %s in the namespace %s is ready at port %s", w.service.name,
			w.service.namespace, w.service.port))
		return
	}
	if slices.Equal(addresses, w.current) {
		return
	}
	w.log.Info(logUpdated, "ready", len(addresses), "before", len(w.current))
	state := resolver.State{}
	for _, a := range addresses {
		state.Endpoints = append(state.Endpoints, resolver.Endpoint{Addresses: []resolver.Address{{Addr: a}}})
	}
	if err := w.conn.UpdateState(state); err != nil {
		w.log.Warn(logUpdateRejected, "error", err)
		return
	}
	w.current = addresses
}

// report fails calls with an error while no address is known, and logs later errors.
func (w *watcher) report(err error) {
	if len(w.current) == 0 {
		w.conn.ReportError(err)
		return
	}
	w.log.Warn(logUpdateFailed, "ready", len(w.current), "error", err)
}

// service is what a target names.
type service struct {
	name, namespace string
	port            string // the pods' port, a number or its name in the Service
}

// parseTarget reads NAME[.NAMESPACE[.svc[.ZONE]]]:PORT. Without a namespace it is the caller's own.
func parseTarget(endpoint, own string) (service, error) {
	wrong := func(why string) (service, error) {
		return service{}, fmt.Errorf("target %q: %s: want kubernetes:///service.namespace:port", endpoint, why)
	}
	host, port, err := net.SplitHostPort(endpoint)
	if err != nil {
		return wrong("it names no port")
	}
	name, rest, _ := strings.Cut(host, ".")
	namespace, zone, _ := strings.Cut(rest, ".")
	namespace = cmp.Or(namespace, own)
	switch {
	case zone != "" && zone != "svc" && !strings.HasPrefix(zone, "svc."):
		return wrong("it is no name of a Service")
	case namespace == "":
		return wrong("it names no namespace, and the pod's own is not known")
	case !isLabel(name) || !isLabel(namespace):
		return wrong("names are letters, digits and hyphens")
	case !isPort(port):
		return wrong("the port is neither a number nor a name")
	}
	return service{name: name, namespace: namespace, port: port}, nil
}

// isLabel reports whether s can name an object: its characters go into a URL.
func isLabel(s string) bool {
	if s == "" || len(s) > 63 {
		return false
	}
	return !strings.ContainsFunc(s, func(c rune) bool {
		return c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z')
	})
}

func isPort(s string) bool {
	if n, err := strconv.Atoi(s); err == nil {
		return n > 0 && n < 1<<16
	}
	return isLabel(s)
}
