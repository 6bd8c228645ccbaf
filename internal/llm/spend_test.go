package llm

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
)

func TestAnErrorCarriesWhatWasSpentBeforeIt(t *testing.T) {
	t.Parallel()
	down := errorf(ErrUnavailable, "the model is down")
	for _, c := range []struct {
		name    string
		err     error
		charged *llmv1.Usage
		calls   uint32
		code    codes.Code
	}{
		{"an error of the model carries it over a hop", down, &llmv1.Usage{Calls: 2}, 2, codes.Unavailable},
		{"wrapped ones do too", fmt.Errorf("judge: %w", down), &llmv1.Usage{Calls: 2}, 2, codes.Unavailable},
		{"answers from the cache count", down, &llmv1.Usage{CachedCalls: 1}, 0, codes.Unavailable},
		{"an error without a status stays without one", errors.New("secret"), &llmv1.Usage{Calls: 2}, 0, codes.Unknown},
		{"an error before any call carries nothing", down, nil, 0, codes.Unavailable},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l := NewLedger(nil)
			l.Charge(c.charged)
			err := l.AttachUsage(c.err)
			if !errors.Is(err, c.err) {
				t.Errorf("%v is no longer %v", err, c.err)
			}
			if c.charged.GetCalls() > 0 && AttachedUsage(err).GetCalls() != c.charged.GetCalls() {
				t.Errorf("on this side %v was spent, want %v", AttachedUsage(err), c.charged)
			}
			var withStatus interface{ GRPCStatus() *status.Status }
			if !errors.As(err, &withStatus) || withStatus.GRPCStatus() == nil {
				if c.code != codes.Unknown {
					t.Fatalf("%v has no status", err)
				}
				return
			}
			beyond := status.ErrorProto(withStatus.GRPCStatus().Proto())
			if status.Code(beyond) != c.code || AttachedUsage(beyond).GetCalls() != c.calls {
				t.Errorf("beyond the hop: %v, spent %v; want %v and %d calls", beyond, AttachedUsage(beyond),
					c.code, c.calls)
			}
		})
	}
	if err := NewLedger(nil).AttachUsage(nil); err != nil {
		t.Errorf("no error became %v", err)
	}
	if got := AttachedUsage(context.Canceled); got != nil {
		t.Errorf("a cancellation carries %v", got)
	}
}

func TestSpendReportsTheUsageOfFailedCalls(t *testing.T) {
	t.Parallel()
	limits := &llmv1.Limits{Budget: &llmv1.Budget{MaxCalls: 3}}
	l := NewLedger(limits)
	l.Charge(&llmv1.Usage{Calls: 2, PromptTokens: 7})
	if left, err := l.Remaining(); err != nil || left.GetMaxCalls() != 1 {
		t.Errorf("remaining %v, %v", left, err)
	}
	err := l.AttachUsage(errorf(ErrUnavailable, "the model is down"))
	if !errors.Is(err, ErrUnavailable) || AttachedUsage(err).GetPromptTokens() != 7 {
		t.Errorf("got %v with %v", err, AttachedUsage(err))
	}
}

func TestNoCallIsGrantedWhatAnotherOneIsSettling(t *testing.T) {
	t.Parallel()
	const limit = 2000
	l := NewLedger(&llmv1.Limits{Budget: &llmv1.Budget{MaxCalls: limit}})
	var granted atomic.Int64
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range limit {
				if held, err := l.reserve(1, 0); err == nil {
					granted.Add(1)
					l.settle(held, Usage{PromptTokens: 1}, "m")
				}
			}
		})
	}
	all.Wait()
	if granted.Load() != limit || l.Usage().GetCalls() != limit {
		t.Errorf("%d calls granted, %d charged, want %d", granted.Load(), l.Usage().GetCalls(), limit)
	}
}
