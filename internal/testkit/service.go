package testkit

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
)

// patience is how long a service may take to start or to stop.
const patience = 60 * time.Second

// Service is a stage that runs in the test's process.
type Service struct {
	// Conn is a plain connection to it.
	Conn *grpc.ClientConn
	// Addr is its HOST:PORT.
	Addr string
	stop func()
}

// Stop ends the service before the test does and waits for it.
func (s *Service) Stop() { s.stop() }

// Serve runs a stage on a loopback listener until the test ends, and returns
// once its health service says SERVING:
//
//	s := testkit.Serve(t, func(ctx context.Context, l net.Listener) error {
//		cfg := verifier.DefaultConfig()
//		cfg.Server.Listener = l
//		cfg.LLM = model.Config()
//		return verifier.Run(ctx, cfg)
//	})
//	verifierv1.NewVerifierServiceClient(s.Conn)
//
// A run that ends by itself, or with an error, fails the test.
func Serve(tb testing.TB, run func(context.Context, net.Listener) error) *Service {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatalf("listen on loopback: %v", err)
	}
	addr := l.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, l) }()

	conn, err := grpc.NewClient("passthrough:///"+addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		cancel()
		tb.Fatalf("dial %s: %v", addr, err)
	}
	stop := sync.OnceFunc(func() {
		conn.Close()
		cancel()
		select {
		case err := <-ended:
			if err != nil {
				tb.Errorf("the service at %s ended with: %v", addr, err)
			}
		case <-time.After(patience):
			tb.Errorf("the service at %s does not stop: %v after its context ended", addr, patience)
		}
		l.Close()
	})
	tb.Cleanup(stop)

	serving := make(chan error, 1)
	go func() { serving <- awaitServing(ctx, conn) }()
	select {
	case err := <-serving:
		if err != nil {
			tb.Fatalf("wait for the service at %s to say SERVING: %v", addr, err)
		}
	case err := <-ended:
		ended <- nil // for stop
		tb.Fatalf("the service at %s ended before it served: %v", addr, err)
	}
	return &Service{Conn: conn, Addr: addr, stop: stop}
}

// awaitServing watches the health of the whole server.
func awaitServing(ctx context.Context, conn *grpc.ClientConn) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	watch, err := grpc_health_v1.NewHealthClient(conn).Watch(ctx, &grpc_health_v1.HealthCheckRequest{},
		grpc.WaitForReady(true))
	if err != nil {
		return err
	}
	for {
		resp, err := watch.Recv()
		if err != nil {
			return err
		}
		if resp.GetStatus() == grpc_health_v1.HealthCheckResponse_SERVING {
			return nil
		}
	}
}
