package client_test

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/triplemesh/triplemesh/internal/client"
	"github.com/triplemesh/triplemesh/internal/telemetry"
	"github.com/triplemesh/triplemesh/internal/testkit"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	reflectorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/reflector/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

const impatient = 50 * time.Millisecond

// pair is a client of two replicas, which handle calls by what of each says.
func pair(t *testing.T, patience time.Duration, of ...func(context.Context) error) reflectorv1.ReflectorServiceClient {
	t.Helper()
	var addrs []string
	for _, f := range of {
		addrs = append(addrs, bare(t, f))
	}
	c := dial(t, strings.Join(addrs, ","), func(cfg *client.Config) { cfg.Patience = patience })
	return c
}

// meet calls until every replica is connected and was called.
func meet(t *testing.T, c reflectorv1.ReflectorServiceClient, calls ...*atomic.Int64) {
	t.Helper()
	for _, n := range calls {
		for n.Load() == 0 {
			if _, err := c.Reflect(t.Context(), why); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, n := range calls {
		n.Store(0)
	}
}

// burst makes calls at once and fails the test where one fails.
func burst(t *testing.T, c reflectorv1.ReflectorServiceClient, n int) {
	t.Helper()
	var group sync.WaitGroup
	for range n {
		group.Go(func() {
			if _, err := c.Reflect(t.Context(), why); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
}

func TestCallsLeaveAReplicaThatHangs(t *testing.T) {
	var well, bad atomic.Int64
	var hangs atomic.Bool
	c := pair(t, impatient,
		func(context.Context) error { well.Add(1); return nil },
		func(ctx context.Context) error {
			bad.Add(1)
			if hangs.Load() {
				<-ctx.Done()
			}
			return ctx.Err()
		})
	meet(t, c, &well, &bad)
	hangs.Store(true)
	burst(t, c, 40)
	if well.Load() != 40 || bad.Load() == 0 {
		t.Errorf("the one replica answered %d of 40 calls, of which %d had been at the other", well.Load(), bad.Load())
	}
	// It rests: of the next ones, none goes there for a second.
	bad.Store(0)
	began := time.Now()
	for time.Since(began) < 10*impatient {
		burst(t, c, 1)
	}
	if bad.Load() > 0 {
		t.Errorf("%d calls went to a replica that hung a moment ago", bad.Load())
	}
	hangs.Store(false)
	meet(t, c, &well, &bad)
}

func TestACallThatIsAtWorkIsNotMadeAgain(t *testing.T) {
	var calls atomic.Int64
	work := func(ctx context.Context) error {
		calls.Add(1)
		_ = grpc.SendHeader(ctx, nil)
		time.Sleep(8 * impatient)
		return nil
	}
	c := pair(t, impatient, work, work)
	burst(t, c, 20)
	if calls.Load() != 20 {
		t.Errorf("20 calls were made %d times", calls.Load())
	}
}

func TestAskingWhetherAReplicaIsWellLeavesNoSpan(t *testing.T) {
	tel, err := telemetry.Start(t.Context(), telemetry.DefaultConfig(), "client")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tel.Shutdown(context.Background()) })
	cfg := client.DefaultConfig(bare(t, func(ctx context.Context) error {
		_ = grpc.SendHeader(ctx, nil)
		time.Sleep(8 * impatient)
		return nil
	}))
	cfg.Patience = impatient
	conn, err := client.Dial(cfg, tel)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	sink := telemetry.NewSpanSink()
	ctx, span := tel.Tracer().Start(telemetry.WithSpanSink(t.Context(), sink), "question")
	_, err = reflectorv1.NewReflectorServiceClient(conn).Reflect(ctx, why)
	span.End()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range sink.Spans() {
		names = append(names, s.GetName())
	}
	if len(names) != 2 {
		t.Errorf("got spans %q, want the question's and the call's", names)
	}
}

func TestACallWaitsWhereThereIsNoOtherReplica(t *testing.T) {
	var calls atomic.Int64
	c := pair(t, impatient, func(context.Context) error {
		calls.Add(1)
		time.Sleep(8 * impatient)
		return nil
	})
	burst(t, c, 5)
	if calls.Load() != 5 {
		t.Errorf("5 calls were made %d times", calls.Load())
	}
}

// When all replicas are slow, calls that go from one to the other must not
// become more than the rest.
func TestSlownessOfAllIsNotMultiplied(t *testing.T) {
	const n, parallel = 2000, 200
	var calls atomic.Int64
	slow := func(ctx context.Context) error {
		calls.Add(1)
		time.Sleep(3 * impatient)
		return ctx.Err()
	}
	c := pair(t, impatient, slow, slow)
	for range n / parallel {
		burst(t, c, parallel)
	}
	if got := calls.Load(); got <= n || got > n+n/10+100 {
		t.Errorf("%d calls were made %d times, want a tenth more and 100 at most, and some", n, got)
	}
	testkit.Measured(t, "%d slow calls were made %d times", n, calls.Load())
}

// swallower is a proxy whose connections can be made to pass nothing on, while
// both ends believe that they are up.
func swallower(t *testing.T, to string, swallows *atomic.Bool) string {
	lis := listen(t)
	t.Cleanup(func() { lis.Close() })
	pass := func(dst, src net.Conn) {
		defer dst.Close()
		buf := make([]byte, 4096)
		for {
			n, err := src.Read(buf)
			if err != nil {
				return
			}
			if !swallows.Load() {
				_, _ = dst.Write(buf[:n])
			}
		}
	}
	go func() {
		for {
			near, err := lis.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", to)
			if err != nil {
				near.Close()
				return
			}
			go pass(far, near)
			go pass(near, far)
		}
	}()
	return lis.Addr().String()
}

func TestACallLeavesAReplicaThatIsCutOffAtWork(t *testing.T) {
	var swallows atomic.Bool
	var calls atomic.Int64
	cut := make(chan struct{}, 1)
	dead := bare(t, func(ctx context.Context) error {
		calls.Add(1)
		_ = grpc.SendHeader(ctx, nil)
		cut <- struct{}{}
		<-ctx.Done()
		return ctx.Err()
	})
	alive := bare(t, func(context.Context) error { return nil })
	c := dial(t, alive+","+swallower(t, dead, &swallows), func(cfg *client.Config) { cfg.Patience = impatient })
	ended := make(chan error)
	for asked := false; !asked; {
		go func() {
			_, err := c.Reflect(t.Context(), why)
			ended <- err
		}()
		select {
		case <-cut:
			asked = true
		case err := <-ended:
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	swallows.Store(true)
	if err := <-ended; err != nil || calls.Load() != 1 {
		t.Errorf("got %v after %d calls of the replica that was cut off", err, calls.Load())
	}
}

// slow takes its time for what may not be done twice.
type slow struct {
	retrieverv1.UnimplementedKnowledgeGraphServiceServer
	calls *atomic.Int64
}

func (s slow) CompactSnapshot(context.Context,
	*retrieverv1.CompactSnapshotRequest) (*retrieverv1.CompactSnapshotResponse, error) {
	s.calls.Add(1)
	time.Sleep(8 * impatient)
	return &retrieverv1.CompactSnapshotResponse{}, nil
}

func TestWhatChangesAKnowledgeGraphIsNotMadeAgain(t *testing.T) {
	var calls atomic.Int64
	var addrs []string
	for range 2 {
		lis, s, served := listen(t), grpc.NewServer(), make(chan error, 1)
		retrieverv1.RegisterKnowledgeGraphServiceServer(s, slow{calls: &calls})
		go func() { served <- s.Serve(lis) }()
		t.Cleanup(func() {
			s.Stop()
			<-served
		})
		addrs = append(addrs, lis.Addr().String())
	}
	cfg := client.DefaultConfig(strings.Join(addrs, ", "))
	cfg.Patience = impatient
	conn, err := client.Dial(cfg, telemetry.Discard())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := retrieverv1.NewKnowledgeGraphServiceClient(conn).CompactSnapshot(t.Context(),
		&retrieverv1.CompactSnapshotRequest{}); err != nil || calls.Load() != 1 {
		t.Errorf("got %v after %d calls, want 1", err, calls.Load())
	}
}

// writer streams an answer, as its turn has it.
type writer struct {
	generatorv1.UnimplementedGeneratorServiceServer
	write func(send func(string)) error
}

func (w writer) GenerateAnswerStream(_ *generatorv1.GenerateAnswerStreamRequest,
	stream grpc.ServerStreamingServer[generatorv1.GenerateAnswerStreamResponse]) error {
	return w.write(func(delta string) {
		_ = stream.Send(&generatorv1.GenerateAnswerStreamResponse{
			Event: &generatorv1.GenerateAnswerStreamResponse_Delta{Delta: delta}})
	})
}

func TestAStreamIsAskedForAgainBeforeItsFirstMessageAlone(t *testing.T) {
	for _, test := range []struct {
		name  string
		first func(s *grpc.Server, send func(string)) error // what the first one asked does
		want  string
		lost  bool
		turns int64
	}{
		{"one that hangs", func(_ *grpc.Server, _ func(string)) error { time.Sleep(20 * impatient); return nil },
			"again", false, 2},
		{"one that dies", func(s *grpc.Server, _ func(string)) error { go s.Stop(); time.Sleep(impatient); return nil },
			"again", false, 2},
		{"one that dies in mid-answer", func(s *grpc.Server, send func(string)) error {
			send("half")
			time.Sleep(impatient)
			go s.Stop()
			time.Sleep(impatient)
			return nil
		}, "half", true, 1},
		{"one that says what is wrong", func(*grpc.Server, func(string)) error {
			return status.Error(codes.InvalidArgument, "no")
		}, "", false, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			var turns atomic.Int64
			var addrs []string
			for range 2 {
				lis, s, served := listen(t), grpc.NewServer(grpc.WaitForHandlers(true)), make(chan error, 1)
				generatorv1.RegisterGeneratorServiceServer(s, writer{write: func(send func(string)) error {
					if turns.Add(1) == 1 {
						return test.first(s, send)
					}
					send("again")
					return nil
				}})
				go func() { served <- s.Serve(lis) }()
				t.Cleanup(func() {
					s.Stop()
					<-served
				})
				addrs = append(addrs, lis.Addr().String())
			}
			cfg := client.DefaultConfig(strings.Join(addrs, ","))
			cfg.Patience = 4 * impatient
			conn, err := client.Dial(cfg, telemetry.Discard())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			stream, err := generatorv1.NewGeneratorServiceClient(conn).GenerateAnswerStream(t.Context(),
				&generatorv1.GenerateAnswerStreamRequest{})
			if err != nil {
				t.Fatal(err)
			}
			var text string
			event, err := stream.Recv()
			for ; err == nil; event, err = stream.Recv() {
				text += event.GetDelta()
			}
			if text != test.want || client.IsLost(err) != test.lost || turns.Load() != test.turns {
				t.Errorf("got %q, then %v, after %d turns", text, err, turns.Load())
			}
			if test.turns == 2 && !errors.Is(err, io.EOF) {
				t.Errorf("it ended with %v", err)
			}
		})
	}
}
