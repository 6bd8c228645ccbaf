package server

import (
	"fmt"
	"net"

	"google.golang.org/grpc"
)

// serveProbes answers the health service, and nothing else, in plain text: the
// probes of Kubernetes can present no certificate. It answers until the server
// is down, so that a server which drains is seen as not ready rather than not
// there. Stopping a server that serves nothing does nothing.
func (s *Server) serveProbes() (*grpc.Server, error) {
	srv := grpc.NewServer(grpc.MaxRecvMsgSize(probeMaxMessage), grpc.MaxConcurrentStreams(probeMaxStreams))
	if s.cfg.HealthAddr == "" {
		return srv, nil
	}
	s.health.register(srv)
	lis, err := net.Listen("tcp", s.cfg.HealthAddr)
	if err != nil {
		return nil, fmt.Errorf("serve health of %s: %w; set server.health_addr to a free address or to nothing", s.tel.Service(), err)
	}
	go func() {
		if err := srv.Serve(lis); err != nil {
			s.tel.Logger().Error("health is no longer served", "addr", lis.Addr().String(), "error", err)
		}
	}()
	return srv, nil
}

// Anybody may ask for health, so that asking must stay cheap.
const (
	probeMaxMessage = 4 << 10
	probeMaxStreams = 16
)
