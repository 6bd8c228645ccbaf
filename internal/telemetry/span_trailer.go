package telemetry

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	"google.golang.org/protobuf/encoding/protodelim"
)

// The gRPC metadata by which spans come back with an answer.
const (
	// CollectSpansKey is set to "1" by a caller that wants the spans.
	CollectSpansKey = "triplemesh-collect-spans"
	// SpansKey is the trailer that holds them, as EncodeSpans writes them.
	SpansKey = "triplemesh-spans-bin"
)

// maxTrailer bounds a trailer in bytes, well under the 16 MiB of headers that
// a gRPC client takes.
const maxTrailer = 1 << 20

// EncodeSpans writes the spans one after the other, each after its length. What
// would pass 1 MiB is left out: as a sink puts parents first, what is left is
// still one tree.
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

// DecodeSpans reads what EncodeSpans wrote. On an error it returns the spans
// before the fault as well.
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
