package telemetry

import (
	"context"
	"log/slog"
	"os"
	"strings"

	"go.opentelemetry.io/contrib/exporters/autoexport"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// newTracing makes the tracer provider: one processor collects spans for
// requests that ask for them, another exports where the environment says so.
func newTracing(ctx context.Context, res *resource.Resource, loss *loss, log *slog.Logger) (*sdktrace.TracerProvider, error) {
	sampler, err := samplerFromEnv()
	if err != nil {
		return nil, err
	}
	opts := []sdktrace.TracerProviderOption{
		sdktrace.WithResource(res),
		sdktrace.WithSampler(collecting{sampler}),
		sdktrace.WithSpanProcessor(newCollector()),
	}
	if exports("TRACES") {
		exporter, err := autoexport.NewSpanExporter(ctx)
		if err != nil {
			return nil, err
		}
		opts = append(opts, sdktrace.WithSpanProcessor(newExporting(exporter, loss, log)))
	}
	return sdktrace.NewTracerProvider(opts...), nil
}

// exports tells whether the environment asks for a signal ("TRACES" or
// "METRICS") to be exported. The standard's own default is to send to
// localhost; without a word about it that would fill the log of everyone who
// runs no collector.
func exports(signal string) bool {
	if sdkDisabled() {
		return false
	}
	for _, key := range []string{"OTEL_" + signal + "_EXPORTER", "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_" + signal + "_ENDPOINT"} {
		if os.Getenv(key) != "" {
			return true
		}
	}
	return false
}

func sdkDisabled() bool { return strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true") }
