package retriever

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/triplemesh/triplemesh/internal/telemetry"
	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/embedded"
)

// The kinds of store.
const (
	// inDirectory keeps knowledge graphs in a directory of this machine.
	inDirectory = "embedded"
)

// StoreConfig is where the knowledge graphs are.
type StoreConfig struct {
	// Kind is "embedded".
	Kind string `koanf:"kind"`
	// Dir is the directory of the embedded store. Whatever the kind, loads put
	// what does not fit in memory below it.
	Dir string `koanf:"dir"`
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
	}
	return fmt.Errorf("store.kind is %q; want %q", c.Kind, inDirectory)
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
func openBackend(_ context.Context, c StoreConfig, _ *telemetry.Telemetry) (backend, error) {
	switch c.Kind {
	case inDirectory:
		return embedded.NewTenants(c.Dir), nil
	}
	return nil, c.validate()
}
