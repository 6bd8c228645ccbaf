//go:build versions

package versions

import (
	"context"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"
	"time"

	"github.com/triplemesh/triplemesh/internal/testkit"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
)

// patience is the time after which a call counts as hanging.
const patience = 2 * time.Minute

// process is a running service.
type process struct {
	of    revision
	name  string
	cmd   *exec.Cmd
	log   logged
	ended chan struct{}
	err   error // once ended is closed
}

// launch starts a stage of a version, and returns once it serves at addr.
func launch(tb testing.TB, of revision, name, addr, dir string, env []string) *process {
	tb.Helper()
	p := &process{of: of, name: name, cmd: exec.Command(filepath.Join(of.bin, name), "--server.addr="+addr),
		ended: make(chan struct{})}
	p.cmd.Dir, p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr = dir, env, &p.log, &p.log
	if err := p.cmd.Start(); err != nil {
		tb.Fatalf("start the %s of %s: %v", name, of, err)
	}
	go func() {
		defer close(p.ended)
		p.err = p.cmd.Wait()
	}()
	tb.Cleanup(func() {
		_ = p.cmd.Process.Kill() // it has exited unless the test failed
		<-p.ended
		if tb.Failed() {
			tb.Logf("what the %s of %s logged:\n%s", name, of, p.log.end())
		}
	})
	if err := p.awaitServing(addr); err != nil {
		tb.Fatalf("the %s of %s does not serve at %s: %v", name, of, addr, err)
	}
	return p
}

func (p *process) awaitServing(addr string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	go func() {
		select {
		case <-p.ended:
			cancel()
		case <-ctx.Done():
		}
	}()
	conn, err := grpc.NewClient("passthrough:///"+addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer conn.Close()
	watch, err := grpc_health_v1.NewHealthClient(conn).Watch(ctx, &grpc_health_v1.HealthCheckRequest{},
		grpc.WaitForReady(true))
	for err == nil {
		var resp *grpc_health_v1.HealthCheckResponse
		if resp, err = watch.Recv(); resp.GetStatus() == grpc_health_v1.HealthCheckResponse_SERVING {
			return nil
		}
	}
	return err
}

// stop sends SIGTERM to the process and waits for it.
func (p *process) stop(tb testing.TB) {
	tb.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		tb.Errorf("terminate the %s of %s: %v", p.name, p.of, err)
	}
	select {
	case <-p.ended:
	case <-time.After(patience):
		tb.Fatalf("the %s of %s does not end", p.name, p.of)
	}
	if p.err != nil {
		tb.Errorf("the %s of %s ended with %v", p.name, p.of, p.err)
	}
}

// logged is the log of a process.
type logged struct{ testkit.Log }

var peer = regexp.MustCompile(`msg=rpc .*peer=(\S+)`)

// peers returns the number of connections that calls came from.
func (l *logged) peers() int {
	seen := map[string]bool{}
	for _, m := range peer.FindAllStringSubmatch(l.String(), -1) {
		seen[m[1]] = true
	}
	return len(seen)
}

// end returns the last lines of the log.
func (l *logged) end() string {
	text := l.String()
	return text[max(0, len(text)-1000):]
}
