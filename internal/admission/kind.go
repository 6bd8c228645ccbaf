package admission

import "context"

type kindKey struct{}

// WithKind makes room in a context for what kind of request it is of.
func WithKind(ctx context.Context) context.Context {
	return context.WithValue(ctx, kindKey{}, new(string))
}

// Name says what kind of request a context's is: requests of a kind take about as
// long as each other in calm. kind must be one of few, and not a text of the
// caller's. It does nothing where no gate was passed. Call it from the request's
// own goroutine.
//
// Requests with a kind are held to what theirs takes in calm. Those that nobody
// names, such as the calls of stages by each other, are refused for want of time
// alone: what is refused there was begun before.
func Name(ctx context.Context, kind string) {
	if k, ok := ctx.Value(kindKey{}).(*string); ok {
		*k = kind
	}
}

func kindOf(ctx context.Context) string {
	if k, ok := ctx.Value(kindKey{}).(*string); ok {
		return *k
	}
	return ""
}
