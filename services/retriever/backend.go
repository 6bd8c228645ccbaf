package retriever

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/triplemesh/triplemesh/internal/telemetry"
	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/embedded"
	"github.com/triplemesh/triplemesh/services/retriever/store/neo4j"
)

// The kinds of store.
const (
	// inDirectory keeps knowledge graphs in a directory of this machine.
	inDirectory = "embedded"
	// inNeo4j reads graphs where Neo4j keeps them; all others are embedded.
	inNeo4j = "neo4j"
)

// StoreConfig is where the knowledge graphs are.
type StoreConfig struct {
	// Kind is "embedded" or "neo4j".
	Kind string `koanf:"kind"`
	// Dir is the directory of the embedded store. Whatever the kind, loads put
	// what does not fit in memory below it.
	Dir string `koanf:"dir"`
	// Neo4j names the graphs that are read where they are.
	Neo4j neo4j.Config `koanf:"neo4j"`
}

func defaultStore() StoreConfig {
	return StoreConfig{Kind: inDirectory, Dir: ".cache/data/kg"}
}

func (c StoreConfig) validate() error {
	if c.Dir == "" {
		return errors.New("store.dir is empty; name the directory of the knowledge graphs")
	}
	switch c.Kind {
	case inDirectory:
		return nil
	case inNeo4j:
		if err := c.Neo4j.Validate(); err != nil {
			return fmt.Errorf("store.neo4j.%w", err)
		}
		return nil
	}
	return fmt.Errorf("store.kind is %q; want %q or %q", c.Kind, inDirectory, inNeo4j)
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
	}
	return nil, c.validate()
}
