package server_test

import (
	"context"
	"path/filepath"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/triplemesh/triplemesh/internal/server"
	"github.com/triplemesh/triplemesh/internal/testkit"
	authv1 "github.com/triplemesh/triplemesh/proto/triplemesh/auth/v1"
)

func TestAuditedMethodsAreThoseOfTheContract(t *testing.T) {
	audited := &descriptorpb.MethodOptions{}
	proto.SetExtension(audited, authv1.E_Audit, true)
	testkit.RegisterService(t, "test.audit", "Safe", map[string]*descriptorpb.MethodOptions{"Open": audited,
		"Look": nil})
	desc := &grpc.ServiceDesc{ServiceName: "test.audit.Safe", HandlerType: (*any)(nil)}
	for _, name := range []string{"Open", "Look"} {
		desc.Methods = append(desc.Methods, grpc.MethodDesc{MethodName: name, Handler: func(_ any, ctx context.Context,
			decode func(any) error, chain grpc.UnaryServerInterceptor) (any, error) {
			in := &emptypb.Empty{}
			if err := decode(in); err != nil {
				return nil, err
			}
			return chain(ctx, in, &grpc.UnaryServerInfo{FullMethod: "/test.audit.Safe/" + name},
				func(context.Context, any) (any, error) { return &emptypb.Empty{}, nil })
		}})
	}
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	r := start(t, "retriever", func(s grpc.ServiceRegistrar) { s.RegisterService(desc, nil) },
		func(cfg *server.Config) { cfg.Audit.File = path })
	for _, method := range desc.Methods {
		if err := r.conn.Invoke(t.Context(), "/test.audit.Safe/"+method.MethodName, &emptypb.Empty{},
			&emptypb.Empty{}); err != nil {
			t.Fatal(err)
		}
	}
	r.stop()
	<-r.stopped
	if got := lines(t, path); len(got) != 1 || got[0].Method != "/test.audit.Safe/Open" {
		t.Errorf("the audit log has %+v, want one line of Open", got)
	}
}
