package store

import (
	"context"

	"github.com/triplemesh/triplemesh/internal/tenant"
)

// Tenants hands out each tenant's knowledge graphs. Services hold Tenants and
// no Store, so that there is no way to a knowledge graph but by naming whose it
// is.
type Tenants interface {
	// Of is the store of one tenant, in which no name leads to another's
	// knowledge graphs. Of no tenant, the zero ID, it is ErrInvalid.
	Of(tenant.ID) (Store, error)
}

// Of is the store of the tenant for whom ctx's request is made.
func Of(ctx context.Context, tenants Tenants) (Store, error) {
	id, err := tenant.From(ctx)
	if err != nil {
		return nil, err
	}
	return tenants.Of(id)
}
