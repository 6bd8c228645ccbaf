package testkit

import (
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/known/emptypb"
)

// RegisterService adds a service to the linked contract, with unary methods from and to
// google.protobuf.Empty. Its package must be unique in the test binary. A test that runs again finds
// the service there.
func RegisterService(t testing.TB, pkg, service string, methods map[string]*descriptorpb.MethodOptions) {
	t.Helper()
	if _, err := protoregistry.GlobalFiles.FindFileByPath(pkg + ".proto"); err == nil {
		return
	}
	empty := emptypb.File_google_protobuf_empty_proto
	desc := &descriptorpb.ServiceDescriptorProto{Name: proto.String(service)}
	for name, options := range methods {
		desc.Method = append(desc.Method, &descriptorpb.MethodDescriptorProto{Name: proto.String(name),
			Options:   options,
			InputType: proto.String(".google.protobuf.Empty"), OutputType: proto.String(".google.protobuf.Empty")})
	}
	file, err := protodesc.NewFile(&descriptorpb.FileDescriptorProto{
		Name: proto.String(pkg + ".proto"), Package: proto.String(pkg), Syntax: proto.String("proto3"),
		Dependency: []string{empty.Path()}, Service: []*descriptorpb.ServiceDescriptorProto{desc},
	}, protoregistry.GlobalFiles)
	if err == nil {
		err = protoregistry.GlobalFiles.RegisterFile(file)
	}
	if err != nil {
		t.Fatal(err)
	}
}
