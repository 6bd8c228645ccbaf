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
// the drain delay, the server in front, no new RPCs, the end of those under way
// (cut after the drain timeout, as is what is in front), no more metrics. It returns nil after an orderly end, and an
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
	if err := s.front.Listen(); err != nil {
		return errors.Join(err, lis.Close())
	}

	failed := make(chan error, 3)
	go func() { failed <- s.grpc.Serve(lis) }()
	go func() { failed <- s.grpc.Serve(s.local) }()
	go func() { failed <- s.front.Serve() }()
	s.health.begin()
	s.tel.Logger().InfoContext(ctx, "serving", "addr", lis.Addr().String())

	select {
	case err := <-failed:
		s.health.Shutdown()
		s.health.end()
		s.grpc.Stop()
		return errors.Join(fmt.Errorf("serve %s at %s: %w", s.tel.Service(), lis.Addr(), err), s.front.Close())
	case <-ctx.Done():
	}
	s.drain()
	for range cap(failed) {
		// A server that was told to stop before it had begun says so; that is no
		// failure.
		if failure := <-failed; !errors.Is(failure, grpc.ErrServerStopped) {
			err = errors.Join(err, failure)
		}
	}
	return err
}

// drain takes the server down once ctx is done, so it keeps its own time.
func (s *Server) drain() {
	s.tel.Logger().Info("going down", "drain_delay", s.cfg.DrainDelay, "drain_timeout", s.cfg.DrainTimeout)
	s.health.Shutdown()
	time.Sleep(s.cfg.DrainDelay)
	s.health.end()
	ctx, cancel := context.WithTimeout(context.Background(), s.cfg.DrainTimeout)
	defer cancel()
	// What is in front calls this server, which must answer it to the end.
	s.front.Shutdown(ctx)

	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		s.grpc.GracefulStop()
	}()
	select {
	case <-stopped:
	case <-ctx.Done():
		s.tel.Logger().Warn("RPCs still under way are cut", "drain_timeout", s.cfg.DrainTimeout)
		s.grpc.Stop()
		<-stopped
	}
	// Those in front whose RPCs were cut have said so by now, or will not.
	if err := s.front.Close(); err != nil {
		s.tel.Logger().Warn("the server in front did not close", "error", err)
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
