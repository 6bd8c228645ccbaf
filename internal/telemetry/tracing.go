package telemetry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strconv"
	"strings"

	"go.opentelemetry.io/contrib/exporters/autoexport"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"google.golang.org/protobuf/encoding/protodelim"

	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// newTracing returns the tracer provider: one processor collects spans for requests that ask for
// them, another exports them if the environment configures that.
func newTracing(ctx context.Context, res *resource.Resource, loss *loss,
	log *slog.Logger) (*sdktrace.TracerProvider, error) {
	sampler, err := samplerFromEnv()
	if err != nil {
		return nil, err
	}
	opts := []sdktrace.TracerProviderOption{
		sdktrace.WithResource(res),
		sdktrace.WithSampler(collectingSampler{sampler}),
		sdktrace.WithSpanProcessor(newCollector()),
	}
	if isExported("TRACES") {
		exporter, err := autoexport.NewSpanExporter(ctx)
		if err != nil {
			return nil, err
		}
		opts = append(opts, sdktrace.WithSpanProcessor(newBatchProcessor(exporter, loss, log)))
	}
	return sdktrace.NewTracerProvider(opts...), nil
}

// isExported reports whether the environment configures the export of a signal ("TRACES" or
// "METRICS"). The default of the standard, localhost, would fill the log of users without a
// collector.
func isExported(signal string) bool {
	if sdkDisabled() {
		return false
	}
	for _, key := range []string{"OTEL_" + signal + "_EXPORTER", "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_" +
		signal + "_ENDPOINT"} {
		if os.Getenv(key) != "" {
			return true
		}
	}
	return false
}

func sdkDisabled() bool { return strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true") }

// collectingSampler records, but does not export, the spans that its base drops when
// the request asked for its spans.
type collectingSampler struct{ base sdktrace.Sampler }

func (c collectingSampler) ShouldSample(p sdktrace.SamplingParameters) sdktrace.SamplingResult {
	result := c.base.ShouldSample(p)
	if result.Decision == sdktrace.Drop && SpanSinkFrom(p.ParentContext) != nil {
		result.Decision = sdktrace.RecordOnly
	}
	return result
}

func (c collectingSampler) Description() string { return "Collecting{" + c.base.Description() + "}" }

// samplerFromEnv reads OTEL_TRACES_SAMPLER. The SDK reads it too, but keeps
// what it finds to itself, so that it cannot be wrapped.
func samplerFromEnv() (sdktrace.Sampler, error) {
	if sdkDisabled() {
		return sdktrace.NeverSample(), nil
	}
	switch name := os.Getenv("OTEL_TRACES_SAMPLER"); name {
	case "", "parentbased_always_on":
		return sdktrace.ParentBased(sdktrace.AlwaysSample()), nil
	case "always_on":
		return sdktrace.AlwaysSample(), nil
	case "always_off":
		return sdktrace.NeverSample(), nil
	case "parentbased_always_off":
		return sdktrace.ParentBased(sdktrace.NeverSample()), nil
	case "traceidratio", "parentbased_traceidratio":
		ratio, err := samplerRatio()
		if err != nil {
			return nil, err
		}
		if name == "traceidratio" {
			return sdktrace.TraceIDRatioBased(ratio), nil
		}
		return sdktrace.ParentBased(sdktrace.TraceIDRatioBased(ratio)), nil
	default:
		return nil, fmt.Errorf("OTEL_TRACES_SAMPLER=%s: want always_on, always_off, traceidratio or one of these "+
			"after parentbased_", name)
	}
}

func samplerRatio() (float64, error) {
	arg := os.Getenv("OTEL_TRACES_SAMPLER_ARG")
	if arg == "" {
		return 1, nil
	}
	ratio, err := strconv.ParseFloat(arg, 64)
	if err != nil || !(ratio >= 0 && ratio <= 1) {
		return 0, fmt.Errorf("OTEL_TRACES_SAMPLER_ARG=%s: want a share from 0 to 1", arg)
	}
	return ratio, nil
}

// The gRPC metadata that returns spans with an answer.
const (
	// CollectSpansKey is set to "1" by a caller that wants the spans.
	CollectSpansKey = "triplemesh-collect-spans"
	// SpansKey is the trailer with the spans, encoded by EncodeSpans.
	SpansKey = "triplemesh-spans-bin"
)

// maxTrailer bounds a trailer in bytes, well below the 16 MiB of headers that a gRPC client
// accepts.
const maxTrailer = 1 << 20

// EncodeSpans encodes spans, each preceded by its length. Spans beyond 1 MiB are dropped: as a sink
// orders parents first, the rest is still one tree.
func EncodeSpans(spans []*orchestratorv1.Span) []byte {
	var all, one bytes.Buffer
	for _, span := range spans {
		one.Reset()
		if _, err := protodelim.MarshalTo(&one, span); err != nil {
			continue
		}
		if all.Len()+one.Len() > maxTrailer {
			break
		}
		all.Write(one.Bytes())
	}
	return all.Bytes()
}

// DecodeSpans decodes the output of EncodeSpans. With an error it returns the spans before it.
func DecodeSpans(data []byte) ([]*orchestratorv1.Span, error) {
	var spans []*orchestratorv1.Span
	r := bytes.NewReader(data)
	for len(spans) < maxSpans {
		span := &orchestratorv1.Span{}
		err := protodelim.UnmarshalOptions{MaxSize: maxTrailer}.UnmarshalFrom(r, span)
		if errors.Is(err, io.EOF) {
			return spans, nil
		}
		if err != nil {
			return spans, fmt.Errorf("decode spans: span %d at byte %d: %w", len(spans), len(data)-r.Len(), err)
		}
		spans = append(spans, span)
	}
	return spans, nil
}
