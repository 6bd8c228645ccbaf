package server_test

import (
	"context"
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"

	"github.com/triplemesh/triplemesh/internal/server"
	reflectorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/reflector/v1"
)

// BenchmarkRefusal is a call over loopback that is turned away because another
// is under way, caller included: what overload costs a server per question.
// BenchmarkAnswer is the same call answered.
func BenchmarkRefusal(b *testing.B) {
	begun, release := make(chan struct{}), make(chan struct{})
	r := start(b, "reflector",
		answering(func(ctx context.Context, req *reflectorv1.ReflectRequest) (*reflectorv1.ReflectResponse, error) {
			close(begun)
			<-release
			return echo(ctx, req)
		}), func(cfg *server.Config) { cfg.MaxInFlight, cfg.MaxQueue = 1, 0 })
	ended := make(chan error, 1)
	go func() {
		_, err := r.reflect(b.Context(), "the one under way")
		ended <- err
	}()
	<-begun
	for b.Loop() {
		_, err := r.reflect(b.Context(), "one too many")
		if detail[*errdetails.RetryInfo](wantCode(b, err, codes.ResourceExhausted)) == nil {
			b.Fatal("it does not say when to come again")
		}
	}
	close(release)
	if err := <-ended; err != nil {
		b.Fatal(err)
	}
}

func BenchmarkAnswer(b *testing.B) {
	r := start(b, "reflector", answering(echo))
	for b.Loop() {
		if _, err := r.reflect(b.Context(), "why"); err != nil {
			b.Fatal(err)
		}
	}
}
