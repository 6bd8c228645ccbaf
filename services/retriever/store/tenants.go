package store

import "github.com/triplemesh/triplemesh/internal/tenant"

// Tenants hands out each tenant's knowledge graphs. Services hold Tenants and
// no Store, so that there is no way to a knowledge graph but by naming whose it
// is.
type Tenants interface {
	// Of is the store of one tenant, in which no name leads to another's
	// knowledge graphs. Of no tenant, the zero ID, it is ErrInvalid.
	Of(tenant.ID) (Store, error)
}
