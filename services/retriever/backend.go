package retriever

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"go.opentelemetry.io/contrib/instrumentation/google.golang.org/grpc/otelgrpc"
	"google.golang.org/grpc"

	"github.com/triplemesh/triplemesh/internal/telemetry"
	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/embedded"
	"github.com/triplemesh/triplemesh/services/retriever/store/neo4j"
	"github.com/triplemesh/triplemesh/services/retriever/store/weaviate"
)

// The kinds of store.
const (
	// inDirectory keeps knowledge graphs in a directory of this machine.
	inDirectory = "embedded"
	// inNeo4j reads graphs where Neo4j keeps them; all others are embedded.
	inNeo4j = "neo4j"
	// inWeaviate keeps them in a Weaviate cluster.
	inWeaviate = "weaviate"
)

// StoreConfig is where the knowledge graphs are.
type StoreConfig struct {
	// Kind is "embedded", "neo4j" or "weaviate".
	Kind string `koanf:"kind"`
	// Dir is the directory of the embedded store. Whatever the kind, loads put
	// what does not fit in memory below it.
	Dir string `koanf:"dir"`
	// Shared is the tenant whose knowledge graphs all others may read as if they
	// were their own, but not change; empty for none. A tenant's own knowledge
	// graph goes before a shared one of the same name.
	Shared string `koanf:"shared"`
	// Neo4j names the graphs that are read where they are.
	Neo4j neo4j.Config `koanf:"neo4j"`
	// Weaviate is the cluster. Its own directory is Dir/.weaviate unless it names
	// another.
	Weaviate weaviate.Config `koanf:"weaviate"`
}

func defaultStore() StoreConfig {
	return StoreConfig{Kind: inDirectory, Dir: ".cache/data/kg", Weaviate: weaviate.DefaultConfig()}
}

func (c StoreConfig) validate() error {
	if c.Dir == "" {
		return errors.New("store.dir is empty; name the directory of the knowledge graphs")
	}
	if _, err := c.shared(); err != nil {
		return err
	}
	switch c.Kind {
	case inDirectory:
		return nil
	case inNeo4j:
		if err := c.Neo4j.Validate(); err != nil {
			return fmt.Errorf("store.neo4j.%w", err)
		}
		return nil
	case inWeaviate:
		if err := c.weaviate().Check(); err != nil {
			return fmt.Errorf("store.%w", err)
		}
		return nil
	}
	return fmt.Errorf("store.kind is %q; want %q, %q or %q", c.Kind, inDirectory, inNeo4j, inWeaviate)
}

func (c StoreConfig) weaviate() weaviate.Config {
	if c.Weaviate.Dir == "" {
		c.Weaviate.Dir = filepath.Join(c.Dir, ".weaviate")
	}
	return c.Weaviate
}

// scratch is within the store's directory, on the disk that has room for what
// is loaded. No knowledge graph can have its name.
func (c StoreConfig) scratch() string { return filepath.Join(c.Dir, ".loading") }

// backend is an open store.
type backend interface {
	store.Tenants
	Close() error
}

// openBackend opens the store that is configured; ctx ends what it waits for.
func openBackend(_ context.Context, c StoreConfig, tel *telemetry.Telemetry) (backend, error) {
	switch c.Kind {
	case inDirectory:
		return embedded.NewTenants(c.Dir), nil
	case inNeo4j:
		return neo4j.NewTenants(c.Dir, c.Neo4j, tel.Logger(), tel.Meter())
	case inWeaviate:
		return weaviate.New(c.weaviate(), grpc.WithStatsHandler(otelgrpc.NewClientHandler(
			otelgrpc.WithTracerProvider(tel.TracerProvider()),
			otelgrpc.WithMeterProvider(tel.MeterProvider()),
			otelgrpc.WithPropagators(tel.Propagator()),
		)))
	}
	return nil, c.validate()
}
