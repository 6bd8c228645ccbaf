package client_test

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/triplemesh/triplemesh/internal/client"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	reflectorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/reflector/v1"
)

// busy answers as told, and counts what arrives.
type busy struct {
	reflectorv1.UnimplementedReflectorServiceServer
	generatorv1.UnimplementedGeneratorServiceServer
	arrived atomic.Int64
	answer  func(n int64) error // to the nth call
}

func (b *busy) Reflect(context.Context, *reflectorv1.ReflectRequest) (*reflectorv1.ReflectResponse, error) {
	return &reflectorv1.ReflectResponse{}, b.answer(b.arrived.Add(1))
}

func (b *busy) GenerateAnswerStream(_ *generatorv1.GenerateAnswerStreamRequest,
	stream grpc.ServerStreamingServer[generatorv1.GenerateAnswerStreamResponse]) error {
	if err := b.answer(b.arrived.Add(1)); err != nil {
		return err
	}
	return stream.Send(&generatorv1.GenerateAnswerStreamResponse{})
}

// inMemory connects to a server of the same bubble, where a thousand calls take
// no time at all.
func inMemory(t *testing.T, b *busy, throttle bool) *grpc.ClientConn {
	t.Helper()
	lis, s := bufconn.Listen(1<<16), grpc.NewServer()
	reflectorv1.RegisterReflectorServiceServer(s, b)
	generatorv1.RegisterGeneratorServiceServer(s, b)
	served := make(chan error, 1)
	go func() { served <- s.Serve(lis) }()
	t.Cleanup(func() {
		s.Stop()
		<-served
	})
	return connect(t, "passthrough:///memory", func(cfg *client.Config) {
		cfg.Throttle = throttle
		cfg.Options = []grpc.DialOption{grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn,
			error) {
			return lis.DialContext(ctx)
		}), grpc.WithDisableHealthCheck()}
	})
}

// ways are those of calling.
var ways = []struct {
	name string
	call func(*testing.T, *grpc.ClientConn) error
}{
	{"calls", func(t *testing.T, conn *grpc.ClientConn) error {
		_, err := reflectorv1.NewReflectorServiceClient(conn).Reflect(t.Context(), why)
		return err
	}},
	{"streams", func(t *testing.T, conn *grpc.ClientConn) error {
		return streamed(t, generatorv1.NewGeneratorServiceClient(conn))
	}},
}

// refusal is that of a server with too much to do.
func refusal(t *testing.T, details ...protoadapt.MessageV1) error {
	st, err := status.New(codes.ResourceExhausted, "40 requests are under way").WithDetails(details...)
	if err != nil {
		t.Fatal(err)
	}
	return st.Err()
}

func TestThrottle(t *testing.T) {
	again := &errdetails.RetryInfo{RetryDelay: durationpb.New(time.Second)}
	full := refusal(t, &errdetails.ErrorInfo{Domain: "triplemesh", Reason: "TOO_MANY_REQUESTS"}, again)
	for _, c := range []struct {
		name     string
		throttle bool
		calls    int
		pause    time.Duration // before each call
		answer   func(n int64) error
		// of the calls, so many arrive.
		least, most int64
	}{
		{"a server that answers gets all calls", true, 1000, 0, func(int64) error { return nil }, 1000, 1000},
		{"one that refuses all gets a tenth of those beyond the first fifty", true, 1000, 0,
			func(int64) error { return full }, 100, 250},
		{"one that answers one in five of what it gets is sent less and less", true, 10_000, 0, func(n int64) error {
			if n%5 == 0 {
				return nil
			}
			return full
		}, 200, 3000},
		{"one that refuses one in five gets all calls", true, 1000, 0, func(n int64) error {
			if n%5 == 0 {
				return full
			}
			return nil
		}, 1000, 1000},
		{"few calls all arrive", true, 300, 20 * time.Millisecond, func(int64) error { return full }, 300, 300},
		{"a budget that ran out is no refusal", true, 1000, 0, func(int64) error { return refusal(t) }, 1000, 1000},
		{"nor is a server that is down", true, 1000, 0,
			func(int64) error { return status.Error(codes.Internal, "down") }, 1000, 1000},
		{"who is not to throttle sends all calls", false, 1000, 0, func(int64) error { return full }, 1000, 1000},
	} {
		for _, way := range ways {
			t.Run(c.name+", by "+way.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					b := &busy{answer: c.answer}
					conn := inMemory(t, b, c.throttle)
					unsent := int64(0)
					for range c.calls {
						time.Sleep(c.pause)
						err := way.call(t, conn)
						if !client.IsUnsent(err) {
							continue
						}
						unsent++
						if st := status.Convert(err); st.Code() != codes.ResourceExhausted || len(st.Details()) != 2 {
							t.Fatalf("the client refuses by %v with %v", err, st.Details())
						}
					}
					if arrived := b.arrived.Load(); arrived < c.least || arrived > c.most ||
						arrived+unsent != int64(c.calls) {
						t.Errorf("%d of %d calls arrived and %d were unsent, want %d to %d", arrived, c.calls, unsent,
							c.least, c.most)
					}
				})
			})
		}
	}
}

func TestAThrottledClientFindsOutThatThereIsRoomAgain(t *testing.T) {
	refuse := refusal(t, &errdetails.RetryInfo{RetryDelay: durationpb.New(time.Second)})
	synctest.Test(t, func(t *testing.T) {
		var full atomic.Bool
		b := &busy{answer: func(int64) error {
			if full.Load() {
				return refuse
			}
			return nil
		}}
		conn := inMemory(t, b, true)
		// unsent counts how many of 1,000 calls a second the client refuses.
		unsent := func(seconds int) (n int) {
			for range seconds * 1000 {
				time.Sleep(time.Millisecond)
				if client.IsUnsent(ways[0].call(t, conn)) {
					n++
				}
			}
			return n
		}
		full.Store(true)
		if n := unsent(2); n < 1000 {
			t.Errorf("of 2,000 calls to a server that refuses all, the client refused %d", n)
		}
		full.Store(false)
		unsent(4)
		if n := unsent(1); n > 0 {
			t.Errorf("five seconds after the last refusal of the server, the client refused %d of 1,000 calls", n)
		}
	})
}
