package llama

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// testBudget bounds the self-test: no further number of threads is tried once
// it is spent.
const testBudget = 10 * time.Second

// machine is what the choice of threads depends on.
type machine struct {
	CPU    string `json:"cpu"`
	CPUs   int    `json:"cpus"`
	Binary string `json:"binary"`
	Model  string `json:"model"`
}

// choice is the outcome of a self-test.
type choice struct {
	Machine machine `json:"machine"`
	Threads int     `json:"threads"`
	// TokensPerSecond is how fast the model wrote with that many threads.
	TokensPerSecond float64 `json:"tokens_per_second"`
}

func (s *Server) choicePath() string { return filepath.Join(s.cfg.StateDir, "threads.json") }

func readChoice(path string, me machine) (choice, bool) {
	var c choice
	b, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(b, &c) != nil {
		return choice{}, false
	}
	return c, c.Machine == me && c.Threads > 0
}

// choose starts the child with growing numbers of threads, has each write a
// few tokens, and keeps the fastest running.
//
// Counting cores is not enough: the threads of llama.cpp wait for each other
// by spinning, so where something else takes a core away from time to time,
// two threads can be eight times slower than one.
func (s *Server) choose(ctx context.Context, me machine) (*child, error) {
	var best choice
	var running *child
	began := time.Now()
	tried := 0
	for _, n := range candidates(me.CPUs) {
		if time.Since(began) > testBudget {
			break
		}
		if running != nil {
			running.stop()
		}
		c, err := s.launch(ctx, n)
		if err != nil {
			return nil, err
		}
		running, tried = c, n
		rate := s.decodeRate(ctx)
		s.cfg.Log.Debug("self-test", "threads", n, "tokens_per_second", rate)
		if rate <= best.TokensPerSecond && best.Threads > 0 {
			break
		}
		best = choice{Machine: me, Threads: n, TokensPerSecond: rate}
	}
	s.cfg.Log.Info("chose the number of threads", "threads", best.Threads, "tokens_per_second", best.TokensPerSecond)
	if b, err := json.MarshalIndent(best, "", "  "); err == nil {
		// A choice that cannot be kept is made again next time.
		_ = os.WriteFile(s.choicePath(), append(b, '\n'), 0o644)
	}
	if tried == best.Threads {
		return running, nil
	}
	running.stop()
	return s.launch(ctx, best.Threads)
}

// candidates are 1, 2, 4, … and the number of processors.
func candidates(cpus int) []int {
	var all []int
	for n := 1; n < cpus; n *= 2 {
		all = append(all, n)
	}
	return append(all, max(1, cpus))
}

func identify(cfg Config) machine {
	return machine{
		CPU:    cpuModel(),
		CPUs:   min(runtime.NumCPU(), runtime.GOMAXPROCS(0)),
		Binary: fileID(cfg.Binary),
		Model:  fileID(cfg.Model),
	}
}

func cpuModel() string {
	b, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	for line := range strings.Lines(string(b)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}

func fileID(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return path
	}
	return fmt.Sprintf("%s %d %d", path, info.Size(), info.ModTime().Unix())
}
