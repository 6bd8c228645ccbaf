package tenant

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
)

// Attribute names the tenant in metrics and spans, "none" where there is none.
// It is bounded by how many tenants there are: no context has one that was not
// proved.
func Attribute(ctx context.Context) attribute.KeyValue {
	if id, err := From(ctx); err == nil {
		return id.Attribute()
	}
	return ID{"none"}.Attribute()
}

// Attribute names the tenant in metrics and spans.
func (id ID) Attribute() attribute.KeyValue { return attribute.String("triplemesh.tenant", id.name) }
