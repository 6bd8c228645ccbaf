// Package mesh runs the services of triplemesh in one process, with the model
// server they need where no other endpoint is configured.
package mesh

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/setup"
	"github.com/triplemesh/triplemesh/internal/config"
	"github.com/triplemesh/triplemesh/internal/llm"
)

// The orchestrator is the first.
var stageNames = []string{"orchestrator", "generator", "retriever", "verifier", "evaluator", "reflector"}

// StageNames returns the services, in the order of their ports.
func StageNames() []string { return slices.Clone(stageNames) }

// Options say what to run.
type Options struct {
	// Home is where fetched files, knowledge graphs and runs are.
	Home setup.Home
	// Targets are the services to run; empty or "all" takes every one.
	Targets []string
	// Sources are the layers of configuration.
	Sources config.Sources
	// Private listens at free loopback ports instead of the configured ones, and serves no HTTP.
	Private bool
	// Trusting takes everybody, over plain connections, whatever is configured:
	// for a mesh whose only caller is this process.
	Trusting bool
	// Version is the program's own.
	Version string
	// Log takes the services' logs; nil takes standard error.
	Log io.Writer
	// LogLevel is the level of the services' logs, unless the configuration sets one; empty is info.
	LogLevel string
	// Substitute answers some model requests of every stage in place of the endpoints; nil answers
	// none.
	Substitute llm.Substitute
	// Tell takes lines on what is being waited for; nil takes none.
	Tell func(string)
}

// Mesh is a set of services that are configured and listen, but do not run.
type Mesh struct {
	stages []*service
	model  ModelServer
	home   setup.Home
	opts   Options
}

// service is one service with its configuration in place.
type service struct {
	name string
	parts
	run   func(context.Context) error
	print func(io.Writer) error
}

// New reads the configuration of every target and takes its port. The error names the setting or
// the port that cannot be had. The caller must call Run or Close.
func New(o Options) (*Mesh, error) {
	if o.Tell == nil {
		o.Tell = func(string) {}
	}
	targets, err := targets(o.Targets)
	if err != nil {
		return nil, err
	}
	m := &Mesh{home: o.Home, opts: o}
	if m.model, err = loadModelServer(o); err != nil {
		return nil, err
	}
	l := newLoader(o)
	for _, name := range targets {
		s, err := l.load(name)
		if err == nil {
			err = s.listen(o.Private)
		}
		if err != nil {
			return nil, errors.Join(err, m.Close())
		}
		l.addrs[name] = dialable(s.addr())
		m.stages = append(m.stages, s)
	}
	return m, nil
}

// targets returns the services asked for, the orchestrator last: it is told where
// the others listen.
func targets(asked []string) ([]string, error) {
	all := len(asked) == 0 || slices.Contains(asked, "all")
	for _, name := range asked {
		if name != "all" && !slices.Contains(stageNames, name) {
			return nil, fmt.Errorf("--target %s: no such service; it is all, or some of %s", name,
				strings.Join(stageNames, ","))
		}
	}
	var names []string
	for _, name := range slices.Backward(stageNames) {
		if all || slices.Contains(asked, name) {
			names = append(names, name)
		}
	}
	return names, nil
}

// Addr is where a service listens, host:port; empty if it is not a target.
func (m *Mesh) Addr(name string) string {
	if s := find(m.stages, name); s != nil {
		return s.addr()
	}
	return ""
}

// URL is where the orchestrator serves HTTP; empty if it does not.
func (m *Mesh) URL() string {
	for _, s := range m.stages {
		if s.http != nil && s.http.Listener != nil {
			scheme := "http"
			if s.server.TLS.Enabled() {
				scheme = "https"
			}
			return scheme + "://" + dialable(s.http.Listener.Addr().String())
		}
	}
	return ""
}

// Close gives the ports back. It is for a mesh that will not run.
func (m *Mesh) Close() error {
	var errs []error
	for _, s := range m.stages {
		errs = append(errs, s.close())
	}
	return errors.Join(errs...)
}

// Run starts the services, with the model server if one is needed, and calls ready once all of them
// are ready. When ctx ends the orchestrator goes down first, so that questions under way still have the
// stages they need, then the stages, then the model server.
func (m *Mesh) Run(ctx context.Context, ready func()) error {
	awaitModel, stopModel, err := m.startModel(ctx)
	if err != nil {
		return errors.Join(err, m.Close())
	}
	defer stopModel()
	if err := m.applyProfiles(); err != nil {
		return errors.Join(err, m.Close())
	}

	// The stages outlive ctx until the orchestrator is down.
	stagesCtx, stopStages := context.WithCancel(context.WithoutCancel(ctx))
	defer stopStages()
	front, frontCtx := errgroup.WithContext(ctx)
	back, backCtx := errgroup.WithContext(stagesCtx)
	for _, s := range m.stages {
		if s.name == "orchestrator" {
			front.Go(func() error { return s.start(frontCtx) })
		} else {
			back.Go(func() error { return s.start(backCtx) })
		}
	}
	front.Go(func() error {
		if err := awaitModel(frontCtx); err != nil {
			return err
		}
		if m.awaitServing(frontCtx) == nil { // else the service that does not serve has logged why
			ready()
		}
		return nil
	})
	// A stage that ends early takes the others with it.
	front.Go(func() error {
		select {
		case <-frontCtx.Done():
			return nil
		case <-backCtx.Done():
			return errStageEnded
		}
	})
	front.Go(func() error { <-frontCtx.Done(); return nil })
	err = front.Wait()
	stopStages()
	if backErr := back.Wait(); backErr != nil {
		return backErr
	}
	if errors.Is(err, errStageEnded) || ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil
	}
	return err
}

var errStageEnded = errors.New("a stage ended")

func (s *service) start(ctx context.Context) error {
	err := s.run(ctx)
	if ctx.Err() != nil && errors.Is(err, grpc.ErrServerStopped) {
		return nil // the end came before the beginning
	}
	if err != nil {
		return fmt.Errorf("run the %s: %w", s.name, err)
	}
	if ctx.Err() == nil {
		return fmt.Errorf("run the %s: it ended by itself", s.name)
	}
	return nil
}

// listen opens a port, or returns an error that names the process holding it. setting is the
// service's own that says which.
func listen(name, setting, addr string) (net.Listener, error) {
	l, err := net.Listen("tcp", addr)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("listen at %s for the %s: the port is in use; if a mesh is running already, use that "+
			"one (`triplemesh doctor` shows it); else set %s.%s, by --set or in the configuration file, to another "+
			"port", addr, name, name, setting)
	}
	if err != nil {
		return nil, fmt.Errorf("listen at %s for the %s: %w: set %s.%s to an address of this machine", addr, name,
			err, name, setting)
	}
	return l, nil
}

// awaitServing returns once every service says SERVING.
func (m *Mesh) awaitServing(ctx context.Context) error {
	for _, s := range m.stages {
		secure, err := s.credentials()
		if err != nil {
			return err
		}
		for Serving(ctx, dialable(s.addr()), secure) != nil {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(20 * time.Millisecond):
			}
		}
	}
	return nil
}

// ErrNotServing is the error of Serving for a service that answers, and does not say SERVING.
var ErrNotServing = errors.New("it is starting, or shutting down; try again in a few seconds")

// Serving returns nil if a service at addr, reached by credentials, says SERVING within the time
// that ctx has.
func Serving(ctx context.Context, addr string, secure credentials.TransportCredentials) error {
	conn, err := grpc.NewClient("passthrough:///"+addr, grpc.WithTransportCredentials(secure))
	if err != nil {
		return err
	}
	defer conn.Close()
	resp, err := grpc_health_v1.NewHealthClient(conn).Check(ctx, &grpc_health_v1.HealthCheckRequest{})
	if err != nil {
		return err
	}
	if resp.GetStatus() != grpc_health_v1.HealthCheckResponse_SERVING {
		return ErrNotServing
	}
	return nil
}

// credentials reach a service for its health as somebody can who may read its files.
func (s *service) credentials() (credentials.TransportCredentials, error) {
	if !s.server.TLS.Enabled() {
		return insecure.NewCredentials(), nil
	}
	return s.server.TLS.Visitor(s.name).Credentials(s.name)
}
