package sim

import (
	"context"
	"sync"

	"google.golang.org/grpc"

	"github.com/triplemesh/triplemesh/internal/testkit/simnet"
)

// process is one replica of a stage, or a model server: what runs on a host.
type process struct {
	net  *simnet.Network
	name string
	run  func(context.Context, *process) error
	// ended hears how it ended where nobody ended it.
	ended func(name string, err error)

	mu     sync.Mutex
	alive  bool
	host   *simnet.Host
	cancel context.CancelFunc
	done   chan struct{}
	// gate holds up handlers while it is there; closed, it lets them go on.
	gate chan struct{}
}

// start lets the process run, on a host that comes up for it. One that runs
// goes on.
func (p *process) start() {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.alive {
		cancel()
		return
	}
	p.alive, p.host, p.cancel, p.done = true, p.net.Boot(p.name), cancel, done
	go func() {
		defer close(done)
		if err := p.run(ctx, p); err != nil && p.lives(done) {
			p.ended(p.name, err)
		}
	}()
}

// lives tells whether the process that closes done in the end was neither killed
// nor stopped.
func (p *process) lives(done chan struct{}) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.alive && p.done == done
}

// machine is the host that the process runs on.
func (p *process) machine() *simnet.Host {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.host
}

// stop ends the process as SIGTERM does, and waits for it.
func (p *process) stop() {
	p.mu.Lock()
	cancel, done, host := p.cancel, p.done, p.host
	p.alive = false
	p.mu.Unlock()
	cancel()
	<-done
	host.Kill()
}

// kill ends it as SIGKILL does: whoever is connected hears so at once.
func (p *process) kill() {
	p.mu.Lock()
	cancel, host := p.cancel, p.host
	p.alive = false
	p.mu.Unlock()
	host.Kill()
	cancel()
	p.release()
}

// hold has every handler that is called from now on hang, whatever becomes of
// its caller, until release. Health is answered all the same.
func (p *process) hold() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gate == nil {
		p.gate = make(chan struct{})
	}
}

func (p *process) release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gate != nil {
		close(p.gate)
		p.gate = nil
	}
}

// wait is where a handler hangs.
func (p *process) wait() {
	p.mu.Lock()
	gate := p.gate
	p.mu.Unlock()
	if gate != nil {
		<-gate
	}
}

// holding are the options of a server whose handlers can be held.
func (p *process) holding() []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.ChainUnaryInterceptor(func(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
			if !isHealth(info.FullMethod) {
				p.wait()
			}
			return handler(ctx, req)
		}),
		grpc.ChainStreamInterceptor(func(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
			if !isHealth(info.FullMethod) {
				p.wait()
			}
			return handler(srv, stream)
		}),
	}
}
