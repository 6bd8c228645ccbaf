package cli

import (
	"context"
	"errors"
	"strings"
	"time"

	"google.golang.org/grpc"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/mesh"
	"github.com/triplemesh/triplemesh/internal/telemetry"
)

// serverFlags say who answers: a mesh that runs, or one in this process.
type serverFlags struct {
	Server string `default:"127.0.0.1:9090" placeholder:"ADDR" env:"TRIPLEMESH_SERVER" help:"Orchestrator to ask, host:port. (default: ${default})"`
	Local  bool   `help:"Answer in this process, with no server."`
	// Retriever is asked which knowledge graphs there are when none is named.
	Retriever string `hidden:"" default:"127.0.0.1:9092" env:"TRIPLEMESH_RETRIEVER"`
}

// storeFlags say who keeps the knowledge graphs.
type storeFlags struct {
	Retriever string `default:"127.0.0.1:9092" placeholder:"ADDR" env:"TRIPLEMESH_RETRIEVER" help:"Retriever to ask, host:port. (default: ${default})"`
	Local     bool   `help:"Work on the data directory in this process, with no server."`
}

// session is a connection to a service, and what must be ended after it.
type session struct {
	*grpc.ClientConn
	// mesh is the one in this process; nil where there is none.
	mesh *mesh.Mesh
	end  func() error
}

// patience is how long a server that is there may take to say so.
const patience = 3 * time.Second

// connect reaches a service at addr, or runs the targets in this process and
// reaches the first of them.
func (p *program) connect(addr string, local bool, targets ...string) (*session, error) {
	tel, err := telemetry.Start(p.ctx, telemetry.Config{LogLevel: "warn", LogWriter: p.stderr}, "triplemesh")
	if err != nil {
		return nil, err
	}
	var inProcess *mesh.Mesh
	endMesh := func() error { return nil }
	endTelemetry := func() error { return tel.Shutdown(context.WithoutCancel(p.ctx)) }
	if local {
		if inProcess, endMesh, err = p.runLocal(targets); err != nil {
			return nil, errors.Join(err, endTelemetry())
		}
		addr = inProcess.Addr(targets[0])
	} else if err := p.reachable(addr, targets[0]); err != nil {
		return nil, errors.Join(err, endTelemetry())
	}
	conn, err := p.dial(addr, targets[0], tel)
	if err != nil {
		return nil, errors.Join(err, endMesh(), endTelemetry())
	}
	return &session{conn, inProcess, func() error { return errors.Join(conn.Close(), endMesh(), endTelemetry()) }}, nil
}

// reachable tells apart, before anything is asked, a server that is not there
// from one that has trouble. Of several, with commas between, one is enough.
func (p *program) reachable(addr, name string) error {
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	secure, err := p.access.credentials(name)
	if err != nil {
		return p.unreachable(addr, name, err)
	}
	all := strings.Split(addr, ",")
	said := make(chan error, len(all))
	for _, one := range all {
		go func() { said <- mesh.Serving(ctx, strings.TrimSpace(one), secure) }()
	}
	for range all {
		if err = <-said; err == nil {
			return nil
		}
	}
	return p.unreachable(all[0], name, err)
}

// runLocal runs services at free loopback ports until the returned function
// is called.
func (p *program) runLocal(targets []string) (m *mesh.Mesh, end func() error, err error) {
	// Nobody else is talked to from here on, and this mesh asks for nothing.
	p.access = accessFlags{}
	return p.runMesh(mesh.Options{
		Home: p.home, Targets: targets, Sources: p.sources, Private: true, Trusting: true, Quiet: true, Log: p.stderr,
	})
}

// runMesh runs a mesh in this process until the returned function is called.
func (p *program) runMesh(o mesh.Options) (m *mesh.Mesh, end func() error, err error) {
	line := p.status()
	defer line.Clear()
	o.Tell = func(s string) { line.set("%s", s) }
	m, err = mesh.New(o)
	if err != nil {
		return nil, nil, exitError{exitUsage, err}
	}
	ctx, cancel := context.WithCancel(p.ctx)
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- m.Run(ctx, func() { close(ready) }) }()
	select {
	case err := <-ended:
		cancel()
		if err == nil {
			err = context.Cause(ctx)
		}
		return nil, nil, err
	case <-ready:
	}
	return m, func() error { cancel(); return <-ended }, nil
}
