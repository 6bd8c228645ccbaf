package http

import (
	"net/http"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"

	"github.com/triplemesh/triplemesh/internal/telemetry"
)

// link is one middleware.
type link struct {
	name string
	wrap func(http.Handler) http.Handler
}

// chain is the list of middleware, the outermost first.
type chain []link

func newChain(cfg Config, table routes, down <-chan struct{}, tel *telemetry.Telemetry) (chain, error) {
	origins, err := checkOrigins(cfg.AllowedOrigins)
	if err != nil {
		return nil, err
	}
	return chain{
		{"otel", measure(table, tel)},
		{"request id", requestID},
		{"access log", logRequests(table, tel.Logger())},
		{"recovery", recoverPanics(tel.Logger())},
		{"security headers", secure},
		{"host", checkHost(cfg.AllowedHosts)},
		{"origin", origins},
		{"stream limit", limitStreams(cfg.MaxStreams)},
		{"slow readers", boundWrites(cfg.WriteTimeout)},
		{"body limit", boundBodies(cfg, table)},
		{"going down", endWith(table, down)},
		{"caller", carryCaller},
	}, nil
}

func (c chain) around(h http.Handler) http.Handler {
	for i := len(c) - 1; i >= 0; i-- {
		h = c[i].wrap(h)
	}
	return h
}

// measure adds traces and metrics to all requests but those for files.
func measure(table routes, tel *telemetry.Telemetry) func(http.Handler) http.Handler {
	return otelhttp.NewMiddleware("http",
		otelhttp.WithTracerProvider(tel.TracerProvider()),
		otelhttp.WithMeterProvider(tel.MeterProvider()),
		otelhttp.WithPropagators(tel.Propagator()),
		otelhttp.WithFilter(func(r *http.Request) bool { return !table.find(r).Files }),
		otelhttp.WithSpanNameFormatter(func(_ string, r *http.Request) string { return r.Method }),
	)
}
