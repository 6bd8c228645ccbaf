package server

import (
	"context"
	"sync"

	"google.golang.org/protobuf/proto"

	"github.com/triplemesh/triplemesh/internal/auth"
)

// account is what becomes known of an RPC while it runs: the links further in
// write it down, for those further out to read when it has ended.
type account struct {
	mu     sync.Mutex
	caller auth.Caller
	about  what
}

type accountKey struct{}

func withAccount(ctx context.Context) (context.Context, *account) {
	a := &account{}
	return context.WithValue(ctx, accountKey{}, a), a
}

// accountFrom is an RPC's account; where it has none, one that nobody reads.
func accountFrom(ctx context.Context) *account {
	if a, ok := ctx.Value(accountKey{}).(*account); ok {
		return a
	}
	return &account{}
}

// know writes down who calls, as far as they proved it.
func (a *account) know(caller auth.Caller) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.caller = caller
}

// who is the caller; zero where callers are not asked or proved nothing.
func (a *account) who() auth.Caller {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.caller
}

// look takes from a message what the RPC is about, unless that is known.
func (a *account) look(m any) {
	msg, ok := m.(proto.Message)
	if !ok || msg == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.about.fill(msg.ProtoReflect(), 0)
}

// on is what the RPC is about.
func (a *account) on() what {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.about
}
