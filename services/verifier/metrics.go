package verifier

import (
	"context"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

// Meter is where the service counts.
type Meter interface{ Meter() metric.Meter }

type metrics struct{ edits metric.Int64Counter }

func newMetrics(tel Meter) (*metrics, error) {
	edits, err := tel.Meter().Int64Counter("triplemesh.verifier.edits",
		metric.WithDescription("Triples kept, replaced, added and deleted by verification."), metric.WithUnit("{edit}"))
	if err != nil {
		return nil, err
	}
	return &metrics{edits: edits}, nil
}

// count records the edits by kind.
func (m *metrics) count(ctx context.Context, edits []*graphv1.Edit) {
	byKind := map[graphv1.EditKind]int64{}
	for _, e := range edits {
		byKind[e.GetKind()]++
	}
	for kind, n := range byKind {
		name := strings.ToLower(strings.TrimPrefix(kind.String(), "EDIT_KIND_"))
		m.edits.Add(ctx, n, metric.WithAttributes(attribute.String("kind", name)))
	}
}
