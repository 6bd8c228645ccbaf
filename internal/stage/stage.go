// Package stage runs one stage of the mesh from its configuration.
package stage

import (
	"context"
	"errors"
	"io"

	"google.golang.org/grpc"

	"github.com/triplemesh/triplemesh/internal/server"
	"github.com/triplemesh/triplemesh/internal/telemetry"
)

// Service is what a stage serves. One that is an io.Closer too is closed when
// nothing is served any more, and before telemetry is: what goes wrong then can
// still be told.
type Service interface {
	Register(grpc.ServiceRegistrar)
}

// Run starts the stage's telemetry, builds its service and serves it until ctx
// ends; then it undoes these in reverse. Nothing outlives it, and nothing is
// shared with another stage in the same process.
func Run(ctx context.Context, name string, tc telemetry.Config, sc server.Config, build func(*telemetry.Telemetry) (Service, error)) (err error) {
	tel, err := telemetry.Start(ctx, tc, name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tel.Shutdown(context.WithoutCancel(ctx))) }()
	service, err := build(tel)
	if err != nil {
		return err
	}
	if c, ok := service.(io.Closer); ok {
		defer func() { err = errors.Join(err, c.Close()) }()
	}
	srv, err := server.New(sc, tel)
	if err != nil {
		return err
	}
	service.Register(srv.Registrar())
	return srv.Serve(ctx)
}

// Services are served together, as one.
type Services []Service

// Register implements Service.
func (s Services) Register(r grpc.ServiceRegistrar) {
	for _, service := range s {
		service.Register(r)
	}
}
