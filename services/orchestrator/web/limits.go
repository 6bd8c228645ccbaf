package web

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/triplemesh/triplemesh/services/orchestrator/problem"
)

// retryAfter is told to callers that are turned away because there are too
// many.
const retryAfter = time.Second

// limitStreams turns requests away while limit others are under way.
func limitStreams(limit int) func(http.Handler) http.Handler {
	var open atomic.Int64
	return func(next http.Handler) http.Handler {
		if limit == 0 {
			return next
		}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			defer open.Add(-1)
			if open.Add(1) > int64(limit) {
				// What it would have sent is not waited for.
				w.Header().Set("Connection", "close")
				problem.Write(w, r, problem.New(http.StatusServiceUnavailable, codes.ResourceExhausted,
					fmt.Sprintf("%d requests are under way, the limit (orchestrator.http.max_streams); try again in %s", limit, retryAfter)).After(retryAfter))
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// endWith ends requests that would last for ever when the server goes down.
func endWith(doors doors, down <-chan struct{}) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !doors.of(r).endless(r) {
				next.ServeHTTP(w, r)
				return
			}
			ctx, cancel := context.WithCancel(r.Context())
			defer cancel()
			go func() {
				select {
				case <-down:
					cancel()
				case <-ctx.Done():
				}
			}()
			next.ServeHTTP(w, r.WithContext(ctx))
		})
	}
}
