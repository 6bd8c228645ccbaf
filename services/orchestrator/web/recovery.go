package web

import (
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"

	"google.golang.org/grpc/codes"

	"github.com/triplemesh/triplemesh/services/orchestrator/problem"
)

// recoverPanics answers for a door that panicked, and cuts an answer that had
// begun.
func recoverPanics(log *slog.Logger) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			answer := &seen{ResponseWriter: w}
			defer func() {
				value := recover()
				if value == nil {
					return
				}
				if value == http.ErrAbortHandler {
					panic(value) // it asks to be cut, and is no fault
				}
				log.ErrorContext(r.Context(), "a door panicked", "panic", fmt.Sprint(value), "stack", string(debug.Stack()))
				if answer.status != 0 {
					panic(http.ErrAbortHandler)
				}
				problem.Write(w, r, problem.New(http.StatusInternalServerError, codes.Internal,
					"internal error; the orchestrator's log has the details under the request id"))
			}()
			next.ServeHTTP(answer, r)
		})
	}
}
