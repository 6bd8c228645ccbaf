package llama

import (
	"context"
	"fmt"
	"os"
	"time"
)

const (
	firstPause = 200 * time.Millisecond
	longPause  = 10 * time.Second
	// steady is how long a child must have run for the next pause to be short
	// again.
	steady = time.Minute
)

// supervise runs children one after another until ctx ends. The first one's
// fate goes to ready.
func (s *Server) supervise(ctx context.Context, ready chan<- error) {
	c, err := s.first(ctx)
	if err != nil {
		ready <- err
		return
	}
	ready <- nil
	pause, since := firstPause, time.Now()
	for {
		select {
		case <-ctx.Done():
			c.stop()
			return
		case <-c.exited:
		}
		if time.Since(since) > steady {
			pause = firstPause
		}
		s.cfg.Log.Warn("llama-server ended and is started again", "error", c.err, "pause", pause, "log", s.LogPath())
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
			s.cfg.Log.Warn("llama-server did not start again", "error", err, "pause", pause)
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
		if rate >= known.TokensPerSecond/2 {
			return c, nil
		}
		s.cfg.Log.Info("the machine has become slower: choosing the number of threads again",
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
