package retriever

import (
	"context"
	"errors"
	"testing"

	"google.golang.org/grpc"

	"github.com/triplemesh/triplemesh/internal/auth"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// damagedTenants panics like a snapshot with a damaged page.
type damagedTenants struct{ store.Tenants }

func (damagedTenants) ForTenant(auth.Tenant) (store.Store, error) {
	panic(&store.Fault{Err: errDamaged})
}

var errDamaged = errors.New("page 3: checksum mismatch")

// registrar keeps the registered service.
type registrar struct {
	desc *grpc.ServiceDesc
	impl any
}

func (r *registrar) RegisterService(desc *grpc.ServiceDesc, impl any) { r.desc, r.impl = desc, impl }

func TestEveryMethodReturnsFaultsAsErrors(t *testing.T) {
	registered := &registrar{}
	(&Service{tenants: damagedTenants{}}).Register(registered)
	ctx := auth.WithTenant(t.Context(), auth.DefaultTenant())
	if len(registered.desc.Methods) != len(retrieverv1.RetrieverService_ServiceDesc.Methods) {
		t.Fatalf("%d methods are registered", len(registered.desc.Methods))
	}
	intercepted := 0
	for _, method := range registered.desc.Methods {
		for name, interceptor := range map[string]grpc.UnaryServerInterceptor{
			"without interceptor": nil,
			"with interceptor": func(ctx context.Context, req any, _ *grpc.UnaryServerInfo,
				handle grpc.UnaryHandler) (any, error) {
				intercepted++
				return handle(ctx, req)
			},
		} {
			t.Run(method.MethodName+" "+name, func(t *testing.T) {
				_, err := method.Handler(registered.impl, ctx, func(any) error { return nil }, interceptor)
				if !errors.Is(err, errDamaged) {
					t.Errorf("error %v, want %v", err, errDamaged)
				}
			})
		}
	}
	if intercepted != len(registered.desc.Methods) {
		t.Errorf("%d calls passed the interceptor, want %d", intercepted, len(registered.desc.Methods))
	}
}
