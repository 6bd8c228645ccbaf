// Package llama runs llama.cpp's llama-server as a child that answers as an
// OpenAI-compatible endpoint on a loopback port.
//
// The child is watched: it is started again when it dies, at the same address,
// and it ends with its parent, however the parent ends.
package llama

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/triplemesh/triplemesh/internal/freeport"
)

// Config says what to run.
type Config struct {
	// Binary is the path of llama-server.
	Binary string
	// Model is the path of a GGUF file.
	Model string
	// StateDir takes the log and the result of the self-test.
	StateDir string
	// Threads is how many threads compute; 0 finds the fastest number by a
	// self-test.
	Threads int
	// Slots is how many requests are answered at once; 0 takes 2.
	Slots int
	// Context is how many tokens a slot holds; 0 takes 8192.
	Context int
	// StartTimeout bounds the wait for the model to be read; 0 takes 3 minutes.
	StartTimeout time.Duration
	// Log takes the story of the child; nil takes none.
	Log *slog.Logger `json:"-"`
}

// Server is a supervised llama-server. The zero value is not usable: see New.
type Server struct {
	cfg  Config
	port int

	mu      sync.Mutex
	threads int

	cancel context.CancelFunc
	ended  chan struct{}
}

// New prepares a server. Nothing runs until Start.
func New(cfg Config) *Server {
	if cfg.Slots == 0 {
		cfg.Slots = 2
	}
	if cfg.Context == 0 {
		cfg.Context = 8192
	}
	if cfg.StartTimeout == 0 {
		cfg.StartTimeout = 3 * time.Minute
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Server{cfg: cfg}
}

// Start runs the child and returns once it answers, or with the reason why it
// does not. From then on it is kept running until ctx ends or Stop is called.
func (s *Server) Start(ctx context.Context) error {
	for _, f := range []struct{ what, path string }{{"llama-server", s.cfg.Binary}, {"the model", s.cfg.Model}} {
		if _, err := os.Stat(f.path); err != nil {
			return fmt.Errorf("start llama-server: %s is missing (%w): run `triplemesh setup`", f.what, err)
		}
	}
	if err := os.MkdirAll(s.cfg.StateDir, 0o755); err != nil {
		return fmt.Errorf("start llama-server: %w", err)
	}
	port, err := freeport.Find("127.0.0.1")
	if err != nil {
		return fmt.Errorf("start llama-server: %w", err)
	}
	s.port = port
	ctx, s.cancel = context.WithCancel(ctx)
	s.ended = make(chan struct{})
	ready := make(chan error, 1)
	go func() {
		defer close(s.ended)
		// The kernel ends the child when the thread that started it ends. This
		// one is locked to the supervisor and lives as long as it does.
		runtime.LockOSThread()
		s.supervise(ctx, ready)
	}()
	if err := <-ready; err != nil {
		s.Stop()
		return fmt.Errorf("start llama-server: %w", err)
	}
	return nil
}

// BaseURL is the endpoint for OpenAI clients, such as
// "http://127.0.0.1:41234/v1". It stays the same over restarts.
func (s *Server) BaseURL() string { return s.root() + "/v1" }

func (s *Server) root() string {
	return "http://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port))
}

// Threads is how many threads the child computes with.
func (s *Server) Threads() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.threads
}

// ModelName is the name by which the endpoint knows the model.
func (s *Server) ModelName() string {
	return strings.TrimSuffix(filepath.Base(s.cfg.Model), filepath.Ext(s.cfg.Model))
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

// LogPath is the file that takes the child's output.
func (s *Server) LogPath() string { return filepath.Join(s.cfg.StateDir, "llama-server.log") }

var errEnded = errors.New("it ended")
