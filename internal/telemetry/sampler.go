package telemetry

import (
	"fmt"
	"os"
	"strconv"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// collecting records, but does not export, the spans that its base drops when
// the request asked for its spans.
type collecting struct{ base sdktrace.Sampler }

func (c collecting) ShouldSample(p sdktrace.SamplingParameters) sdktrace.SamplingResult {
	result := c.base.ShouldSample(p)
	if result.Decision == sdktrace.Drop && SpanSinkFrom(p.ParentContext) != nil {
		result.Decision = sdktrace.RecordOnly
	}
	return result
}

func (c collecting) Description() string { return "Collecting{" + c.base.Description() + "}" }

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
		return nil, fmt.Errorf("OTEL_TRACES_SAMPLER=%s: want always_on, always_off, traceidratio or one of these after parentbased_", name)
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
