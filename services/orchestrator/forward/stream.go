package forward

import (
	"context"
	"errors"
	"io"

	"google.golang.org/grpc"
)

// streams is a grpc.StreamHandler. It ends when the other server has: with what
// that said, unless the caller's own messages were the fault.
func (m *method) streams(_ any, caller grpc.ServerStream) error {
	ctx, cancel := context.WithCancelCause(caller.Context())
	defer cancel(nil)
	other, err := m.conn.NewStream(ctx, m.stream, m.name)
	if err != nil {
		return err
	}
	// The caller's stream ends with this call, so that this does too.
	go func() {
		if err := m.send(caller, other); err != nil {
			cancel(refused{err})
		}
	}()
	err = m.answers(caller, other)
	var fault refused
	if errors.As(context.Cause(ctx), &fault) {
		return fault.error
	}
	return err
}

// refused is why the caller's messages were not taken.
type refused struct{ error }

// send passes the caller's messages on until there are no more. Where the other
// server takes none, it says itself why.
func (m *method) send(caller grpc.ServerStream, other grpc.ClientStream) error {
	for {
		req := m.request()
		switch err := caller.RecvMsg(req); {
		case errors.Is(err, io.EOF):
			_ = other.CloseSend() // it never fails
			return nil
		case err != nil:
			return err
		}
		if err := other.SendMsg(req); err != nil {
			return nil
		}
	}
}

// answers passes the other server's messages back until there are no more, or
// the only one that it sends.
func (m *method) answers(caller grpc.ServerStream, other grpc.ClientStream) error {
	for {
		resp := m.answer()
		switch err := other.RecvMsg(resp); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if err := caller.SendMsg(resp); err != nil || !m.stream.ServerStreams {
			return err
		}
	}
}
