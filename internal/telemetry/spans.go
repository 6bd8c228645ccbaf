package telemetry

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// maxSpans bounds a sink: a question makes some tens of spans.
const maxSpans = 2048

// maxAttribute bounds the text of one attribute or error, in bytes.
const maxAttribute = 2048

// SpanSink collects the finished spans of one request: those of this service and, through
// internal/client, those of every service that it called. It is safe for concurrent use.
type SpanSink struct {
	mu    sync.Mutex
	spans []*orchestratorv1.Span
}

type spanSinkKey struct{}

// WithSpanSink returns a context in which every span that is started and ended
// is added to the sink as well.
func WithSpanSink(ctx context.Context, sink *SpanSink) context.Context {
	return context.WithValue(ctx, spanSinkKey{}, sink)
}

// SpanSinkFrom returns the context's sink; nil if it has none.
func SpanSinkFrom(ctx context.Context) *SpanSink {
	if ctx == nil {
		return nil
	}
	sink, _ := ctx.Value(spanSinkKey{}).(*SpanSink)
	return sink
}

// NewSpanSink returns an empty sink.
func NewSpanSink() *SpanSink { return &SpanSink{} }

// Add adds spans up to the sink's limit of 2,048; further ones are dropped.
func (s *SpanSink) Add(spans ...*orchestratorv1.Span) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spans = append(s.spans, spans[:min(len(spans), maxSpans-len(s.spans))]...)
}

// AddRunning adds a span that has not ended, in its current state: a handler adds its own server
// span, which ends only after the handler has answered. A full sink accepts it too, as it is the
// parent of the others. Spans that do not record are ignored.
func (s *SpanSink) AddRunning(span trace.Span) {
	running, ok := span.(sdktrace.ReadOnlySpan)
	if !ok || !span.IsRecording() {
		return
	}
	record := spanProto(running, time.Now())
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spans = append(s.spans, record)
}

// Spans returns the spans so far, ordered by start. A span follows its parent unless the clocks of
// two machines differ.
func (s *SpanSink) Spans() []*orchestratorv1.Span {
	s.mu.Lock()
	spans := slices.Clone(s.spans)
	s.mu.Unlock()
	slices.SortStableFunc(spans, func(a, b *orchestratorv1.Span) int {
		return cmp.Or(cmp.Compare(a.GetStartTime().GetSeconds(), b.GetStartTime().GetSeconds()),
			cmp.Compare(a.GetStartTime().GetNanos(), b.GetStartTime().GetNanos()))
	})
	return spans
}

func spanProto(s sdktrace.ReadOnlySpan, end time.Time) *orchestratorv1.Span {
	p := &orchestratorv1.Span{
		SpanId:     s.SpanContext().SpanID().String(),
		Name:       truncateText(s.Name()),
		StartTime:  timestamppb.New(s.StartTime()),
		Duration:   durationpb.New(end.Sub(s.StartTime())),
		Attributes: make(map[string]string, len(s.Attributes())),
	}
	if parent := s.Parent().SpanID(); parent.IsValid() {
		p.ParentSpanId = parent.String()
	}
	if name, ok := s.Resource().Set().Value("service.name"); ok {
		p.Service = strings.TrimPrefix(name.AsString(), servicePrefix)
	}
	for _, a := range s.Attributes() {
		p.Attributes[truncateText(string(a.Key))] = truncateText(a.Value.String())
	}
	if status := s.Status(); status.Code == codes.Error {
		p.Error = truncateText(cmp.Or(status.Description, "error"))
	}
	return p
}

// truncateText returns text that fits a proto string: short and valid UTF-8.
func truncateText(text string) string {
	if len(text) > maxAttribute {
		text = text[:maxAttribute]
	}
	return strings.ToValidUTF8(text, "")
}
