package client_test

import (
	"context"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/triplemesh/triplemesh/internal/client"
	"github.com/triplemesh/triplemesh/internal/server"
	"github.com/triplemesh/triplemesh/internal/telemetry"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	reflectorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/reflector/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/resolver"
	"google.golang.org/grpc/resolver/manual"
	"google.golang.org/grpc/status"
)

type reflector struct {
	reflectorv1.UnimplementedReflectorServiceServer
	reflect func(context.Context) error
}

func (r reflector) Reflect(ctx context.Context, req *reflectorv1.ReflectRequest) (*reflectorv1.ReflectResponse, error) {
	return &reflectorv1.ReflectResponse{Reason: req.GetQuestion()}, r.reflect(ctx)
}

func listen(t testing.TB) net.Listener {
	t.Helper()
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return lis
}

// bare serves with gRPC's defaults, as a proxy or a service of others does.
func bare(t *testing.T, f func(context.Context) error) string {
	t.Helper()
	lis, s := listen(t), grpc.NewServer()
	reflectorv1.RegisterReflectorServiceServer(s, reflector{reflect: f})
	served := make(chan error, 1)
	go func() { served <- s.Serve(lis) }()
	t.Cleanup(func() {
		s.Stop()
		<-served
	})
	return lis.Addr().String()
}

// stage serves as a stage does, until stop or the end of the test.
func stage(t testing.TB, f func(context.Context) error, set ...func(*server.Config)) (addr string, stop func()) {
	t.Helper()
	lis := listen(t)
	cfg := server.DefaultConfig("")
	cfg.Listener = lis
	for _, f := range set {
		f(&cfg)
	}
	s, err := server.New(cfg, telemetry.Discard())
	if err != nil {
		t.Fatal(err)
	}
	reflectorv1.RegisterReflectorServiceServer(s.Registrar(), reflector{reflect: f})
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan struct{})
	go func() {
		defer close(served)
		if err := s.Serve(ctx); err != nil {
			t.Error(err)
		}
	}()
	stop = func() {
		cancel()
		<-served
	}
	t.Cleanup(stop)
	return lis.Addr().String(), stop
}

func dial(t testing.TB, addr string, set ...func(*client.Config)) reflectorv1.ReflectorServiceClient {
	t.Helper()
	return reflectorv1.NewReflectorServiceClient(connect(t, addr, set...))
}

func connect(t testing.TB, addr string, set ...func(*client.Config)) *grpc.ClientConn {
	t.Helper()
	cfg := client.DefaultConfig(addr)
	for _, f := range set {
		f(&cfg)
	}
	conn, err := client.Dial(cfg, telemetry.Discard())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	})
	return conn
}

// plainly dials as a client that is not this package's.
func plainly(t testing.TB, addr string) reflectorv1.ReflectorServiceClient {
	t.Helper()
	conn, err := grpc.NewClient("passthrough:///"+addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return reflectorv1.NewReflectorServiceClient(conn)
}

var why = &reflectorv1.ReflectRequest{Question: "why", Candidates: []*graphv1.CandidateAnswer{{Answer: "because"}}}

func TestRetries(t *testing.T) {
	for _, test := range []struct {
		name     string
		attempts int          // Config.MaxAttempts
		failures []codes.Code // of the first attempts
		want     codes.Code
		calls    int64
	}{
		{"a server that was away for a moment is asked again", 3, []codes.Code{codes.Unavailable}, codes.OK, 2},
		{"a server that stays away is given up", 3, []codes.Code{codes.Unavailable, codes.Unavailable,
			codes.Unavailable}, codes.Unavailable, 3},
		{"what was exhausted is not asked again", 3, []codes.Code{codes.ResourceExhausted}, codes.ResourceExhausted, 1},
		{"an internal error is not asked again", 3, []codes.Code{codes.Internal}, codes.Internal, 1},
		{"one attempt is one attempt", 1, []codes.Code{codes.Unavailable}, codes.Unavailable, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			var calls atomic.Int64
			c := dial(t, bare(t, func(context.Context) error {
				if n := calls.Add(1); int(n) <= len(test.failures) {
					return status.Error(test.failures[n-1], "not now")
				}
				return nil
			}), func(cfg *client.Config) { cfg.MaxAttempts = test.attempts })
			_, err := c.Reflect(t.Context(), why)
			if got := status.Code(err); got != test.want || calls.Load() != test.calls {
				t.Errorf("got %v after %d calls, want %v after %d", got, calls.Load(), test.want, test.calls)
			}
		})
	}
}

func TestWhatLiesBehindAStageIsTriedAgainThereAlone(t *testing.T) {
	var calls atomic.Int64
	addr, _ := stage(t, func(context.Context) error {
		calls.Add(1)
		return status.Error(codes.Unavailable, "the model server is down")
	})
	_, err := dial(t, addr).Reflect(t.Context(), why)
	if status.Code(err) != codes.Unavailable || calls.Load() != 1 {
		t.Errorf("got %v after %d calls, want UNAVAILABLE after 1", err, calls.Load())
	}
}

func TestDeadlinesAreShaved(t *testing.T) {
	left := make(chan time.Duration, 1)
	addr := bare(t, func(ctx context.Context) error {
		deadline, ok := ctx.Deadline()
		if !ok {
			left <- -1
			return nil
		}
		left <- time.Until(deadline)
		return nil
	})
	within := func(t *testing.T, c reflectorv1.ReflectorServiceClient, given time.Duration) error {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), given)
		defer cancel()
		_, err := c.Reflect(ctx, why)
		return err
	}
	t.Run("the share is kept back of a long one", func(t *testing.T) {
		if err := within(t, dial(t, addr), 100*time.Hour); err != nil {
			t.Fatal(err)
		}
		if got := <-left; got > 98*time.Hour {
			t.Errorf("got %s left of 100 hours, want 98 at most", got)
		}
	})
	t.Run("the least reserve is kept back of a short one", func(t *testing.T) {
		c := dial(t, addr, func(cfg *client.Config) { cfg.Reserve = 20 * time.Minute })
		if err := within(t, c, time.Hour); err != nil {
			t.Fatal(err)
		}
		if got := <-left; got > 40*time.Minute {
			t.Errorf("got %s left of an hour, want 40 minutes at most", got)
		}
	})
	t.Run("a call with less than the reserve left is not made", func(t *testing.T) {
		c := dial(t, addr, func(cfg *client.Config) { cfg.Reserve = 2 * time.Hour })
		if err := within(t, c, time.Hour); status.Code(err) != codes.DeadlineExceeded {
			t.Errorf("got %v, want DEADLINE_EXCEEDED", err)
		}
		if len(left) != 0 {
			t.Error("the server was called")
		}
	})
	t.Run("a call without a deadline gets none", func(t *testing.T) {
		if _, err := dial(t, addr).Reflect(t.Context(), why); err != nil {
			t.Fatal(err)
		}
		if got := <-left; got != -1 {
			t.Errorf("got %s left, want no deadline", got)
		}
	})
	t.Run("the caller still has time when the call has none", func(t *testing.T) {
		hang := bare(t, func(ctx context.Context) error {
			<-ctx.Done() // the deadline of the server may pass before that of the client
			return ctx.Err()
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		c := dial(t, hang, func(cfg *client.Config) { cfg.Reserve = time.Hour - 50*time.Millisecond })
		if _, err := c.Reflect(ctx, why); status.Code(err) != codes.DeadlineExceeded || ctx.Err() != nil {
			t.Errorf("got %v with the caller's %v, want DEADLINE_EXCEEDED and time left", err, ctx.Err())
		}
	})
}

func TestTheRequestIDGoesAlong(t *testing.T) {
	ids := make(chan string, 2)
	far, _ := stage(t, func(ctx context.Context) error {
		ids <- telemetry.RequestID(ctx)
		return nil
	})
	conn := dial(t, far)
	near, _ := stage(t, func(ctx context.Context) error {
		ids <- telemetry.RequestID(ctx)
		_, err := conn.Reflect(ctx, why)
		return err
	})
	c := dial(t, near)
	if _, err := c.Reflect(t.Context(), why); err != nil {
		t.Fatal(err)
	}
	if first, second := <-ids, <-ids; first == "" || first != second {
		t.Errorf("got ids %q and %q, want one that the first server made", first, second)
	}
	for _, test := range []struct{ given, want string }{{"ask-17", "ask-17"}, {"a line = 2", ""},
		{strings.Repeat("x", 129), ""}} {
		if _, err := c.Reflect(telemetry.WithRequestID(t.Context(), test.given), why); err != nil {
			t.Fatal(err)
		}
		first, second := <-ids, <-ids
		if first != second || first == "" || (first == test.given) != (test.want != "") {
			t.Errorf("given %q: got ids %q and %q, want %q or, of an unusable one, another", test.given, first,
				second, test.want)
		}
	}
}

func TestCallsSpreadOverTheServersThatServe(t *testing.T) {
	var hits [2]atomic.Int64
	var stops [2]func()
	addrs := make([]resolver.Address, 2)
	for i := range addrs {
		addrs[i].Addr, stops[i] = stage(t, func(context.Context) error {
			hits[i].Add(1)
			return nil
		})
	}
	mesh := manual.NewBuilderWithScheme("mesh")
	mesh.InitialState(resolver.State{Addresses: addrs})
	c := dial(t, "mesh:///reflector", func(cfg *client.Config) {
		cfg.Options = append(cfg.Options, grpc.WithResolvers(mesh))
	})
	for hits[0].Load() == 0 || hits[1].Load() == 0 {
		if _, err := c.Reflect(t.Context(), why, grpc.WaitForReady(true)); err != nil {
			t.Fatal(err)
		}
	}
	stops[0]()
	hits[0].Store(0)
	for range 50 {
		if _, err := c.Reflect(t.Context(), why); err != nil {
			t.Fatalf("after one of two servers went away: %v", err)
		}
	}
	if n := hits[0].Load(); n != 0 {
		t.Errorf("the server that went away answered %d calls", n)
	}
}

// A question makes its calls in the same order every time.
func TestCallsThatAlternateReachEveryServer(t *testing.T) {
	var hits [2][2]atomic.Int64 // by server and kind of call
	addrs := make([]resolver.Address, 2)
	for i := range addrs {
		lis, s, served := listen(t), grpc.NewServer(), make(chan error, 1)
		reflectorv1.RegisterReflectorServiceServer(s, reflector{reflect: func(ctx context.Context) error {
			md, _ := metadata.FromIncomingContext(ctx)
			hits[i][len(md.Get("odd"))].Add(1)
			return nil
		}})
		go func() { served <- s.Serve(lis) }()
		t.Cleanup(func() {
			s.Stop()
			<-served
		})
		addrs[i].Addr = lis.Addr().String()
	}
	mesh := manual.NewBuilderWithScheme("mesh")
	mesh.InitialState(resolver.State{Addresses: addrs})
	c := dial(t, "mesh:///reflector", func(cfg *client.Config) {
		cfg.Options = append(cfg.Options, grpc.WithResolvers(mesh))
	})
	some := func(server int) bool { return hits[server][0].Load() > 0 && hits[server][1].Load() > 0 }
	for !some(0) || !some(1) {
		for _, ctx := range []context.Context{t.Context(), metadata.AppendToOutgoingContext(t.Context(),
			"odd", "yes")} {
			if _, err := c.Reflect(ctx, why); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestWrongSettingsAreNamed(t *testing.T) {
	for _, test := range []struct {
		name string
		set  func(*client.Config)
		want string
	}{
		{"no address", func(cfg *client.Config) { cfg.Addr = "" }, "addr"},
		{"an unusable address", func(cfg *client.Config) { cfg.Addr = "nothing://\x00" }, "nothing"},
		{"too many attempts", func(cfg *client.Config) { cfg.MaxAttempts = 6 }, "max_attempts"},
		{"a negative reserve", func(cfg *client.Config) { cfg.Reserve = -1 }, "reserve"},
		{"a share of everything", func(cfg *client.Config) { cfg.ReserveShare = 1 }, "reserve_share"},
		{"negative messages", func(cfg *client.Config) { cfg.MaxMessageBytes = -1 }, "max_message_bytes"},
	} {
		t.Run(test.name, func(t *testing.T) {
			cfg := client.DefaultConfig("localhost:9090")
			test.set(&cfg)
			conn, err := client.Dial(cfg, telemetry.Discard())
			if err == nil {
				conn.Close()
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got error %v, want %s named", err, test.want)
			}
		})
	}
}

func TestAFaultyTrailerLosesNoAnswer(t *testing.T) {
	addr := bare(t, func(ctx context.Context) error {
		return grpc.SetTrailer(ctx, map[string][]string{telemetry.SpansKey: {"\xff\xff not spans"}})
	})
	sink := telemetry.NewSpanSink()
	answer, err := dial(t, addr).Reflect(telemetry.WithSpanSink(t.Context(), sink), why)
	if err != nil || answer.GetReason() != "why" {
		t.Errorf("got %v, %v, want the answer", answer, err)
	}
	if n := len(sink.Spans()); n != 1 {
		t.Errorf("got %d spans, want the client's own", n)
	}
}
