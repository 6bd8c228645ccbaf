// Package web is the orchestrator's HTTP server: what every request goes
// through before it reaches its door, and one way of going down, with the gRPC
// server behind it.
package web

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

	"github.com/triplemesh/triplemesh/internal/telemetry"
)

// maxHeaders bounds a request's headers in bytes.
const maxHeaders = 32 << 10

// lastWords is how long answers whose RPCs were cut have to say so.
const lastWords = time.Second

// Server serves doors over HTTP. It implements server.Front.
type Server struct {
	cfg  Config
	tel  *telemetry.Telemetry
	http *http.Server
	lis  net.Listener
	down chan struct{}
	once sync.Once
}

// New makes a server that does not listen yet. secure secures its connections;
// nil leaves them plain.
func New(cfg Config, secure *tls.Config, tel *telemetry.Telemetry, all ...Door) (*Server, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("make HTTP server: http.%w", err)
	}
	s := &Server{cfg: cfg, tel: tel, down: make(chan struct{})}
	doors := newDoors(all)
	chain, err := newChain(cfg, doors, s.down, tel)
	if err != nil {
		return nil, fmt.Errorf("make HTTP server: http.%w", err)
	}
	s.http = &http.Server{
		Handler:           chain.around(doors),
		TLSConfig:         secure,
		ReadHeaderTimeout: cfg.HeaderTimeout,
		IdleTimeout:       cfg.IdleTimeout,
		MaxHeaderBytes:    maxHeaders,
		ErrorLog:          slog.NewLogLogger(tel.Logger().Handler(), slog.LevelDebug),
	}
	return s, nil
}

// Handler is what answers, without a port.
func (s *Server) Handler() http.Handler { return s.http.Handler }

// Listen implements server.Front.
func (s *Server) Listen() error {
	s.lis = s.cfg.Listener
	if s.lis == nil {
		lis, err := net.Listen("tcp", s.cfg.Addr)
		if errors.Is(err, syscall.EADDRINUSE) {
			return fmt.Errorf("serve HTTP at %s: the port is taken: set orchestrator.http.addr to another one, or to nothing for no HTTP", s.cfg.Addr)
		}
		if err != nil {
			return fmt.Errorf("serve HTTP: %w: set orchestrator.http.addr to an address of this machine, or to nothing for no HTTP", err)
		}
		s.lis = lis
	}
	s.lis = limitConnections(s.lis, s.cfg.MaxConnections, s.http.TLSConfig != nil)
	return nil
}

// Serve implements server.Front.
func (s *Server) Serve() error {
	s.tel.Logger().Info("serving HTTP", "addr", s.lis.Addr().String(), "tls", s.http.TLSConfig != nil)
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
		s.tel.Logger().Warn("HTTP requests still under way are cut", "error", err)
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
