package server

import (
	"context"
	"fmt"
	"runtime/debug"
)

// panicError is a panic of a handler.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }

// recoverPanics turns a handler's panic into an error, so that one bad request
// does not end the others.
func recoverPanics(ctx context.Context, _ string, next func(context.Context) error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &panicError{value: value, stack: debug.Stack()}
		}
	}()
	return next(ctx)
}
