// Package testkit is what tests of several modules share: a scripted language
// model behind real HTTP, stages on loopback listeners, and the way to files of
// the checkout.
package testkit

import (
	"context"
	"net"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/triplemesh/triplemesh/internal/llm"
)

// LLM is an OpenAI-compatible server that answers by script:
//
//	model := testkit.NewLLM(t)
//	model.On(testkit.Task("answer")).Reply("{Paris}")
//	model.On(testkit.Contains("Mars")).Status(429, "Retry-After", "1").Reply("4 km")
//
// A request that no rule matches fails the test. Safe for concurrent use.
type LLM struct {
	tb   testing.TB
	addr string

	mu       sync.Mutex
	rules    []*Rule
	requests []Request
	lacks    []string
	turns    int // of Misbehave
	server   *http.Server
	arrived  sync.Cond     // a request came, or the test ended
	ended    chan struct{} // closed at the end of the test
}

// NewLLM starts a scripted server on a loopback port; it stops with the test.
func NewLLM(tb testing.TB) *LLM {
	tb.Helper()
	m := NewScript(tb)
	m.addr = FreeAddr(tb)
	m.Start()
	tb.Cleanup(m.Kill)
	return m
}

// NewScript is a scripted server without a port, for tests that have a
// listener: it answers through ServeHTTP.
func NewScript(tb testing.TB) *LLM {
	m := &LLM{tb: tb, ended: make(chan struct{})}
	m.arrived.L = &m.mu
	tb.Cleanup(func() {
		close(m.ended)
		m.arrived.Broadcast()
	})
	return m
}

// On adds a rule for requests that all matchers take. Rules added later go
// first, so a test can override what its fixture set up; with no matcher a rule
// takes everything.
func (m *LLM) On(matchers ...Matcher) *Rule {
	r := &Rule{llm: m, matchers: matchers}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.rules = append(m.rules, r)
	return r
}

// Lacks makes the server refuse requests that use a feature, as endpoints do
// that lack it: "json_schema", "json_object", "logprobs", "seed",
// "temperature", "streaming", "stream_options", "max_tokens".
func (m *LLM) Lacks(features ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lacks = features
}

// URL is the server's base URL, "/v1" included.
func (m *LLM) URL() string { return "http://" + m.addr + "/v1" }

// Requests returns what was asked so far, refused requests and retries too.
func (m *LLM) Requests() []Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.requests)
}

// Forget drops what was asked so far, so that a server may run for long.
func (m *LLM) Forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests = nil
}

// Await returns once n requests were asked.
func (m *LLM) Await(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for len(m.requests) < n {
		select {
		case <-m.ended:
			return
		default:
			m.arrived.Wait()
		}
	}
}

// Config points a client at the server: no cache, short retries.
func (m *LLM) Config() llm.Config {
	c := llm.DefaultConfig()
	c.BaseURL = m.URL()
	c.Model = "scripted"
	c.Timeout = 50 * time.Second
	c.RetryDelay = time.Millisecond
	c.MaxRetryDelay = 2 * time.Second
	c.MaxInFlight = 16
	c.Cache = llm.CacheConfig{}
	return c
}

// Kill ends the server at once, answers under way included.
func (m *LLM) Kill() {
	m.mu.Lock()
	s := m.server
	m.server = nil
	m.mu.Unlock()
	if s != nil {
		s.Close()
	}
}

// Start brings a killed server back at the same address.
func (m *LLM) Start() {
	m.tb.Helper()
	l, err := net.Listen("tcp", m.addr)
	if err != nil {
		m.tb.Fatalf("start the scripted model server: %v", err)
	}
	s := &http.Server{Handler: m, BaseContext: func(net.Listener) context.Context { return context.Background() }}
	m.mu.Lock()
	m.server = s
	m.mu.Unlock()
	go s.Serve(l)
}

// record keeps a request. m.mu is held.
func (m *LLM) record(r Request) {
	m.requests = append(m.requests, r)
	m.arrived.Broadcast()
}

// step finds the answer to a request and moves its rule on.
func (m *LLM) step(r Request) (step, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.record(r)
	for _, rule := range slices.Backward(m.rules) {
		if rule.matches(r) {
			return rule.next(), true
		}
	}
	return step{}, false
}
