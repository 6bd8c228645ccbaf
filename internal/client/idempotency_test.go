package client_test

import (
	"sync/atomic"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/triplemesh/triplemesh/internal/client"
	"github.com/triplemesh/triplemesh/internal/testkit"
)

func TestOnlyIdempotentMethodsAreRetried(t *testing.T) {
	level := func(l descriptorpb.MethodOptions_IdempotencyLevel) *descriptorpb.MethodOptions {
		return &descriptorpb.MethodOptions{IdempotencyLevel: &l}
	}
	testkit.RegisterService(t, "test.idempotency", "Clock", map[string]*descriptorpb.MethodOptions{
		"Get":     level(descriptorpb.MethodOptions_NO_SIDE_EFFECTS),
		"Set":     level(descriptorpb.MethodOptions_IDEMPOTENT),
		"Advance": nil,
	})
	var calls atomic.Int64
	lis, served := listen(t), make(chan error, 1)
	s := grpc.NewServer(grpc.UnknownServiceHandler(func(_ any, stream grpc.ServerStream) error {
		// A status sent before the request was read can reach the client as the EOF of its send.
		if err := stream.RecvMsg(&emptypb.Empty{}); err != nil {
			return err
		}
		calls.Add(1)
		return status.Error(codes.Unavailable, "going away")
	}))
	go func() { served <- s.Serve(lis) }()
	t.Cleanup(func() {
		s.Stop()
		<-served
	})
	conn := connect(t, lis.Addr().String(), func(cfg *client.Config) {
		cfg.Options = append(cfg.Options, grpc.WithDisableHealthCheck())
	})
	for method, want := range map[string]int64{"Get": 3, "Set": 3, "Advance": 1} {
		calls.Store(0)
		err := conn.Invoke(t.Context(), "/test.idempotency.Clock/"+method, &emptypb.Empty{}, &emptypb.Empty{})
		if status.Code(err) != codes.Unavailable || calls.Load() != want {
			t.Errorf("%s: %d calls, error %v; want %d calls", method, calls.Load(), err, want)
		}
	}
}
