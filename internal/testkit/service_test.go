package testkit_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"

	"github.com/triplemesh/triplemesh/internal/testkit"
)

// serve is a stage as Run would be: it serves until its context ends.
func serve(ctx context.Context, l net.Listener) error {
	s := grpc.NewServer()
	grpc_health_v1.RegisterHealthServer(s, health.NewServer())
	go func() {
		<-ctx.Done()
		s.Stop()
	}()
	return s.Serve(l)
}

func TestServe(t *testing.T) {
	s := testkit.Serve(t, serve)
	resp, err := grpc_health_v1.NewHealthClient(s.Conn).Check(t.Context(), &grpc_health_v1.HealthCheckRequest{})
	if err != nil || resp.Status != grpc_health_v1.HealthCheckResponse_SERVING {
		t.Fatalf("got %v, %v", resp, err)
	}
	s.Stop()
	if conn, err := net.Dial("tcp", s.Addr); err == nil {
		conn.Close()
		t.Error("still listening after Stop")
	}
}

// failing is a test that fails without failing this one.
type failing struct {
	testing.TB
	said     string
	cleanups []func()
}

func (f *failing) Helper()                        {}
func (f *failing) Cleanup(done func())            { f.cleanups = append(f.cleanups, done) }
func (f *failing) Errorf(format string, a ...any) { f.said += fmt.Sprintf(format, a...) + "\n" }
func (f *failing) Fatal(a ...any)                 { f.Fatalf("%s", fmt.Sprint(a...)) }
func (f *failing) Fatalf(format string, a ...any) {
	f.Errorf(format, a...)
	panic(f)
}

// fails runs a test to its end, clean-up included, and returns what it said.
func fails(test func(testing.TB)) string {
	f := &failing{}
	func() {
		defer func() {
			if r := recover(); r != nil && r != any(f) {
				panic(r)
			}
		}()
		test(f)
	}()
	for _, done := range f.cleanups {
		done()
	}
	return f.said
}

func TestServiceThatDoesNotStart(t *testing.T) {
	said := fails(func(tb testing.TB) {
		testkit.Serve(tb, func(context.Context, net.Listener) error { return errors.New("no model") })
	})
	if want := "ended before it served: no model"; !contains(said, want) {
		t.Errorf("said %q, want %q", said, want)
	}
}

func TestServiceThatEndsWithAnError(t *testing.T) {
	said := fails(func(tb testing.TB) {
		testkit.Serve(tb, func(ctx context.Context, l net.Listener) error {
			return errors.Join(serve(ctx, l), errors.New("store not closed"))
		})
	})
	if want := "store not closed"; !contains(said, want) {
		t.Errorf("said %q, want %q", said, want)
	}
}
