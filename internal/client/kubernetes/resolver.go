// Package kubernetes finds the pods behind a Service by watching its
// EndpointSlices: a new pod is known when it is ready and a terminating one
// left out at once, where DNS would be asked again only when a connection
// ends.
package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc/resolver"
)

// Scheme is that of the targets: kubernetes:///service.namespace:port.
const Scheme = "kubernetes"

// The pause after a failure grows between these.
const (
	shortPause = 250 * time.Millisecond
	longPause  = 5 * time.Second
)

// Builder makes resolvers for gRPC.
type Builder struct {
	// API finds the cluster; InCluster unless a test says otherwise.
	API func() (*API, error)
	// Log is told of changes, and of failures that calls do not show.
	Log *slog.Logger
}

// Scheme implements resolver.Builder.
func (b *Builder) Scheme() string { return Scheme }

// Build implements resolver.Builder.
func (b *Builder) Build(target resolver.Target, conn resolver.ClientConn, _ resolver.BuildOptions) (resolver.Resolver, error) {
	api, err := b.API()
	if err != nil {
		return nil, err
	}
	of, err := parseTarget(target.Endpoint(), api.Namespace)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	w := &watcher{api: api, of: of, conn: conn, log: b.Log.With("service", of.name, "namespace", of.namespace), cancel: cancel}
	w.done.Go(func() { w.run(ctx) })
	return w, nil
}

// watcher keeps a connection's addresses up to date. Whatever goes wrong, the
// last known ones stay.
type watcher struct {
	api    *API
	of     service
	conn   resolver.ClientConn
	log    *slog.Logger
	cancel context.CancelFunc
	done   sync.WaitGroup

	told []string // the addresses the connection has
}

// ResolveNow implements resolver.Resolver. The watch tells by itself.
func (w *watcher) ResolveNow(resolver.ResolveNowOptions) {}

// Close implements resolver.Resolver.
func (w *watcher) Close() {
	w.cancel()
	w.done.Wait()
	w.api.Client.CloseIdleConnections()
}

func (w *watcher) run(ctx context.Context) {
	pause := shortPause
	for ctx.Err() == nil {
		heard, err := w.follow(ctx)
		if ctx.Err() != nil {
			return
		}
		if heard {
			pause = shortPause
		}
		if !errors.Is(err, errGone) {
			w.failed(err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause + rand.N(pause)):
		}
		pause = min(2*pause, longPause)
	}
}

// follow lists the endpoints and then follows their changes until something
// goes wrong. heard is whether the API server answered at all.
func (w *watcher) follow(ctx context.Context) (heard bool, err error) {
	all, version, err := w.api.list(ctx, w.of)
	if err != nil {
		return false, err
	}
	w.tell(all)
	for {
		began := time.Now()
		version, err = w.api.watch(ctx, w.of, all, version, func() { w.tell(all) })
		if err != nil {
			return true, err
		}
		// An API server that ends watches as soon as they begin is not asked
		// without pause.
		if time.Since(began) < shortPause {
			return true, errors.New("the API server ends watches at once")
		}
	}
}

// tell hands the addresses on where they changed. A service of which no pod is
// ready keeps those it had: they may answer still, and none certainly do not.
func (w *watcher) tell(all known) {
	addresses := all.addresses(w.of.port)
	if len(addresses) == 0 {
		w.failed(fmt.Errorf("no pod of the service %s in the namespace %s is ready at port %s", w.of.name, w.of.namespace, w.of.port))
		return
	}
	if slices.Equal(addresses, w.told) {
		return
	}
	w.log.Info("the pods of a service changed", "ready", len(addresses), "before", len(w.told))
	state := resolver.State{}
	for _, a := range addresses {
		state.Endpoints = append(state.Endpoints, resolver.Endpoint{Addresses: []resolver.Address{{Addr: a}}})
	}
	if err := w.conn.UpdateState(state); err != nil {
		w.log.Warn("the pods of a service were not taken up", "error", err)
		return
	}
	w.told = addresses
}

// failed tells calls of an error as long as nothing is known, and the log of
// later ones.
func (w *watcher) failed(err error) {
	if len(w.told) == 0 {
		w.conn.ReportError(err)
		return
	}
	w.log.Warn("the pods of a service are those last known", "ready", len(w.told), "error", err)
}
