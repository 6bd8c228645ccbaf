// Package llamaserver runs llama.cpp's llama-server as a child process that answers as an
// OpenAI-compatible endpoint: with the number of threads that writes fastest here, started again
// when it ends, and with the beginnings of prompts evaluated ahead.
package llamaserver

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/triplemesh/triplemesh/internal/config"
	"github.com/triplemesh/triplemesh/internal/llm"
)

// Config says what to run.
type Config struct {
	// Binary is the path of llama-server.
	Binary string
	// Model is the path of a GGUF file.
	Model string
	// StateDir takes the log and the result of the self-test.
	StateDir string
	// Threads is how many threads compute; 0 finds the fastest number by a self-test.
	Threads int
	// Slots is how many requests are answered at once; 0 takes 2.
	Slots int
	// Context is how many tokens a slot holds; 0 takes 8192.
	Context int
	// StartTimeout bounds the wait for the model to be read; 0 takes 3 minutes.
	StartTimeout time.Duration
	// Prefixes are the beginnings of prompts that a server evaluates ahead of the first question.
	Prefixes [][]llm.Message `json:"-"`
	// Log takes the story of the child; nil takes none.
	Log *slog.Logger `json:"-"`
}

// Server runs llama.cpp's llama-server as a child that answers as an OpenAI-compatible endpoint on
// a loopback port. The child is watched: it is started again when it dies, at the same address, and it
// ends with its parent, however the parent ends.
type Server struct {
	cfg  Config
	port int

	mu      sync.Mutex
	threads int

	cancel context.CancelFunc
	ready  chan error
	ended  chan struct{}
}

// New prepares a server. Nothing runs until Start.
func New(cfg Config) *Server {
	cfg.Slots = cmp.Or(cfg.Slots, 2)
	cfg.Context = cmp.Or(cfg.Context, 8192)
	cfg.StartTimeout = cmp.Or(cfg.StartTimeout, 3*time.Minute)
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Server{cfg: cfg}
}

// Start runs the child, which is kept running until ctx ends or Stop is called. It answers once
// Await has returned; its address is known before.
func (s *Server) Start(ctx context.Context) error {
	for _, f := range []struct{ what, path string }{{"llama-server", s.cfg.Binary}, {"the model", s.cfg.Model}} {
		if _, err := os.Stat(f.path); err != nil {
			return fmt.Errorf("start llama-server: %s is missing (%w): run `triplemesh setup`", f.what, err)
		}
	}
	if err := os.MkdirAll(s.cfg.StateDir, 0o755); err != nil {
		return fmt.Errorf("start llama-server: %w", err)
	}
	port, err := config.FreePort("127.0.0.1")
	if err != nil {
		return fmt.Errorf("start llama-server: %w", err)
	}
	s.port = port
	ctx, s.cancel = context.WithCancel(ctx)
	s.ended, s.ready = make(chan struct{}), make(chan error, 1)
	go func() {
		defer close(s.ended)
		// The kernel ends the child when the thread that started it ends. This
		// one is locked to the supervisor and lives as long as it does.
		runtime.LockOSThread()
		s.supervise(ctx)
	}()
	return nil
}

// Await returns once the child answers, or the reason why it does not. It must be called once.
func (s *Server) Await() error {
	if err := <-s.ready; err != nil {
		return fmt.Errorf("start llama-server: %w", err)
	}
	return nil
}

// BaseURL returns the endpoint for OpenAI clients, such as
// "http://127.0.0.1:41234/v1". It stays the same over restarts.
func (s *Server) BaseURL() string { return s.root() + "/v1" }

func (s *Server) root() string {
	return "http://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port))
}

// Threads returns how many threads the child computes with.
func (s *Server) Threads() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.threads
}

// ModelName returns the name by which the endpoint knows the model.
func (s *Server) ModelName() string {
	return ModelName(s.cfg.Model)
}

// ModelName returns the name of the model in a GGUF file.
func ModelName(file string) string {
	return strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
}

// Stop ends the child and returns when it has ended. Calling it again, or
// without Start, does nothing.
func (s *Server) Stop() {
	if s.cancel == nil {
		return
	}
	s.cancel()
	<-s.ended
}

// LogPath returns the file that takes the child's output.
func (s *Server) LogPath() string { return filepath.Join(s.cfg.StateDir, "llama-server.log") }

var errEnded = errors.New("it ended")

const (
	probeTokens = 12
	probeTime   = 2 * time.Second
	// enough is the share of the rate of fewer threads that more of them need: beside other work they are
	// hardly faster, and the choice outlasts that.
	enough = 0.9
)

// decodeRate has the model write a few tokens and returns how many a second it wrote, 0 where it
// wrote none. The wait for the first one, which is the prompt's, does not count.
func (s *Server) decodeRate(ctx context.Context) float64 {
	ctx, cancel := context.WithTimeout(ctx, 3*probeTime)
	defer cancel()
	body := []byte(
		`{"prompt": "1 2 3 4 5 6 7 8", "n_predict": 13, "temperature": 0, "stream": true, "ignore_eos": true}`)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.root()+"/completion", bytes.NewReader(body))
	if err != nil {
		return 0
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0
	}
	defer resp.Body.Close()
	var first time.Time
	tokens := 0
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		if !strings.HasPrefix(lines.Text(), "data:") {
			continue
		}
		if first.IsZero() {
			first = time.Now()
			continue
		}
		tokens++
		if tokens == probeTokens || time.Since(first) > probeTime {
			break
		}
	}
	if tokens == 0 {
		return 0
	}
	return float64(tokens) / time.Since(first).Seconds()
}

const (
	firstPause = 200 * time.Millisecond
	longPause  = 10 * time.Second
	// steady is how long a child must have run for the next pause to be short again.
	steady = time.Minute
)

// supervise runs children one after another until ctx ends.
func (s *Server) supervise(ctx context.Context) {
	c, err := s.first(ctx)
	s.ready <- err
	if err != nil {
		return
	}
	pause, since := firstPause, time.Now()
	for {
		life, end := context.WithCancel(ctx)
		warmed := make(chan struct{})
		go func() {
			defer close(warmed)
			s.warm(life)
		}()
		select {
		case <-ctx.Done():
			c.stop()
		case <-c.exited:
		}
		end()
		<-warmed
		if ctx.Err() != nil {
			return
		}
		if time.Since(since) > steady {
			pause = firstPause
		}
		s.cfg.Log.Warn(logServerRestarted, "error", c.err, "pause", pause, "log", s.LogPath())
		for {
			select {
			case <-ctx.Done():
				return
			case <-time.After(pause):
			}
			pause = min(2*pause, longPause)
			since = time.Now()
			if c, err = s.launch(ctx, s.Threads()); err == nil {
				break
			}
			s.cfg.Log.Warn(logRestartFailed, "error", err, "pause", pause)
		}
	}
}

// first starts the child with the number of threads that is configured, was
// found earlier, or is found now.
func (s *Server) first(ctx context.Context) (*child, error) {
	if err := os.WriteFile(s.LogPath(), nil, 0o644); err != nil {
		return nil, err
	}
	if s.cfg.Threads > 0 {
		return s.launch(ctx, s.cfg.Threads)
	}
	me := identify(s.cfg)
	if known, ok := readChoice(s.choicePath(), me); ok {
		c, err := s.launch(ctx, known.Threads)
		if err != nil {
			return nil, err
		}
		rate := s.decodeRate(ctx)
		if known.isLike(rate) {
			return c, nil
		}
		s.cfg.Log.Info(logThreadsRemeasured,
			"tokens_per_second", rate, "then", known.TokensPerSecond)
		c.stop()
	}
	return s.choose(ctx, me)
}

// launch starts one child and waits until it answers.
func (s *Server) launch(ctx context.Context, threads int) (*child, error) {
	log, err := os.OpenFile(s.LogPath(), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	c, err := startChild(s.cfg.Binary, s.args(threads), log)
	if err != nil {
		return nil, err
	}
	if err := s.waitHealthy(ctx, c); err != nil {
		c.stop()
		if ctx.Err() == nil {
			err = fmt.Errorf("%w; the end of %s:\n%s", err, s.LogPath(), lastLines(s.LogPath(), 8))
		}
		return nil, err
	}
	s.mu.Lock()
	s.threads = threads
	s.mu.Unlock()
	return c, nil
}

// testBudget bounds the self-test: no further number of threads is tried once it is spent.
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

// isLike reports whether the machine is now as it was in the self-test. If it is much slower now,
// something else took a core away; if much faster, something else did so then.
func (c choice) isLike(tokensPerSecond float64) bool {
	return tokensPerSecond >= c.TokensPerSecond/2 && tokensPerSecond <= 1.5*c.TokensPerSecond
}

// yields reports whether more threads, with this rate, are to be used in place of the choice.
func (c choice) yields(tokensPerSecond float64) bool {
	return c.Threads == 0 || tokensPerSecond > 0 && tokensPerSecond >= enough*c.TokensPerSecond
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
		if !best.yields(rate) {
			break
		}
		best = choice{Machine: me, Threads: n, TokensPerSecond: rate}
	}
	s.cfg.Log.Info(logThreadsChosen, "threads", best.Threads, "tokens_per_second", best.TokensPerSecond)
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

// candidates returns 1, 2, 4, … and the number of processors.
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
