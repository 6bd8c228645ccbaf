package verifier

import (
	"context"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/triplemesh/triplemesh/internal/enum"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
)

// Meter is where the service counts.
type Meter interface{ Meter() metric.Meter }

type metrics struct{ edits, verdicts metric.Int64Counter }

func newMetrics(tel Meter) (*metrics, error) {
	edits, err := tel.Meter().Int64Counter("triplemesh.verifier.edits",
		metric.WithDescription("Triples kept, replaced, added and deleted by verification."), metric.WithUnit("{edit}"))
	if err != nil {
		return nil, err
	}
	verdicts, err := tel.Meter().Int64Counter("triplemesh.verifier.verdicts",
		metric.WithDescription("Claims judged, by verdict."), metric.WithUnit("{claim}"))
	if err != nil {
		return nil, err
	}
	return &metrics{edits: edits, verdicts: verdicts}, nil
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

// judged records the verdicts on claims.
func (m *metrics) judged(ctx context.Context, judgements []*verifierv1.Judgement) {
	for _, j := range judgements {
		m.verdicts.Add(ctx, 1, metric.WithAttributes(attribute.String("verdict", enum.Name(j.GetVerdict()))))
	}
}
