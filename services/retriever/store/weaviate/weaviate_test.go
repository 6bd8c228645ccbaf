//go:build weaviate

package weaviate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
)

var stores atomic.Int64

// clusterConfig is the cluster that WEAVIATE_GRPC and WEAVIATE_HTTP name, with
// collections of the test's own, which are removed when it ends.
func clusterConfig(t testing.TB) Config {
	t.Helper()
	if os.Getenv("WEAVIATE_GRPC") == "" {
		t.Fatal("WEAVIATE_GRPC and WEAVIATE_HTTP must name a cluster: host:port,…")
	}
	cfg := DefaultConfig()
	cfg.GRPC = strings.Split(os.Getenv("WEAVIATE_GRPC"), ",")
	for _, host := range strings.Split(os.Getenv("WEAVIATE_HTTP"), ",") {
		cfg.HTTP = append(cfg.HTTP, "http://"+host)
	}
	cfg.Replicas = min(2, len(cfg.GRPC))
	cfg.Prefix = fmt.Sprintf("T%dx%d", os.Getpid(), stores.Add(1))
	cfg.Dir = t.TempDir()
	t.Cleanup(func() { wipe(t, cfg) })
	return cfg
}

// wipe removes all that a test made.
func wipe(t testing.TB, cfg Config) {
	c, err := dial(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	classes, err := c.classes(ctx, cfg.Prefix+separator)
	for _, def := range classes {
		err = errors.Join(err, c.deleteClass(ctx, fmt.Sprint(def["class"])))
	}
	if err := errors.Join(err, c.close()); err != nil {
		t.Error(err)
	}
}

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store { return open(t, clusterConfig(t)) }, storetest.Deltas,
		storetest.Exports)
}
