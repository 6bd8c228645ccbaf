package retriever

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"

	"go.opentelemetry.io/contrib/instrumentation/google.golang.org/grpc/otelgrpc"
	"google.golang.org/grpc"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/internal/telemetry"
	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/embedded"
	"github.com/triplemesh/triplemesh/services/retriever/store/neo4j"
	"github.com/triplemesh/triplemesh/services/retriever/store/weaviate"
)

// Kinds of store.
const (
	// storeEmbedded keeps knowledge graphs in a local directory.
	storeEmbedded = "embedded"
	// storeNeo4j reads configured graphs from Neo4j; all others are embedded.
	storeNeo4j = "neo4j"
	// storeWeaviate keeps them in a Weaviate cluster.
	storeWeaviate = "weaviate"
)

// StoreConfig configures the store of the knowledge graphs.
type StoreConfig struct {
	// Kind is "embedded", "neo4j" or "weaviate".
	Kind string `koanf:"kind"`
	// Dir is the directory of the embedded store. With every kind, loads put temporary files below
	// it.
	Dir string `koanf:"dir"`
	// Shared is the tenant whose knowledge graphs all others may read but not change; empty for
	// none. A tenant's own knowledge graph takes precedence over a shared one of the same name.
	Shared string `koanf:"shared"`
	// Neo4j configures the graphs that are read from Neo4j.
	Neo4j neo4j.Config `koanf:"neo4j"`
	// Weaviate configures the cluster. Its own directory defaults to Dir/.weaviate.
	Weaviate weaviate.Config `koanf:"weaviate"`
}

func defaultStore() StoreConfig {
	return StoreConfig{Kind: storeEmbedded, Dir: ".cache/data/kg", Weaviate: weaviate.DefaultConfig()}
}

func (c StoreConfig) validate() error {
	if c.Dir == "" {
		return errors.New("store.dir is empty; name the directory of the knowledge graphs")
	}
	if _, err := c.sharedTenant(); err != nil {
		return err
	}
	switch c.Kind {
	case storeEmbedded:
	case storeNeo4j:
		if err := c.Neo4j.Validate(); err != nil {
			return fmt.Errorf("store.neo4j.%w", err)
		}
	case storeWeaviate:
		if err := c.weaviate().Check(); err != nil {
			return fmt.Errorf("store.%w", err)
		}
	default:
		return fmt.Errorf("store.kind is %q; want %q, %q or %q", c.Kind, storeEmbedded, storeNeo4j, storeWeaviate)
	}
	return nil
}

func (c StoreConfig) weaviate() weaviate.Config {
	c.Weaviate.Dir = cmp.Or(c.Weaviate.Dir, filepath.Join(c.Dir, ".weaviate"))
	return c.Weaviate
}

// scratchDir lies in the store's directory, on the disk that has room for what is loaded. No
// knowledge graph can have its name.
func (c StoreConfig) scratchDir() string { return filepath.Join(c.Dir, ".loading") }

// rankerDir holds the rankers of all tenants. No knowledge graph can have its name. Replicas must share
// it to rank alike.
func (c StoreConfig) rankerDir() string { return filepath.Join(c.Dir, ".rankers") }

// backend is an open store.
type backend interface {
	store.Tenants
	Close() error
}

// openBackend opens the configured store. It does not wait for a store's servers.
func openBackend(c StoreConfig, tel *telemetry.Telemetry) (backend, error) {
	switch c.Kind {
	case storeEmbedded:
		return embedded.NewTenants(c.Dir), nil
	case storeNeo4j:
		return neo4j.NewTenants(c.Dir, c.Neo4j, tel.Logger(), tel.Meter())
	case storeWeaviate:
		return weaviate.New(c.weaviate(), grpc.WithStatsHandler(otelgrpc.NewClientHandler(
			otelgrpc.WithTracerProvider(tel.TracerProvider()),
			otelgrpc.WithMeterProvider(tel.MeterProvider()),
			otelgrpc.WithPropagators(tel.Propagator()),
		)))
	}
	return nil, c.validate()
}

// sharedTenant returns the tenant whose knowledge graphs all may read; the zero value if none is
// configured.
func (c StoreConfig) sharedTenant() (auth.Tenant, error) {
	if c.Shared == "" {
		return auth.Tenant{}, nil
	}
	id, err := auth.ParseTenant(c.Shared)
	if err != nil {
		return auth.Tenant{}, fmt.Errorf("store.shared: %w", err)
	}
	return id, nil
}

// wrapShared lets all tenants read the shared tenant's graphs, if one is configured.
func (c StoreConfig) wrapShared(tenants store.Tenants) (store.Tenants, error) {
	by, err := c.sharedTenant()
	if err != nil || by.IsZero() {
		return tenants, err
	}
	return store.WithSharedGraphs(tenants, by), nil
}
