package telemetry_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/triplemesh/triplemesh/internal/telemetry"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"
)

func TestASinkGathersTheSpansOfItsContext(t *testing.T) {
	clear(t)
	tel := begin(t, telemetry.Config{}, "verifier")
	defer end(t, tel)
	sink := telemetry.NewSpanSink()
	ctx, outer := tel.Tracer().Start(telemetry.WithSpanSink(t.Context(), sink), "outer")
	_, inner := tel.Tracer().Start(ctx, "inner", trace.WithAttributes(attribute.Int("edits", 3),
		attribute.String("text", "caf\xe9"+strings.Repeat("é", 5000))))
	inner.SetStatus(codes.Error, "no evidence")
	inner.End()
	_, elsewhere := tel.Tracer().Start(context.Background(), "elsewhere")
	elsewhere.End()
	sink.AddRunning(outer)
	sink.AddRunning(trace.SpanFromContext(context.Background()))

	spans := sink.Spans()
	if len(spans) != 2 {
		t.Fatalf("got spans %v, want outer and inner", spans)
	}
	first, second := spans[0], spans[1]
	if first.GetName() != "outer" || first.GetParentSpanId() != "" || first.GetError() != "" ||
		first.GetService() != "verifier" {
		t.Errorf("got %v, want outer, the root", first)
	}
	if second.GetName() != "inner" || second.GetParentSpanId() != first.GetSpanId() ||
		second.GetError() != "no evidence" || second.GetAttributes()["edits"] != "3" {
		t.Errorf("got %v, want inner with its parent, error and attributes", second)
	}
	if text := second.GetAttributes()["text"]; len(text) > 2048 || !utf8.ValidString(text) {
		t.Errorf("got an attribute of %d bytes, want it cut to 2048 and UTF-8", len(text))
	}
	outer.End()
}

func TestSpansAreGatheredWhateverTheSamplerSays(t *testing.T) {
	for _, test := range []struct {
		name      string
		key, text string
		sampled   bool
	}{
		{"by default all are sampled", "OTEL_TRACES_SAMPLER", "", true},
		{"always_off", "OTEL_TRACES_SAMPLER", "always_off", false},
		{"parentbased_always_off", "OTEL_TRACES_SAMPLER", "parentbased_always_off", false},
		{"always_on", "OTEL_TRACES_SAMPLER", "always_on", true},
		{"traceidratio", "OTEL_TRACES_SAMPLER", "traceidratio", false},
		{"parentbased_traceidratio", "OTEL_TRACES_SAMPLER", "parentbased_traceidratio", false},
		{"a disabled SDK", "OTEL_SDK_DISABLED", "true", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			clear(t)
			t.Setenv(test.key, test.text)
			t.Setenv("OTEL_TRACES_SAMPLER_ARG", "0")
			tel := begin(t, telemetry.Config{}, "verifier")
			defer end(t, tel)
			sink := telemetry.NewSpanSink()
			ctx, span := tel.Tracer().Start(telemetry.WithSpanSink(t.Context(), sink), "asked for")
			_, child := tel.Tracer().Start(ctx, "child")
			child.End()
			span.End()
			if n := len(sink.Spans()); n != 2 {
				t.Errorf("got %d spans, want 2", n)
			}
			_, unasked := tel.Tracer().Start(t.Context(), "not asked for")
			if got := unasked.SpanContext().IsSampled(); got != test.sampled ||
				span.SpanContext().IsSampled() != test.sampled {
				t.Errorf("got sampled %v, want %v", got, test.sampled)
			}
			unasked.End()
		})
	}
}

func TestASinkIsBounded(t *testing.T) {
	sink := telemetry.NewSpanSink()
	for i := range 5000 {
		sink.Add(&orchestratorv1.Span{Name: fmt.Sprint(i)})
	}
	tel := telemetry.Discard()
	_, server := tel.Tracer().Start(t.Context(), "server")
	sink.AddRunning(server)
	spans := sink.Spans()
	if len(spans) != 2049 || spans[2048].GetName() != "server" {
		t.Errorf("got %d spans, the last %v; want 2048 and the server's", len(spans), spans[len(spans)-1])
	}
}

func span(i int) *orchestratorv1.Span {
	return &orchestratorv1.Span{SpanId: fmt.Sprintf("%016x", i), Name: fmt.Sprint(i),
		StartTime: timestamppb.New(time.Unix(int64(i), 0)), Attributes: map[string]string{"a": strings.Repeat("x", i)}}
}

func TestSpansComeThroughATrailer(t *testing.T) {
	var want []*orchestratorv1.Span
	for i := range 300 {
		want = append(want, span(i))
	}
	got, err := telemetry.DecodeSpans(telemetry.EncodeSpans(want))
	if err != nil || len(got) != len(want) {
		t.Fatalf("got %d spans, %v, want %d", len(got), err, len(want))
	}
	for i := range want {
		if !proto.Equal(got[i], want[i]) {
			t.Errorf("span %d: got %v, want %v", i, got[i], want[i])
		}
	}
}

func TestATrailerHoldsTheFirstSpansOfTooMany(t *testing.T) {
	var many []*orchestratorv1.Span
	for range 3000 {
		many = append(many, span(2000))
	}
	data := telemetry.EncodeSpans(many)
	got, err := telemetry.DecodeSpans(data)
	if err != nil || len(data) > 1<<20 || len(got) < 400 {
		t.Errorf("got %d bytes, %d spans, %v, want 1 MiB at most and what fits", len(data), len(got), err)
	}
}

func TestAFaultyTrailerSaysWhere(t *testing.T) {
	good := telemetry.EncodeSpans([]*orchestratorv1.Span{span(1), span(2)})
	got, err := telemetry.DecodeSpans(append(good, 5, 0xff))
	if len(got) != 2 || err == nil || !strings.Contains(err.Error(), "span 2") {
		t.Errorf("got %d spans, %v, want two and the fault in span 2", len(got), err)
	}
	if _, err := telemetry.DecodeSpans([]byte("\xff\xff\xff\xff\x7f")); err == nil {
		t.Error("a span of 34 GB is no error")
	}
}

func FuzzDecodeSpans(f *testing.F) {
	f.Add(telemetry.EncodeSpans([]*orchestratorv1.Span{span(1), span(2)}))
	f.Add([]byte{})
	f.Add([]byte{5, 0xff})
	f.Add([]byte("\xff\xff\xff\xff\x7f"))
	f.Fuzz(func(t *testing.T, data []byte) {
		spans, err := telemetry.DecodeSpans(data)
		again, errAgain := telemetry.DecodeSpans(telemetry.EncodeSpans(spans))
		if errAgain != nil || len(again) != len(spans) {
			t.Errorf("%d spans (%v) came back as %d: %v", len(spans), err, len(again), errAgain)
		}
	})
}
