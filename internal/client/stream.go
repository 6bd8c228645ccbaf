package client

import (
	"context"

	"google.golang.org/grpc"
)

// callStream is a call of several messages. It has ended when a message can no
// longer be received, or when the only answer has come.
type callStream struct {
	grpc.ClientStream
	call    caller
	cancel  context.CancelFunc
	answers bool // several answers may come
}

func (s *callStream) SendMsg(m any) error { return encodeStatus(s.ClientStream.SendMsg(m)) }

func (s *callStream) RecvMsg(m any) error {
	err := s.ClientStream.RecvMsg(m)
	if err != nil || !s.answers {
		s.call.takeSpans(s.Context(), s.Trailer())
		s.cancel()
	}
	return err
}
