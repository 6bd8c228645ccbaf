package retriever

import (
	"fmt"

	"github.com/triplemesh/triplemesh/internal/tenant"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// shared is the tenant whose knowledge graphs all may read; the zero ID where
// none is named.
func (c StoreConfig) shared() (tenant.ID, error) {
	if c.Shared == "" {
		return tenant.ID{}, nil
	}
	id, err := tenant.Parse(c.Shared)
	if err != nil {
		return tenant.ID{}, fmt.Errorf("store.shared: %w", err)
	}
	return id, nil
}

// sharing lets all tenants read what one of them shares, if one does.
func (c StoreConfig) sharing(tenants store.Tenants) (store.Tenants, error) {
	by, err := c.shared()
	if err != nil || by.IsZero() {
		return tenants, err
	}
	return store.Shared(tenants, by), nil
}
