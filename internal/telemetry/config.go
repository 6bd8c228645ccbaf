package telemetry

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Config says what a service tells of itself. Where spans go is said by the
// standard OTEL_* environment variables.
type Config struct {
	// LogLevel is debug, info, warn or error; empty takes info.
	LogLevel string `koanf:"log_level" help:"debug, info, warn or error"`
	// LogFormat is text or json; empty takes text.
	LogFormat string `koanf:"log_format" help:"text or json"`
	// LogRepeats is the most lines of one kind, that is of one message, level and
	// code, that are written in one second; those beyond are counted. 0 writes
	// all. Lines of the audit are all written.
	LogRepeats int `koanf:"log_repeats" help:"most lines in one second that say the same; 0 for all"`
	// FlushTimeout bounds Shutdown; 0 takes 5 s.
	FlushTimeout time.Duration `koanf:"flush_timeout" help:"longest wait for spans and metrics to be sent at the end"`
	// LogWriter takes the log; nil takes standard error.
	LogWriter io.Writer `koanf:"-"`
	// Registry takes the metrics too, so that several services in one process
	// can be scraped at one address; nil makes one of the service's own.
	Registry *prometheus.Registry `koanf:"-"`
}

const defaultFlush = 5 * time.Second

// DefaultConfig logs text from info up, at most 100 lines of a kind in a second.
func DefaultConfig() Config {
	return Config{LogLevel: "info", LogFormat: "text", LogRepeats: 100, FlushTimeout: defaultFlush}
}

// Validate says which setting cannot be used.
func (c Config) Validate() error {
	if _, err := c.level(); err != nil {
		return err
	}
	switch c.LogFormat {
	case "", "text", "json":
	default:
		return fmt.Errorf("log_format %q: want text or json", c.LogFormat)
	}
	if c.LogRepeats < 0 {
		return fmt.Errorf("log_repeats %d: want 0 or more", c.LogRepeats)
	}
	if c.FlushTimeout < 0 {
		return fmt.Errorf("flush_timeout %s: want 0 or more", c.FlushTimeout)
	}
	return nil
}

func (c Config) level() (slog.Level, error) {
	var level slog.Level
	if c.LogLevel == "" {
		return level, nil
	}
	if err := level.UnmarshalText([]byte(c.LogLevel)); err != nil {
		return level, fmt.Errorf("log_level %q: want debug, info, warn or error", c.LogLevel)
	}
	return level, nil
}

// flushBound is how long a shutdown may take.
type flushBound time.Duration

func (b flushBound) of(ctx context.Context) (context.Context, context.CancelFunc) {
	if b == 0 {
		b = flushBound(defaultFlush)
	}
	return context.WithTimeout(context.WithoutCancel(ctx), time.Duration(b))
}
