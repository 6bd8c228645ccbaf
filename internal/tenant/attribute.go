package tenant

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
)

// Attribute names the tenant in metrics and spans, "none" where there is none.
// It is bounded by how many tenants there are: no context has one that was not
// proved.
func Attribute(ctx context.Context) attribute.KeyValue {
	name := "none"
	if id, err := From(ctx); err == nil {
		name = id.name
	}
	return attribute.String("triplemesh.tenant", name)
}
