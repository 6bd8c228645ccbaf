package telemetry_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/triplemesh/triplemesh/internal/telemetry"
)

// metric is the sum of the series whose line in a scrape holds a text.
func metric(t *testing.T, tel *telemetry.Telemetry, name, holds string) (sum int) {
	t.Helper()
	w := httptest.NewRecorder()
	tel.MetricsHandler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	line := regexp.MustCompile("(?m)^" + name + `\{(.*)\} (\S+)$`)
	for _, found := range line.FindAllStringSubmatch(w.Body.String(), -1) {
		n, err := strconv.ParseFloat(found[2], 64)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(found[1], holds) {
			sum += int(n)
		}
	}
	return sum
}

// collector sends spans to a handler and lets few of them wait.
func collector(t *testing.T, places int, handle http.HandlerFunc) {
	t.Helper()
	clear(t)
	server := httptest.NewServer(handle)
	t.Cleanup(server.Close)
	t.Setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", server.URL)
	t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf")
	t.Setenv("OTEL_BSP_MAX_QUEUE_SIZE", strconv.Itoa(places))
}

func spans(tel *telemetry.Telemetry, n int) {
	for range n {
		_, span := tel.Tracer().Start(context.Background(), "verify")
		span.End()
	}
}

func TestACollectorThatHangsHoldsUpNothingAndWhatItMissesIsCounted(t *testing.T) {
	const places, all = 64, 10_000
	release := make(chan struct{})
	collector(t, places, func(http.ResponseWriter, *http.Request) { <-release })
	tel := begin(t, telemetry.Config{LogWriter: io.Discard, FlushTimeout: 100 * time.Millisecond}, "verifier")
	spans(tel, all)
	// The collector has one batch, and as many wait.
	if lost := metric(t, tel, "triplemesh_telemetry_lost_spans_total", "queue_full"); lost < all-2*places ||
		lost > all-places {
		t.Errorf("%d of %d spans are counted as lost", lost, all)
	}
	if err := tel.Shutdown(context.Background()); err != nil {
		t.Errorf("what the collector holds up makes a failure of the end: %v", err)
	}
	close(release)
}

func TestSpansThatACollectorRefusesAreCounted(t *testing.T) {
	collector(t, 64, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadRequest) })
	tel := begin(t, telemetry.Config{LogWriter: io.Discard}, "verifier")
	defer end(t, tel)
	spans(tel, 40)
	if err := tel.TracerProvider().(*sdktrace.TracerProvider).ForceFlush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if lost := metric(t, tel, "triplemesh_telemetry_lost_spans_total", "not_exported"); lost != 40 {
		t.Errorf("%d of 40 are counted", lost)
	}
	if lost := metric(t, tel, "triplemesh_telemetry_lost_spans_total", "queue_full"); lost != 0 {
		t.Errorf("%d found no place among 64", lost)
	}
}

func TestNoMoreSpansAreLostThanThereAreTooMany(t *testing.T) {
	taken := make(chan struct{})
	collector(t, 64, func(http.ResponseWriter, *http.Request) { <-taken })
	tel := begin(t, telemetry.Config{LogWriter: io.Discard}, "verifier")
	defer end(t, tel)
	spans(tel, 64)
	close(taken)
	if lost := metric(t, tel, "triplemesh_telemetry_lost_spans_total", ""); lost != 0 {
		t.Errorf("%d are lost of as many as there is place for", lost)
	}
}

// lines counts those of a log that hold a text.
type lines struct {
	holds string
	n     int
	last  string
}

func (l *lines) Write(p []byte) (int, error) {
	if l.last = string(p); strings.Contains(l.last, l.holds) {
		l.n++
	}
	return len(p), nil
}

func TestAFaultThatRepeatsIsWrittenSeldomAndCounted(t *testing.T) {
	clear(t)
	synctest.Test(t, func(t *testing.T) {
		log := &lines{holds: "model endpoint failed"}
		tel := begin(t, telemetry.Config{LogWriter: log, LogRepeats: 100}, "verifier")
		defer end(t, tel)
		for i := range 10_000 {
			tel.Logger().With("endpoint", "one").Warn("model endpoint failed", "error", fmt.Sprint("attempt ", i))
		}
		if log.n != 100 {
			t.Errorf("%d lines are written, want 100", log.n)
		}
		if left := metric(t, tel, "triplemesh_telemetry_left_out_lines_total", ""); left != 9900 {
			t.Errorf("%d lines are counted as left out", left)
		}
		time.Sleep(time.Second)
		log.n, log.holds = 0, "lines=9900"
		tel.Logger().Info("something else")
		if log.n != 1 || !strings.Contains(log.last, "something else") {
			t.Errorf("how many were left out is said %d times; the last line is %q", log.n, log.last)
		}
		log.n, log.holds = 0, "model endpoint failed"
		tel.Logger().Warn("model endpoint failed")
		if log.n != 1 {
			t.Error("in the next second it is not written")
		}
	})
}

func TestWhatDiffersIsWrittenBesideWhatRepeats(t *testing.T) {
	clear(t)
	for _, c := range []struct {
		name  string
		attrs []slog.Attr
		level slog.Level
		want  int
	}{
		{"another code", []slog.Attr{slog.String("code", "UNAVAILABLE")}, slog.LevelInfo, 2},
		{"another level", []slog.Attr{slog.String("code", "OK")}, slog.LevelError, 2},
		{"another method alone is no other kind", []slog.Attr{slog.String("code", "OK"),
			slog.String("method", "other")}, slog.LevelInfo, 0},
		{"lines of the audit, however many", []slog.Attr{slog.Bool("audit", true), slog.String("code", "OK")},
			slog.LevelInfo, 50},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				log := &lines{}
				tel := begin(t, telemetry.Config{LogWriter: log, LogRepeats: 2}, "verifier")
				defer end(t, tel)
				for range 50 {
					tel.Logger().LogAttrs(t.Context(), slog.LevelInfo, "rpc", slog.String("code", "OK"))
				}
				log.n = 0
				for range 50 {
					tel.Logger().LogAttrs(t.Context(), c.level, "rpc", c.attrs...)
				}
				if log.n != c.want {
					t.Errorf("%d lines are written, want %d", log.n, c.want)
				}
			})
		})
	}
}

func TestAnyMessagesAtAllAreBounded(t *testing.T) {
	clear(t)
	synctest.Test(t, func(t *testing.T) {
		log := &lines{}
		tel := begin(t, telemetry.Config{LogWriter: log, LogRepeats: 1}, "verifier")
		defer end(t, tel)
		for i := range 10_000 {
			tel.Logger().Warn(fmt.Sprint("message ", i)) //nolint:sloglint // the messages must differ
		}
		if log.n > 300 {
			t.Errorf("%d lines are written", log.n)
		}
	})
}
