package tests

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health/grpc_health_v1"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/mesh"
	"github.com/triplemesh/triplemesh/internal/testkit"
)

var everyBinary struct {
	sync.Once
	err error
}

// binaries returns a directory with triplemesh and a binary of each stage, built once per test run.
func binaries(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(built, "binaries")
	everyBinary.Do(func() {
		packages := []string{"./cmd/triplemesh"}
		for _, name := range mesh.StageNames() {
			packages = append(packages, "./services/"+name+"/cmd/"+name)
		}
		build := exec.Command("go", append([]string{"build", "-o", dir + string(filepath.Separator)}, packages...)...)
		build.Dir = filepath.Dir(testkit.CheckoutFile(t, "go.work"))
		if out, err := build.CombinedOutput(); err != nil {
			everyBinary.err = fmt.Errorf("%w\n%s", err, out)
		}
	})
	if everyBinary.err != nil {
		t.Fatalf("build the binaries: %v", everyBinary.err)
	}
	return dir
}

var program struct {
	sync.Once
	err error
}

// triplemesh returns the path of the command-line binary, built once per test run.
func triplemesh(t *testing.T) string {
	t.Helper()
	file := filepath.Join(built, "bin", "triplemesh")
	program.Do(func() {
		build := exec.Command("go", "build", "-o", file, "./cmd/triplemesh")
		build.Dir = filepath.Dir(testkit.CheckoutFile(t, "go.work"))
		if out, err := build.CombinedOutput(); err != nil {
			program.err = fmt.Errorf("%w\n%s", err, out)
		}
	})
	if program.err != nil {
		t.Fatalf("build triplemesh: %v", program.err)
	}
	return file
}

// process is a service that runs as a process of its own.
type process struct {
	name, addr string
	cmd        *exec.Cmd
	log        bytes.Buffer
	ended      chan struct{}
	err        error // once ended is closed
}

// launch starts a binary that serves at addr, and returns once it serves. The process is killed
// when the test ends.
func launch(t testing.TB, dir, binary, addr string, env []string, args ...string) *process {
	t.Helper()
	p := &process{name: filepath.Base(binary), addr: addr, cmd: exec.Command(binary, args...),
		ended: make(chan struct{})}
	p.cmd.Dir, p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr = dir, env, &p.log, &p.log
	if err := p.cmd.Start(); err != nil {
		t.Fatalf("start %s: %v", p.name, err)
	}
	go func() {
		defer close(p.ended)
		p.err = p.cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill() // it has exited unless the test failed
		<-p.ended
	})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	go func() {
		select {
		case <-p.ended:
			cancel()
		case <-ctx.Done():
		}
	}()
	watch, err := grpc_health_v1.NewHealthClient(dial(t, addr)).Watch(ctx, &grpc_health_v1.HealthCheckRequest{},
		grpc.WaitForReady(true))
	for err == nil {
		var resp *grpc_health_v1.HealthCheckResponse
		if resp, err = watch.Recv(); resp.GetStatus() == grpc_health_v1.HealthCheckResponse_SERVING {
			return p
		}
	}
	_ = p.cmd.Process.Kill()
	<-p.ended
	t.Fatalf("%s does not serve at %s: %v\n%s", p.name, addr, err, &p.log)
	return nil
}

// terminate sends a process SIGTERM, as a supervisor does.
func (p *process) terminate(t *testing.T) {
	t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Errorf("terminate %s: %v", p.name, err)
	}
}

// checkEnded waits for a terminated process to exit.
func (p *process) checkEnded(t *testing.T) {
	t.Helper()
	select {
	case <-p.ended:
	case <-time.After(patience):
		t.Fatalf("%s does not end", p.name)
	}
	if p.err != nil || p.cmd.ProcessState.ExitCode() != 0 {
		t.Errorf("%s ended with %v\n%s", p.name, p.err, &p.log)
	}
	if conn, err := net.Dial("tcp", p.addr); err == nil {
		conn.Close()
		t.Errorf("%s is still open after the %s exited", p.addr, p.name)
	}
}

// run runs a command and returns its output.
func run(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	if err := cmd.Run(); err != nil {
		t.Errorf("%v: %v\n%s%s", cmd.Args, err, &out, &stderr)
	}
	return out.String()
}

// checkHolds compares the names in a directory.
func checkHolds(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	holds := map[string]bool{}
	for _, w := range want {
		holds[w] = true
	}
	for _, e := range entries {
		if !holds[e.Name()] {
			t.Errorf("%s was left in %s", e.Name(), dir)
		}
	}
}
