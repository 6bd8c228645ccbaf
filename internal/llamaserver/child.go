package llamaserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// child is one run of llama-server.
type child struct {
	cmd    *exec.Cmd
	exited chan struct{}
	// err says how it ended; read it once exited is closed.
	err error
}

// startChild must be called from the supervisor's thread.
func startChild(binary string, args []string, log *os.File) (*child, error) {
	cmd := exec.Command(binary, args...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Env = childEnv(os.Environ())
	cmd.SysProcAttr = childAttr()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	c := &child{cmd: cmd, exited: make(chan struct{})}
	go func() {
		defer close(c.exited)
		if c.err = cmd.Wait(); c.err == nil {
			c.err = errEnded
		}
	}()
	return c, nil
}

// stop asks the child's process group to end, and makes it after five
// seconds. It returns when the child has ended.
func (c *child) stop() {
	group := -c.cmd.Process.Pid
	_ = syscall.Kill(group, syscall.SIGTERM)
	select {
	case <-c.exited:
	case <-time.After(5 * time.Second):
		_ = syscall.Kill(group, syscall.SIGKILL)
		<-c.exited
	}
}

// childEnv keeps what a program needs to run and drops the rest: keys in the environment are none
// of the child's business, and LLAMA_ARG_ variables would change what it does. Its threads sleep while they wait
// for each other, unless the environment says otherwise: spinning gains nothing on an idle machine, and beside
// one busy core the model writes a third as fast.
func childEnv(environ []string) []string {
	keep := []string{"PATH", "HOME", "TMPDIR", "LANG", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES",
		"OMP_WAIT_POLICY"}
	return slices.DeleteFunc(append([]string{"OMP_WAIT_POLICY=passive"}, environ...), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return !slices.Contains(keep, name)
	})
}

// args returns the child's flags. Those that not every version knows are given
// only where its help lists them.
func (s *Server) args(threads int) []string {
	args := []string{
		"--model", s.cfg.Model, "--alias", s.ModelName(),
		"--host", "127.0.0.1", "--port", strconv.Itoa(s.port),
		"--threads", strconv.Itoa(threads),
		"--parallel", strconv.Itoa(s.cfg.Slots),
		"--ctx-size", strconv.Itoa(s.cfg.Slots * s.cfg.Context),
	}
	help, err := exec.Command(s.cfg.Binary, "--help").CombinedOutput()
	if err != nil {
		return args
	}
	// The few-shot prefixes of all prompts fit in half a gigabyte, so that
	// stages that take turns do not push each other's out.
	for _, option := range [][]string{
		{"--threads-batch", strconv.Itoa(s.batchThreads(threads))}, {"--cache-ram", "512"}, {"--no-webui"},
		{"--offline"},
	} {
		if bytes.Contains(help, []byte(option[0])) {
			args = append(args, option...)
		}
	}
	return args
}

// batchThreads returns the number of threads that read prompts: all processors, unless the user has set
// threads. Unlike writing, reading gains from a second thread on a busy machine, too: on two processors
// 49 → 105 tokens a second idle, 38 → 54 beside two busy processes.
func (s *Server) batchThreads(threads int) int {
	if s.cfg.Threads > 0 {
		return threads
	}
	return max(threads, identify(s.cfg).CPUs)
}

// waitHealthy returns once the child answers /health with 200.
func (s *Server) waitHealthy(ctx context.Context, c *child) error {
	ctx, cancel := context.WithTimeoutCause(ctx, s.cfg.StartTimeout,
		fmt.Errorf("it did not answer within %s", s.cfg.StartTimeout))
	defer cancel()
	for {
		if s.healthy(ctx) {
			return nil
		}
		select {
		case <-c.exited:
			return fmt.Errorf("it ended before it answered: %w", c.err)
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (s *Server) healthy(ctx context.Context) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.root()+"/health", nil)
	if err != nil {
		return false
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	return errors.Join(resp.Body.Close()) == nil && resp.StatusCode == http.StatusOK
}

func lastLines(path string, n int) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	return "  " + strings.Join(lines[max(0, len(lines)-n):], "\n  ")
}
