package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"io"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// forwardServices implements every method of services on a server by calling the same method over conn.
// Messages are decoded, so that the server's interceptors see the requests; responses, status
// details and trailers pass unchanged. It is an error if the contract lacks a method.
func forwardServices(to grpc.ServiceRegistrar, conn grpc.ClientConnInterface, services ...*grpc.ServiceDesc) error {
	for _, service := range services {
		desc, err := describeService(conn, service)
		if err != nil {
			return fmt.Errorf("forward %s: %w", service.ServiceName, err)
		}
		to.RegisterService(desc, nil)
	}
	return nil
}

// describeService returns a service description whose methods call conn.
func describeService(conn grpc.ClientConnInterface, service *grpc.ServiceDesc) (*grpc.ServiceDesc, error) {
	desc := &grpc.ServiceDesc{ServiceName: service.ServiceName, HandlerType: (*any)(nil), Metadata: service.Metadata}
	for _, m := range service.Methods {
		method, err := findMethod(conn, service.ServiceName, m.MethodName)
		if err != nil {
			return nil, err
		}
		desc.Methods = append(desc.Methods, grpc.MethodDesc{MethodName: m.MethodName, Handler: method.unary})
	}
	for _, s := range service.Streams {
		method, err := findMethod(conn, service.ServiceName, s.StreamName)
		if err != nil {
			return nil, err
		}
		method.stream = &grpc.StreamDesc{StreamName: s.StreamName, ClientStreams: s.ClientStreams,
			ServerStreams: s.ServerStreams}
		desc.Streams = append(desc.Streams, grpc.StreamDesc{
			StreamName: s.StreamName, ClientStreams: s.ClientStreams, ServerStreams: s.ServerStreams,
			Handler: method.streams,
		})
	}
	return desc, nil
}

// forwardedMethod is one forwarded method.
type forwardedMethod struct {
	conn    grpc.ClientConnInterface
	name    string // "/package.Service/Method"
	in, out protoreflect.MessageType
	stream  *grpc.StreamDesc // nil for a unary one
}

func findMethod(conn grpc.ClientConnInterface, service, name string) (*forwardedMethod, error) {
	full := protoreflect.FullName(service).Append(protoreflect.Name(name))
	found, err := protoregistry.GlobalFiles.FindDescriptorByName(full)
	if err != nil {
		return nil, err
	}
	desc, ok := found.(protoreflect.MethodDescriptor)
	if !ok {
		return nil, fmt.Errorf("%s is no method", full)
	}
	m := &forwardedMethod{conn: conn, name: "/" + service + "/" + name}
	if m.in, err = protoregistry.GlobalTypes.FindMessageByName(desc.Input().FullName()); err != nil {
		return nil, err
	}
	if m.out, err = protoregistry.GlobalTypes.FindMessageByName(desc.Output().FullName()); err != nil {
		return nil, err
	}
	return m, nil
}

func (m *forwardedMethod) request() proto.Message { return m.in.New().Interface() }
func (m *forwardedMethod) answer() proto.Message  { return m.out.New().Interface() }

// unary is a grpc.MethodHandler.
//
//nolint:revive // gRPC fixes the order of the parameters.
func (m *forwardedMethod) unary(srv any, ctx context.Context, decode func(any) error,
	chain grpc.UnaryServerInterceptor) (any, error) {
	req := m.request()
	if err := decode(req); err != nil {
		return nil, err
	}
	call := func(ctx context.Context, req any) (any, error) {
		resp := m.answer()
		if err := m.conn.Invoke(ctx, m.name, req, resp); err != nil {
			return nil, err
		}
		return resp, nil
	}
	if chain == nil {
		return call(ctx, req)
	}
	return chain(ctx, req, &grpc.UnaryServerInfo{Server: srv, FullMethod: m.name}, call)
}

// streams is a grpc.StreamHandler. It returns the other server's status, unless the caller's own
// messages failed.
func (m *forwardedMethod) streams(_ any, caller grpc.ServerStream) error {
	ctx, cancel := context.WithCancelCause(caller.Context())
	defer cancel(nil)
	other, err := m.conn.NewStream(ctx, m.stream, m.name)
	if err != nil {
		return err
	}
	// The caller's stream ends with this call, and so does the goroutine.
	go func() {
		if err := m.send(caller, other); err != nil {
			cancel(refusedError{err})
		}
	}()
	err = m.answers(caller, other)
	var fault refusedError
	if errors.As(context.Cause(ctx), &fault) {
		return fault.error
	}
	return err
}

// refusedError is the error of rejected messages of the caller.
type refusedError struct{ error }

// send forwards the caller's messages. If the other server stops reading, its status says why.
func (m *forwardedMethod) send(caller grpc.ServerStream, other grpc.ClientStream) error {
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

// answers forwards the other server's messages, or the only one of a client stream.
func (m *forwardedMethod) answers(caller grpc.ServerStream, other grpc.ClientStream) error {
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
