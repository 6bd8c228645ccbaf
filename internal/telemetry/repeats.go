package telemetry

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// maxKinds bounds the kinds of lines that are counted apart in one second;
// those beyond are counted together.
const maxKinds = 256

// repeats bounds how many lines of one kind are written in a second: a fault
// that comes back with every request must not fill a disk, nor slow down those
// requests that have no fault. What is left out is counted, and said a second
// later at the soonest, with the next line of whatever kind.
type repeats struct {
	most int // of one kind in a second
	loss *loss

	mu     sync.Mutex
	second int64
	seen   map[kind]int
}

// kind is what makes lines alike: one place in the code writes them, and they
// tell of one outcome.
type kind struct {
	level   slog.Level
	message string
	code    string
}

// leftOut is what was left out of a kind.
type leftOut struct {
	kind
	lines int
}

// take counts a line and says whether to write it, and what was left out of the
// second before.
func (r *repeats) take(k kind, now time.Time) (write bool, before []leftOut) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if second := now.Unix(); second != r.second {
		before = r.flush()
		r.second = second
	}
	if _, known := r.seen[k]; !known && len(r.seen) >= maxKinds {
		k = kind{level: k.level, message: "others"}
	}
	r.seen[k]++
	if r.seen[k] > r.most {
		r.loss.lines.Add(1)
		return false, before
	}
	return true, before
}

// flush begins to count anew. r.mu is held.
func (r *repeats) flush() (left []leftOut) {
	for k, n := range r.seen {
		if n > r.most {
			left = append(left, leftOut{k, n - r.most})
		}
	}
	clear(r.seen)
	return left
}

// boundedHandler is a handler whose lines are counted.
type boundedHandler struct {
	slog.Handler
	repeats *repeats
	// plain is the handler without what was added by With.
	plain slog.Handler
}

func newBoundedHandler(h slog.Handler, most int, loss *loss) slog.Handler {
	if most == 0 {
		return h
	}
	return boundedHandler{h, &repeats{most: most, loss: loss, seen: map[kind]int{}}, h}
}

// Handle implements slog.Handler. Lines of the audit are always written.
func (h boundedHandler) Handle(ctx context.Context, r slog.Record) error {
	k := kind{level: r.Level, message: r.Message}
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
	write, before := h.repeats.take(k, r.Time)
	for _, left := range before {
		line := slog.NewRecord(r.Time, left.level, "lines that say the same were left out", 0)
		line.AddAttrs(slog.String("of", left.message), slog.Int("lines", left.lines))
		if left.code != "" {
			line.AddAttrs(slog.String("code", left.code))
		}
		if err := h.plain.Handle(context.Background(), line); err != nil {
			return err
		}
	}
	if !write {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (h boundedHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return boundedHandler{h.Handler.WithAttrs(attrs), h.repeats, h.plain}
}

// WithGroup implements slog.Handler.
func (h boundedHandler) WithGroup(name string) slog.Handler {
	return boundedHandler{h.Handler.WithGroup(name), h.repeats, h.plain}
}
