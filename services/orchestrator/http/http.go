// Package http is the orchestrator's HTTP server: the middleware before all HTTP interfaces, and the
// shutdown together with the gRPC server.
package http

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/triplemesh/triplemesh/internal/telemetry"
)

// maxHeaders bounds a request's headers in bytes.
const maxHeaders = 32 << 10

// lastWords is the time for responses whose RPCs were cancelled to report that.
const lastWords = time.Second

// Server serves routes over HTTP. It implements server.Front.
type Server struct {
	cfg  Config
	tel  *telemetry.Telemetry
	http *http.Server
	lis  net.Listener
	down chan struct{}
	once sync.Once
}

// New returns a server that does not listen yet. With a nil secure it serves plain HTTP.
func New(cfg Config, secure *tls.Config, tel *telemetry.Telemetry, all ...Route) (*Server, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("make HTTP server: http.%w", err)
	}
	s := &Server{cfg: cfg, tel: tel, down: make(chan struct{})}
	table := newRoutes(all)
	chain, err := newChain(cfg, table, s.down, tel)
	if err != nil {
		return nil, fmt.Errorf("make HTTP server: http.%w", err)
	}
	s.http = &http.Server{
		Handler:           chain.around(table),
		TLSConfig:         secure,
		ReadHeaderTimeout: cfg.HeaderTimeout,
		IdleTimeout:       cfg.IdleTimeout,
		MaxHeaderBytes:    maxHeaders,
		ErrorLog:          slog.NewLogLogger(tel.Logger().Handler(), slog.LevelDebug),
	}
	return s, nil
}

// Handler returns the handler with all middleware.
func (s *Server) Handler() http.Handler { return s.http.Handler }

// Listen implements server.Front.
func (s *Server) Listen() error {
	s.lis = s.cfg.Listener
	if s.lis == nil {
		lis, err := net.Listen("tcp", s.cfg.Addr)
		if errors.Is(err, syscall.EADDRINUSE) {
			return fmt.Errorf("serve HTTP at %s: the port is taken: set orchestrator.http.addr to another one, or to "+
				"nothing for no HTTP", s.cfg.Addr)
		}
		if err != nil {
			return fmt.Errorf("serve HTTP: %w: set orchestrator.http.addr to an address of this machine, or to "+
				"nothing for no HTTP", err)
		}
		s.lis = lis
	}
	s.lis = limitConnections(s.lis, s.cfg.MaxConnections, s.http.TLSConfig != nil)
	return nil
}

// Serve implements server.Front.
func (s *Server) Serve() error {
	s.tel.Logger().Info(logServing, "addr", s.lis.Addr().String(), "tls", s.http.TLSConfig != nil)
	var err error
	if s.http.TLSConfig != nil {
		err = s.http.ServeTLS(s.lis, "", "")
	} else {
		err = s.http.Serve(s.lis)
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("serve HTTP at %s: %w", s.lis.Addr(), err)
}

// Shutdown implements server.Front.
func (s *Server) Shutdown(ctx context.Context) {
	s.once.Do(func() { close(s.down) })
	if err := s.http.Shutdown(ctx); err != nil {
		s.tel.Logger().Warn(logRequestsCancelled, "error", err)
	}
}

// Close implements server.Front.
func (s *Server) Close() error {
	s.once.Do(func() { close(s.down) })
	ctx, cancel := context.WithTimeout(context.Background(), lastWords)
	defer cancel()
	if s.http.Shutdown(ctx) == nil {
		return nil
	}
	return s.http.Close()
}

// Route is one HTTP interface.
type Route struct {
	// Pattern of http.ServeMux: "/api/v1/".
	Pattern string
	// Handler answers. RPCs with the request's context carry the caller's token, address, trace and
	// request id.
	Handler http.Handler
	// Files marks static files, which are neither traced nor measured.
	Files bool
	// Uploads reports whether a request uploads a file, which may be larger than other bodies; nil is
	// none.
	Uploads func(*http.Request) bool
	// Endless reports whether a request lasts until its caller ends it; nil is none. Its context is
	// cancelled at shutdown.
	Endless func(*http.Request) bool
}

func (d Route) uploads(r *http.Request) bool { return d.Uploads != nil && d.Uploads(r) }

func (d Route) endless(r *http.Request) bool { return d.Endless != nil && d.Endless(r) }

// routes finds the route of a request.
type routes struct {
	mux       *http.ServeMux
	byPattern map[string]Route
}

func newRoutes(all []Route) routes {
	d := routes{mux: http.NewServeMux(), byPattern: map[string]Route{}}
	for _, route := range all {
		d.mux.Handle(route.Pattern, route.Handler)
		d.byPattern[route.Pattern] = route
	}
	return d
}

// find returns the route of a request; the zero Route if there is none.
func (d routes) find(r *http.Request) Route {
	_, pattern := d.mux.Handler(r)
	return d.byPattern[pattern]
}

func (d routes) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if route := d.find(r); route.Pattern != "" {
		nameRoute(r, route.Pattern)
	}
	d.mux.ServeHTTP(w, r)
}

// nameRoute labels a request's span and metrics with its pattern: paths hold names, and their
// cardinality is unbounded.
func nameRoute(r *http.Request, pattern string) {
	trace.SpanFromContext(r.Context()).SetName(r.Method + " " + pattern)
	if labels, ok := otelhttp.LabelerFromContext(r.Context()); ok {
		labels.Add(attribute.String("http.route", pattern))
	}
}
