package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"google.golang.org/grpc"
)

// Serve serves until ctx ends, and then goes down in this order: NOT_SERVING,
// the drain delay, no new RPCs, the end of those under way (cut after the
// drain timeout), no more metrics. It returns nil after an orderly end, and an
// error where it cannot listen. Stores and telemetry are closed after it.
func (s *Server) Serve(ctx context.Context) (err error) {
	s.gate.Begin()
	defer func() {
		s.gate.Close()
		err = errors.Join(err, s.audit.close())
	}()
	lis, err := s.listen()
	if err != nil {
		return err
	}
	metrics, err := s.serveMetrics()
	if err != nil {
		return errors.Join(err, lis.Close())
	}
	defer metrics.Close()
	probes, err := s.serveProbes()
	if err != nil {
		return errors.Join(err, lis.Close())
	}
	defer probes.Stop()

	failed := make(chan error, 1)
	go func() { failed <- s.grpc.Serve(lis) }()
	s.health.begin()
	s.tel.Logger().InfoContext(ctx, "serving", "addr", lis.Addr().String())

	select {
	case err := <-failed:
		s.health.Shutdown()
		s.health.end()
		return fmt.Errorf("serve %s at %s: %w", s.tel.Service(), lis.Addr(), err)
	case <-ctx.Done():
	}
	s.drain()
	// A server that was told to stop before it had begun says so; that is no
	// failure.
	if err := <-failed; !errors.Is(err, grpc.ErrServerStopped) {
		return err
	}
	return nil
}

// drain takes the server down once ctx is done, so it keeps its own time.
func (s *Server) drain() {
	s.tel.Logger().Info("going down", "drain_delay", s.cfg.DrainDelay, "drain_timeout", s.cfg.DrainTimeout)
	s.health.Shutdown()
	time.Sleep(s.cfg.DrainDelay)
	s.health.end()

	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		s.grpc.GracefulStop()
	}()
	select {
	case <-stopped:
	case <-time.After(s.cfg.DrainTimeout):
		s.tel.Logger().Warn("RPCs still under way are cut", "drain_timeout", s.cfg.DrainTimeout)
		s.grpc.Stop()
		<-stopped
	}
}

func (s *Server) listen() (net.Listener, error) {
	if s.cfg.Listener != nil {
		return s.cfg.Listener, nil
	}
	lis, err := net.Listen("tcp", s.cfg.Addr)
	if err != nil {
		return nil, fmt.Errorf("serve %s: %w; set server.addr to a free address", s.tel.Service(), err)
	}
	return lis, nil
}

// serveMetrics answers scrapes beside the gRPC server; closing a server that
// serves nothing does nothing.
func (s *Server) serveMetrics() (*http.Server, error) {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", s.tel.MetricsHandler())
	srv := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute}
	if s.cfg.MetricsAddr == "" {
		return srv, nil
	}
	lis, err := net.Listen("tcp", s.cfg.MetricsAddr)
	if err != nil {
		return nil, fmt.Errorf("serve metrics of %s: %w; set server.metrics_addr to a free address or to nothing", s.tel.Service(), err)
	}
	go func() {
		if err := srv.Serve(lis); !errors.Is(err, http.ErrServerClosed) {
			s.tel.Logger().Error("metrics are no longer served", "addr", lis.Addr().String(), "error", err)
		}
	}()
	return srv, nil
}
