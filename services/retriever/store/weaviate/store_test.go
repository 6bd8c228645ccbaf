package weaviate

import (
	"errors"
	"testing"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
)

func open(t testing.TB, cfg Config) *Store {
	t.Helper()
	s, err := openTenants(t, cfg).ForTenant(auth.DefaultTenant())
	if err != nil {
		t.Fatal(err)
	}
	return s.(*Store)
}

func openTenants(t testing.TB, cfg Config) *Tenants {
	t.Helper()
	all, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := all.Close(); err != nil {
			t.Error(err)
		}
	})
	return all
}

func TestStoreOnAFake(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store { return open(t, newFake(t).config()) }, storetest.Deltas,
		storetest.Exports)
}

func TestTenantsOnAFake(t *testing.T) {
	storetest.RunTenants(t, func(t *testing.T) store.Tenants { return openTenants(t, newFake(t).config()) })
}

func TestConfig(t *testing.T) {
	good := DefaultConfig()
	good.GRPC, good.HTTP, good.Dir = []string{"a:1"}, []string{"http://a:2"}, "x"
	if err := good.Check(); err != nil {
		t.Errorf("a good configuration: %v", err)
	}
	for name, spoil := range map[string]func(*Config){
		"no gRPC address":     func(c *Config) { c.GRPC = nil },
		"no URL":              func(c *Config) { c.HTTP = nil },
		"a small prefix":      func(c *Config) { c.Prefix = "small" },
		"a prefix with marks": func(c *Config) { c.Prefix = "A_b" },
		"no directory":        func(c *Config) { c.Dir = "" },
		"no replica":          func(c *Config) { c.Replicas = 0 },
		"no such consistency": func(c *Config) { c.Consistency = "some" },
		"no time":             func(c *Config) { c.Timeout = 0 },
		"no candidates":       func(c *Config) { c.EF = 0 },
		"empty batches":       func(c *Config) { c.Batch = 0 },
	} {
		bad := good
		spoil(&bad)
		if bad.Check() == nil {
			t.Errorf("%s is accepted", name)
		}
		if _, err := New(bad); err == nil {
			t.Errorf("a store is made with %s", name)
		}
	}
	if _, err := openTenants(t, good).ForTenant(auth.Tenant{}); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("the store of no tenant: %v", err)
	}
}
