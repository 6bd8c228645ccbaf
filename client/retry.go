package client

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	errorsv1 "github.com/triplemesh/triplemesh/proto/triplemesh/errors/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

// maxWait is the longest delay that is waited for: beyond it, the caller is told.
const maxWait = 30 * time.Second

// serviceConfig retries idempotent methods that fail with UNAVAILABLE. A mesh that has retried
// already forbids it by a pushback, which gRPC obeys.
func serviceConfig(attempts int) string {
	type method struct {
		Service string `json:"service"`
		Method  string `json:"method"`
	}
	config := map[string]any{"loadBalancingConfig": []any{map[string]any{"round_robin": struct{}{}}}}
	if attempts > 1 {
		var names []method
		for _, m := range methods() {
			if isIdempotent(m) {
				names = append(names, method{string(m.Parent().FullName()), string(m.Name())})
			}
		}
		config["methodConfig"] = []any{map[string]any{
			"name": names,
			"retryPolicy": map[string]any{
				"maxAttempts": attempts, "initialBackoff": "0.1s", "maxBackoff": "5s", "backoffMultiplier": 2,
				"retryableStatusCodes": []string{"UNAVAILABLE"},
			},
		}}
	}
	data, err := json.Marshal(config)
	if err != nil {
		panic(err) // the value above always marshals
	}
	return string(data)
}

// methods returns the methods that a Client can call.
func methods() []protoreflect.MethodDescriptor {
	var all []protoreflect.MethodDescriptor
	for _, file := range []protoreflect.FileDescriptor{
		orchestratorv1.File_triplemesh_orchestrator_v1_orchestrator_proto,
		orchestratorv1.File_triplemesh_orchestrator_v1_feedback_proto,
		retrieverv1.File_triplemesh_retriever_v1_retriever_proto,
		retrieverv1.File_triplemesh_retriever_v1_knowledge_graph_proto,
	} {
		for i := range file.Services().Len() {
			service := file.Services().Get(i).Methods()
			for j := range service.Len() {
				all = append(all, service.Get(j))
			}
		}
	}
	return all
}

func isIdempotent(m protoreflect.MethodDescriptor) bool {
	opts, ok := m.Options().(*descriptorpb.MethodOptions)
	return ok && opts.GetIdempotencyLevel() != descriptorpb.MethodOptions_IDEMPOTENCY_UNKNOWN
}

// retryRefused retries calls that the mesh refuses with RESOURCE_EXHAUSTED and a delay, if that is
// short and before the deadline. A refused call was not begun, so it is safe to retry any.
func retryRefused(attempts int) grpc.UnaryClientInterceptor {
	return func(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker,
		opts ...grpc.CallOption) error {
		for attempt := 1; ; attempt++ {
			err := invoke(ctx, method, req, reply, conn, opts...)
			delay, ok := RetryAfter(err)
			if status.Code(err) != codes.ResourceExhausted || !ok || delay > maxWait || attempt >= attempts {
				return err
			}
			if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= delay {
				return err
			}
			timer := time.NewTimer(delay)
			select {
			case <-timer.C:
			case <-ctx.Done():
				timer.Stop()
				return err
			}
		}
	}
}

// RetryAfter returns the delay after which the mesh asks to retry, if the error says so.
func RetryAfter(err error) (time.Duration, bool) {
	for _, detail := range status.Convert(err).Details() {
		if info, ok := detail.(*errdetails.RetryInfo); ok {
			return info.GetRetryDelay().AsDuration(), true
		}
	}
	return 0, false
}

// Reason returns the reason of an error of a mesh; unspecified if the error has none.
func Reason(err error) errorsv1.ErrorReason {
	for _, detail := range status.Convert(err).Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok && info.GetDomain() == "triplemesh" {
			return errorsv1.ErrorReason(errorsv1.ErrorReason_value["ERROR_REASON_"+strings.ToUpper(info.GetReason())])
		}
	}
	return errorsv1.ErrorReason_ERROR_REASON_UNSPECIFIED
}
