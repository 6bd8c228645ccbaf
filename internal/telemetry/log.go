package telemetry

import (
	"context"
	"log/slog"

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
	return newBoundedHandler(logHandler{h.WithAttrs([]slog.Attr{slog.String("service", service)})}, cfg.LogRepeats, loss), nil
}

// logHandler adds what the context knows of the request.
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
