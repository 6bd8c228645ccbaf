package client

import (
	"context"
	"errors"
	"io"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// callStream is a call of several messages. It has ended when a message can no
// longer be received, or when the only answer has come.
//
// One that is asked by a single message is asked again, elsewhere, where its
// replica is lost before it has said anything. Later it cannot be: what was
// received may have been passed on. Lost tells such an end.
type callStream struct {
	grpc.ClientStream
	method  string
	call    caller
	cancel  context.CancelFunc
	answers bool // several answers may come
	open    func() error
	leave   context.CancelCauseFunc // ends the try
	breathe func() bool             // pauses before the call is made again
	tries   tries
	movable bool // until the first answer
	heard   bool // whether the server took it on
	again   bool // it was asked again where it was cut short
	request any
}

func (s *callStream) SendMsg(m any) error {
	s.request = m
	return encodeStatus(s.ClientStream.SendMsg(m))
}

func (s *callStream) RecvMsg(m any) error {
	err := s.receive(m)
	for err != nil && s.moves(err) {
		if err = s.ask(); err == nil {
			err = s.receive(m)
		}
	}
	s.movable = false
	if !s.heard {
		s.heard = true
		s.call.throttle.heard(err)
	}
	if err != nil || !s.answers {
		s.call.takeSpans(s.Context(), s.Trailer())
		s.cancel()
	}
	if err == io.EOF {
		return err
	}
	return explain(err, s.method)
}

// receive receives from the replica that the call is at.
func (s *callStream) receive(m any) error {
	ctx := s.Context()
	err := s.ClientStream.RecvMsg(m)
	if err != nil && err != io.EOF && errors.Is(context.Cause(ctx), errLeft) {
		return errLost
	}
	return err
}

// errLost is the end of a call that left its replica after the first answer.
var errLost = status.Error(codes.Unavailable, "the replica gave no sign of life any more")

// moves tells whether the call goes on elsewhere. That of a lost connection does
// so once.
func (s *callStream) moves(err error) bool {
	switch {
	case !s.movable:
		return false
	case errors.Is(err, errLost):
		return true
	case outdated(err):
		return s.tries.more()
	}
	once := !s.again && Lost(err)
	s.again = s.again || once
	return once && s.breathe()
}

// ask asks as the first time.
func (s *callStream) ask() error {
	if err := s.open(); err != nil {
		return err
	}
	if err := s.ClientStream.SendMsg(s.request); err != nil {
		return err
	}
	return s.ClientStream.CloseSend()
}
