// Package forward answers the calls of services by another server: one address
// is then enough for callers, who are asked there who they are, and whose
// requests are checked there.
package forward

import (
	"context"
	"fmt"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// Register has a server answer every method of services by calling the same one
// over conn. Messages are decoded on the way, so that the server's chain sees
// what is asked; the answers, the status with its details and what else conn
// brings back stay as they are. The error names what the contract lacks.
func Register(to grpc.ServiceRegistrar, conn grpc.ClientConnInterface, services ...*grpc.ServiceDesc) error {
	for _, service := range services {
		desc, err := describe(conn, service)
		if err != nil {
			return fmt.Errorf("forward %s: %w", service.ServiceName, err)
		}
		to.RegisterService(desc, nil)
	}
	return nil
}

// describe is a service of the same name and methods that calls conn.
func describe(conn grpc.ClientConnInterface, service *grpc.ServiceDesc) (*grpc.ServiceDesc, error) {
	desc := &grpc.ServiceDesc{ServiceName: service.ServiceName, HandlerType: (*any)(nil), Metadata: service.Metadata}
	for _, m := range service.Methods {
		method, err := find(conn, service.ServiceName, m.MethodName)
		if err != nil {
			return nil, err
		}
		desc.Methods = append(desc.Methods, grpc.MethodDesc{MethodName: m.MethodName, Handler: method.unary})
	}
	for _, s := range service.Streams {
		method, err := find(conn, service.ServiceName, s.StreamName)
		if err != nil {
			return nil, err
		}
		method.stream = &grpc.StreamDesc{StreamName: s.StreamName, ClientStreams: s.ClientStreams, ServerStreams: s.ServerStreams}
		desc.Streams = append(desc.Streams, grpc.StreamDesc{
			StreamName: s.StreamName, ClientStreams: s.ClientStreams, ServerStreams: s.ServerStreams, Handler: method.streams,
		})
	}
	return desc, nil
}

// method is one method that is answered elsewhere.
type method struct {
	conn    grpc.ClientConnInterface
	name    string // "/package.Service/Method"
	in, out protoreflect.MessageType
	stream  *grpc.StreamDesc // nil for a unary one
}

func find(conn grpc.ClientConnInterface, service, name string) (*method, error) {
	full := protoreflect.FullName(service).Append(protoreflect.Name(name))
	found, err := protoregistry.GlobalFiles.FindDescriptorByName(full)
	if err != nil {
		return nil, err
	}
	desc, ok := found.(protoreflect.MethodDescriptor)
	if !ok {
		return nil, fmt.Errorf("%s is no method", full)
	}
	m := &method{conn: conn, name: "/" + service + "/" + name}
	if m.in, err = protoregistry.GlobalTypes.FindMessageByName(desc.Input().FullName()); err != nil {
		return nil, err
	}
	if m.out, err = protoregistry.GlobalTypes.FindMessageByName(desc.Output().FullName()); err != nil {
		return nil, err
	}
	return m, nil
}

func (m *method) request() proto.Message { return m.in.New().Interface() }
func (m *method) answer() proto.Message  { return m.out.New().Interface() }

// unary is a grpc.MethodHandler.
func (m *method) unary(srv any, ctx context.Context, decode func(any) error, chain grpc.UnaryServerInterceptor) (any, error) {
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
