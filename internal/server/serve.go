package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"google.golang.org/grpc"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
)

// Serve serves until ctx ends, and then shuts down in this order: NOT_SERVING, the drain delay, the
// front, no new RPCs, the end of RPCs in flight (cancelled after the drain timeout, like requests
// of the front), metrics. It returns nil after an orderly shutdown, and an error if it cannot
// listen. Stores and telemetry must be closed after it.
func (s *Server) Serve(ctx context.Context) (err error) {
	s.gate.Start()
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
	if s.cfg.Ready == nil {
		s.health.start()
	} else {
		go func() {
			select {
			case <-s.cfg.Ready:
				s.health.start()
			case <-ctx.Done():
			}
		}()
	}
	s.tel.Logger().InfoContext(ctx, logServing, "addr", lis.Addr().String())

	select {
	case err := <-failed:
		s.health.Shutdown()
		s.health.stopWatches()
		s.grpc.Stop()
		return errors.Join(fmt.Errorf("serve %s at %s: %w", s.tel.Service(), lis.Addr(), err), s.front.Close())
	case <-ctx.Done():
	}
	s.drain()
	for range cap(failed) {
		// A server that is stopped before it serves returns ErrServerStopped; that is no failure.
		if failure := <-failed; !errors.Is(failure, grpc.ErrServerStopped) {
			err = errors.Join(err, failure)
		}
	}
	return err
}

// drain shuts the server down. Serve's context has ended, so it makes its own.
func (s *Server) drain() {
	s.tel.Logger().Info(logDraining, "drain_delay", s.cfg.DrainDelay, "drain_timeout", s.cfg.DrainTimeout)
	s.health.Shutdown()
	time.Sleep(s.cfg.DrainDelay)
	s.health.stopWatches()
	ctx, cancel := context.WithTimeout(context.Background(), s.cfg.DrainTimeout)
	defer cancel()
	// The front calls this server, which must answer to the end.
	s.front.Shutdown(ctx)

	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		s.grpc.GracefulStop()
	}()
	select {
	case <-stopped:
	case <-ctx.Done():
		s.tel.Logger().Warn(logDrainTimeout, "drain_timeout", s.cfg.DrainTimeout)
		s.grpc.Stop()
		<-stopped
	}
	// Requests of the front whose RPCs were cancelled have been answered by now.
	if err := s.front.Close(); err != nil {
		s.tel.Logger().Warn(logFrontCloseFailed, "error", err)
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

// serveMetrics serves /metrics and /readyz, the health of the server, beside the gRPC server.
func (s *Server) serveMetrics() (*http.Server, error) {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", s.tel.MetricsHandler())
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		resp, err := s.health.Check(r.Context(), &healthpb.HealthCheckRequest{})
		if err != nil || resp.GetStatus() != healthpb.HealthCheckResponse_SERVING {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		fmt.Fprintln(w, resp.GetStatus())
	})
	srv := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute}
	if s.cfg.MetricsAddr == "" {
		return srv, nil
	}
	lis, err := net.Listen("tcp", s.cfg.MetricsAddr)
	if err != nil {
		return nil, fmt.Errorf("serve metrics of %s: %w; set server.metrics_addr to a free address or to nothing",
			s.tel.Service(), err)
	}
	go func() {
		if err := srv.Serve(lis); !errors.Is(err, http.ErrServerClosed) {
			s.tel.Logger().Error(logMetricsStopped, "addr", lis.Addr().String(), "error", err)
		}
	}()
	return srv, nil
}
