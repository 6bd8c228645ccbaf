package embedded

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
)

func TestTenants(t *testing.T) {
	storetest.RunTenants(t, func(t *testing.T) store.Tenants { return newTenants(t) })
}

func newTenants(t *testing.T) *Tenants {
	tenants := NewTenants(t.TempDir())
	tenants.disk = unsynced{}
	t.Cleanup(func() {
		if err := tenants.Close(); err != nil {
			t.Error(err)
		}
	})
	return tenants
}

func TestTenantsLieBesideTheDefaultOnesKnowledgeGraphs(t *testing.T) {
	tenants := newTenants(t)
	dir := tenants.dir
	for _, name := range []string{"default", "acme"} {
		storetest.Build(t, storetest.ForTenant(t, tenants, name), "world", storetest.World())
	}
	for _, path := range []string{"world/1", "@acme/world/1"} {
		if _, err := os.Stat(filepath.Join(dir, path)); err != nil {
			t.Error(err)
		}
	}
	listed, err := storetest.ForTenant(t, tenants, "default").List(t.Context(), "")
	if err != nil || len(listed) != 1 || listed[0].KG != "world" {
		t.Errorf("the default tenant's list is %v, %v", listed, err)
	}
	for _, kg := range []string{"@acme", "@acme/world", "../world", "@default", "world/../@acme/world"} {
		if _, err := storetest.ForTenant(t, tenants, "default").Open(t.Context(), kg, 0); !errors.Is(err,
			store.ErrInvalid) {
			t.Errorf("open %q: %v", kg, err)
		}
	}
	if err := tenants.Close(); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	if err != nil || !slices.Equal(names, []string{"@acme", "world"}) {
		t.Errorf("in the directory: %v, %v", names, err)
	}
}

func TestTenantsAreKeptUntilTheyAreClosed(t *testing.T) {
	tenants := newTenants(t)
	if _, err := tenants.ForTenant(auth.Tenant{}); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("of no tenant: %v", err)
	}
	first := storetest.ForTenant(t, tenants, "acme")
	if storetest.ForTenant(t, tenants, "acme") != first || storetest.ForTenant(t, tenants, "globex") == first {
		t.Error("a tenant's store is made twice, or is another's")
	}
	storetest.Build(t, first, "world", storetest.World())
	storetest.Open(t, first, "world", 0)
	if err := tenants.Close(); err != nil {
		t.Fatal(err)
	}
	if opened := len(first.(*Store).opened); opened > 0 {
		t.Errorf("%d snapshots are mapped after Close", opened)
	}
	if _, err := tenants.ForTenant(auth.DefaultTenant()); !errors.Is(err, errClosed) {
		t.Errorf("after Close: %v", err)
	}
}

func TestSharedKnowledgeGraphs(t *testing.T) {
	storetest.RunShared(t, func(t *testing.T) store.Tenants { return newTenants(t) })
}
