package admission

import "context"

type kindKey struct{}

// WithKind says what kind of request a context's is: requests of a kind take
// about as long as each other. It may still be said more closely, by Refine,
// before the request leaves.
func WithKind(ctx context.Context, kind string) context.Context {
	return context.WithValue(ctx, kindKey{}, &kind)
}

// Refine says more closely what kind of request a context's is. kind must be one
// of few, and not a text of the caller's. It does nothing where no gate was passed.
// Call it from the request's own goroutine.
func Refine(ctx context.Context, kind string) {
	if k, ok := ctx.Value(kindKey{}).(*string); ok {
		*k += " " + kind
	}
}

func kindOf(ctx context.Context) string {
	if k, ok := ctx.Value(kindKey{}).(*string); ok {
		return *k
	}
	return ""
}
