package telemetry

import (
	"context"
	"crypto/rand"
	"log/slog"
	"sync"
	"time"

	"go.opentelemetry.io/otel/trace"
)

func newLogHandler(cfg Config, service string, loss *loss) (slog.Handler, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	level, err := cfg.level()
	if err != nil {
		return nil, err
	}
	opts := &slog.HandlerOptions{Level: level}
	var h slog.Handler = slog.NewTextHandler(logWriter(cfg.LogWriter), opts)
	if cfg.LogFormat == "json" {
		h = slog.NewJSONHandler(logWriter(cfg.LogWriter), opts)
	}
	return newLimitingHandler(logHandler{h.WithAttrs([]slog.Attr{slog.String("service", service)})},
		cfg.LogRepeats, loss), nil
}

// logHandler adds the trace and request ids of the context.
type logHandler struct{ slog.Handler }

func (h logHandler) Handle(ctx context.Context, r slog.Record) error {
	if sc := trace.SpanContextFromContext(ctx); sc.IsValid() {
		r.AddAttrs(slog.String("trace_id", sc.TraceID().String()), slog.String("span_id", sc.SpanID().String()))
	}
	if id := RequestID(ctx); id != "" {
		r.AddAttrs(slog.String("request_id", id))
	}
	return h.Handler.Handle(ctx, r)
}

func (h logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return logHandler{h.Handler.WithAttrs(attrs)}
}

func (h logHandler) WithGroup(name string) slog.Handler {
	return logHandler{h.Handler.WithGroup(name)}
}

// RequestIDKey is the gRPC metadata key, in and out, of the request id.
const RequestIDKey = "x-request-id"

type requestIDKey struct{}

// WithRequestID gives the context the id that logs carry and that internal/client sends on.
func WithRequestID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, requestIDKey{}, id)
}

// RequestID is the context's request id; empty where it has none.
func RequestID(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey{}).(string)
	return id
}

// NewRequestID is the id that a caller gave, where it can be used: short, and
// nothing but what ids are made of. Else it is a new one.
func NewRequestID(given string) string {
	if given == "" || len(given) > 128 {
		return rand.Text()
	}
	for _, c := range []byte(given) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_', c == '.', c == ':':
		default:
			return rand.Text()
		}
	}
	return given
}

// maxKinds bounds the kinds of lines counted separately in one second; further ones are counted
// together.
const maxKinds = 256

// lineLimiter bounds the lines of one kind in a second: a fault that recurs with every request must
// not fill a disk, nor slow down other requests. Dropped lines are counted, and reported with the
// first line of a later second.
type lineLimiter struct {
	limit int // of one kind in a second
	loss  *loss

	mu     sync.Mutex
	second int64
	counts map[lineKind]int
}

// lineKind identifies lines of one place in the code with one outcome.
type lineKind struct {
	level   slog.Level
	message string
	code    string
}

// droppedLines counts the dropped lines of a kind.
type droppedLines struct {
	lineKind
	lines int
}

// allow counts a line and reports whether to write it, and what was dropped in the last second.
func (r *lineLimiter) allow(k lineKind, now time.Time) (write bool, before []droppedLines) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if second := now.Unix(); second != r.second {
		before = r.flush()
		r.second = second
	}
	if _, known := r.counts[k]; !known && len(r.counts) >= maxKinds {
		k = lineKind{level: k.level, message: "others"}
	}
	r.counts[k]++
	if r.counts[k] > r.limit {
		r.loss.lines.Add(1)
		return false, before
	}
	return true, before
}

// flush resets the counts. r.mu must be held.
func (r *lineLimiter) flush() (left []droppedLines) {
	for k, n := range r.counts {
		if n > r.limit {
			left = append(left, droppedLines{k, n - r.limit})
		}
	}
	clear(r.counts)
	return left
}

// limitingHandler is a handler with a limit on repeated lines.
type limitingHandler struct {
	slog.Handler
	repeats *lineLimiter
	// base is the handler without the attributes of With.
	base slog.Handler
}

func newLimitingHandler(h slog.Handler, most int, loss *loss) slog.Handler {
	if most == 0 {
		return h
	}
	return limitingHandler{h, &lineLimiter{limit: most, loss: loss, counts: map[lineKind]int{}}, h}
}

// Handle implements slog.Handler. Audit lines are always written.
func (h limitingHandler) Handle(ctx context.Context, r slog.Record) error {
	k := lineKind{level: r.Level, message: r.Message}
	audit := false
	r.Attrs(func(a slog.Attr) bool {
		switch a.Key {
		case "audit":
			audit = a.Value.Kind() == slog.KindBool && a.Value.Bool()
		case "code":
			k.code = a.Value.String()
		}
		return !audit
	})
	if audit {
		return h.Handler.Handle(ctx, r)
	}
	write, before := h.repeats.allow(k, r.Time)
	for _, left := range before {
		line := slog.NewRecord(r.Time, left.level, logLinesDropped, 0)
		line.AddAttrs(slog.String("of", left.message), slog.Int("lines", left.lines))
		if left.code != "" {
			line.AddAttrs(slog.String("code", left.code))
		}
		if err := h.base.Handle(context.Background(), line); err != nil {
			return err
		}
	}
	if !write {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (h limitingHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return limitingHandler{h.Handler.WithAttrs(attrs), h.repeats, h.base}
}

// WithGroup implements slog.Handler.
func (h limitingHandler) WithGroup(name string) slog.Handler {
	return limitingHandler{h.Handler.WithGroup(name), h.repeats, h.base}
}
