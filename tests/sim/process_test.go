package sim

import (
	"context"
	"sync"

	"google.golang.org/grpc"

	"github.com/triplemesh/triplemesh/internal/testkit/simnet"
)

// process is one replica of a stage or a model server, on a host.
type process struct {
	net  *simnet.Network
	name string
	run  func(context.Context, *process) error
	// ended is called if the process exits by itself.
	ended func(name string, err error)

	mu     sync.Mutex
	alive  bool
	host   *simnet.Host
	cancel context.CancelFunc
	done   chan struct{}
	// gate blocks handlers until it is closed; nil blocks none.
	gate chan struct{}
}

// start starts the process on a host of its own, unless it runs.
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

// lives reports whether the process that closes done was neither killed nor stopped.
func (p *process) lives(done chan struct{}) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.alive && p.done == done
}

// machine returns the host of the process.
func (p *process) machine() *simnet.Host {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.host
}

// stop ends the process like SIGTERM, and waits for it.
func (p *process) stop() {
	p.mu.Lock()
	cancel, done, host := p.cancel, p.done, p.host
	p.alive = false
	p.mu.Unlock()
	cancel()
	<-done
	host.Kill()
}

// kill ends the process like SIGKILL: its peers see the connections close at once.
func (p *process) kill() {
	p.mu.Lock()
	cancel, host := p.cancel, p.host
	p.alive = false
	p.mu.Unlock()
	host.Kill()
	cancel()
	p.release()
}

// hold makes every new handler hang, even if its caller cancels, until release. Health checks are
// still answered.
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

// wait blocks a handler while the process is held.
func (p *process) wait() {
	p.mu.Lock()
	gate := p.gate
	p.mu.Unlock()
	if gate != nil {
		<-gate
	}
}

// holding returns the options of a server whose handlers can be held.
func (p *process) holding() []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.ChainUnaryInterceptor(func(ctx context.Context, req any, info *grpc.UnaryServerInfo,
			handler grpc.UnaryHandler) (any, error) {
			if !isHealth(info.FullMethod) {
				p.wait()
			}
			return handler(ctx, req)
		}),
		grpc.ChainStreamInterceptor(func(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo,
			handler grpc.StreamHandler) error {
			if !isHealth(info.FullMethod) {
				p.wait()
			}
			return handler(srv, stream)
		}),
	}
}
