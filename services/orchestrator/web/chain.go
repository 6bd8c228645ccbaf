package web

import (
	"net/http"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"

	"github.com/triplemesh/triplemesh/internal/telemetry"
)

// link is one part of what every request goes through.
type link struct {
	name string
	wrap func(http.Handler) http.Handler
}

// chain is gone through from its first link, the outermost, to its last.
type chain []link

func newChain(cfg Config, doors doors, down <-chan struct{}, tel *telemetry.Telemetry) (chain, error) {
	origins, err := checkOrigins(cfg.AllowedOrigins)
	if err != nil {
		return nil, err
	}
	return chain{
		{"otel", measure(doors, tel)},
		{"request id", requestID},
		{"access log", logRequests(doors, tel.Logger())},
		{"recovery", recoverPanics(tel.Logger())},
		{"security headers", secure},
		{"host", checkHost(cfg.AllowedHosts)},
		{"origin", origins},
		{"stream limit", limitStreams(cfg.MaxStreams)},
		{"slow readers", boundWrites(cfg.WriteTimeout)},
		{"body limit", boundBodies(cfg, doors)},
		{"going down", endWith(doors, down)},
		{"caller", carryCaller},
	}, nil
}

func (c chain) names() []string {
	names := make([]string, len(c))
	for i, l := range c {
		names[i] = l.name
	}
	return names
}

// around is the chain with a handler at its end.
func (c chain) around(h http.Handler) http.Handler {
	for i := len(c) - 1; i >= 0; i-- {
		h = c[i].wrap(h)
	}
	return h
}

// measure traces and measures what is not files.
func measure(doors doors, tel *telemetry.Telemetry) func(http.Handler) http.Handler {
	return otelhttp.NewMiddleware("http",
		otelhttp.WithTracerProvider(tel.TracerProvider()),
		otelhttp.WithMeterProvider(tel.MeterProvider()),
		otelhttp.WithPropagators(tel.Propagator()),
		otelhttp.WithFilter(func(r *http.Request) bool { return !doors.of(r).Files }),
		otelhttp.WithSpanNameFormatter(func(_ string, r *http.Request) string { return r.Method }),
	)
}
