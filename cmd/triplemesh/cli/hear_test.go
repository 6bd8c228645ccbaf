package cli

import (
	"errors"
	"io"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// eventStream are the events of a stream, and how it ends.
type eventStream struct {
	grpc.ClientStream
	events int
	err    error
}

func (s *eventStream) Recv() (*orchestratorv1.AskStreamResponse, error) {
	if s.events == 0 {
		return nil, s.err
	}
	s.events--
	return &orchestratorv1.AskStreamResponse{}, nil
}

func TestAnotherOrchestratorIsAskedWhereOneIsLostInTheMiddle(t *testing.T) {
	gone, no := status.Error(codes.Unavailable, "connection reset"), status.Error(codes.NotFound, "no")
	for _, c := range []struct {
		name    string
		streams []eventStream
		done    int // events until what was asked for is there
		again   int
		want    error
	}{
		{"one that is lost", []eventStream{{events: 2, err: gone}, {events: 3, err: io.EOF}}, 5, 1, nil},
		{"two that are lost", []eventStream{{events: 1, err: gone}, {events: 1, err: gone}, {events: 3, err: io.EOF}},
			5, 2, nil},
		{"three that are lost", []eventStream{{events: 1, err: gone}, {events: 1, err: gone}, {events: 1, err: gone}},
			5, 2, gone},
		{"one that never said anything was tried by the client", []eventStream{{err: gone}}, 1, 0, gone},
		{"one that refuses", []eventStream{{events: 1, err: no}}, 5, 0, no},
		{"one that ends early", []eventStream{{events: 1, err: io.EOF}}, 5, 0, io.EOF},
	} {
		t.Run(c.name, func(t *testing.T) {
			seen, again := 0, 0
			err := consumeStream(func() (grpc.ServerStreamingClient[orchestratorv1.AskStreamResponse], error) {
				next := c.streams[0]
				c.streams = c.streams[1:]
				return &next, nil
			}, func(*orchestratorv1.AskStreamResponse) (bool, error) {
				seen++
				return seen == c.done, nil
			}, func() { again++ })
			if !errors.Is(err, c.want) || again != c.again || len(c.streams) > 0 {
				t.Errorf("got %v after %d events, asked again %d times", err, seen, again)
			}
		})
	}
}
