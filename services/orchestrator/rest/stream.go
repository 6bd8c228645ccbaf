package rest

import (
	"bytes"
	"context"
	"net/http"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/problem"
)

// receive is the next message of a stream; io.EOF after the last.
type receive func() (proto.Message, error)

// opener opens the stream that a body asks for.
type opener func(ctx context.Context, body []byte) (receive, error)

// openers open streams by the operations of the document.
func openers(asking orchestratorv1.OrchestratorServiceClient) map[string]opener {
	return map[string]opener{
		"AskStream": func(ctx context.Context, body []byte) (receive, error) {
			req := &orchestratorv1.AskStreamRequest{Request: &orchestratorv1.AskRequest{}}
			if err := decode(body, req.GetRequest()); err != nil {
				return nil, err
			}
			return receiving(asking.AskStream(ctx, req))
		},
		"CheckStream": func(ctx context.Context, body []byte) (receive, error) {
			req := &orchestratorv1.CheckStreamRequest{Request: &orchestratorv1.CheckRequest{}}
			if err := decode(body, req.GetRequest()); err != nil {
				return nil, err
			}
			return receiving(asking.CheckStream(ctx, req))
		},
	}
}

func decode(body []byte, into proto.Message) error {
	if len(bytes.TrimSpace(body)) == 0 {
		return nil
	}
	if err := strict.Unmarshal(body, into); err != nil {
		return status.Error(codes.InvalidArgument, err.Error())
	}
	return nil
}

func receiving[T any, M interface {
	*T
	proto.Message
}](stream grpc.ServerStreamingClient[T], err error) (receive, error) {
	return func() (proto.Message, error) {
		m, err := stream.Recv()
		if err != nil {
			return nil, err
		}
		return M(m), nil
	}, err
}

// stream answers with events. A caller that goes away ends what it asked.
func (a *api) stream(w http.ResponseWriter, r *http.Request, body []byte, open opener) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	next, err := open(ctx, body)
	if err != nil {
		problem.Write(w, r, problemOf(err))
		return
	}
	newEvents(w, r, a.heartbeat).pass(next)
}
