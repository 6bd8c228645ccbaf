package server_test

import (
	"context"
	"errors"
	"net"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"

	"github.com/triplemesh/triplemesh/internal/server"
	"github.com/triplemesh/triplemesh/internal/telemetry"
)

// closing is a service with something to close.
type closing struct{ close func() error }

func (closing) Register(grpc.ServiceRegistrar) {}
func (c closing) Close() error                 { return c.close() }

func TestAServiceIsClosedBetweenTheServerAndTelemetry(t *testing.T) {
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	sc, tc := server.DefaultConfig(""), telemetry.DefaultConfig()
	sc.Listener, tc.LogWriter, tc.Registry = lis, t.Output(), prometheus.NewRegistry()
	told := func() int {
		families, err := tc.Registry.Gather()
		if err != nil {
			t.Error(err)
		}
		return len(families)
	}
	ctx, cancel := context.WithCancel(t.Context())
	broken := errors.New("the disk is gone")
	closed := 0
	err = server.Run(ctx, "reflector", tc, sc, func(*telemetry.Telemetry) (server.Service, error) {
		cancel()
		return closing{func() error {
			closed++
			if _, err := net.Dial("tcp", lis.Addr().String()); err == nil {
				t.Error("it is closed while the server still listens")
			}
			if told() == 0 {
				t.Error("it is closed when telemetry is gone already")
			}
			return broken
		}}, nil
	})
	if !errors.Is(err, broken) || closed != 1 || told() != 0 {
		t.Errorf("got %v after closing %d times, with %d metrics left", err, closed, told())
	}
}
