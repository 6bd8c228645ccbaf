package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	collectorv1 "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonv1 "go.opentelemetry.io/proto/otlp/common/v1"
	resourcev1 "go.opentelemetry.io/proto/otlp/resource/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
)

func attribute(key, value string) *commonv1.KeyValue {
	return &commonv1.KeyValue{Key: key,
		Value: &commonv1.AnyValue{Value: &commonv1.AnyValue_StringValue{StringValue: value}}}
}

func export(t *testing.T, s *sink, trace byte, service string) {
	t.Helper()
	_, err := s.Export(t.Context(), &collectorv1.ExportTraceServiceRequest{ResourceSpans: []*tracev1.ResourceSpans{{
		Resource: &resourcev1.Resource{Attributes: []*commonv1.KeyValue{attribute("service.name", service),
			attribute("k8s.pod.name", service+"-1")}},
		ScopeSpans: []*tracev1.ScopeSpans{{Spans: []*tracev1.Span{{TraceId: []byte{0xab, trace}, SpanId: []byte{1},
			ParentSpanId: []byte{2}, Name: "Ask"}}}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
}

func ask(s *sink, trace string) *httptest.ResponseRecorder {
	w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/traces/"+trace, nil)
	r.SetPathValue("id", trace)
	s.tell(w, r)
	return w
}

func TestATraceIsGivenBackWithTheSpansOfAllServices(t *testing.T) {
	s := &sink{traces: map[string][]span{}}
	export(t, s, 1, "orchestrator")
	export(t, s, 2, "orchestrator")
	export(t, s, 1, "retriever")
	var got []span
	if err := json.Unmarshal(ask(s, "ab01").Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	want := []span{{"orchestrator", "orchestrator-1", "Ask", "01", "02"},
		{"retriever", "retriever-1", "Ask", "01", "02"}}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestTheOldestTraceMakesRoom(t *testing.T) {
	s := &sink{traces: map[string][]span{}}
	for n := range keep + 1 {
		s.add(fmt.Sprint(n), span{Name: "Ask"})
	}
	if w := ask(s, "0"); w.Code != http.StatusNotFound || len(s.traces) != keep || len(s.order) != keep {
		t.Errorf("got %d with %d traces kept, want the oldest of %d gone", w.Code, len(s.traces), keep)
	}
	if w := ask(s, fmt.Sprint(keep)); w.Code != http.StatusOK {
		t.Errorf("got %d for the newest", w.Code)
	}
}
