package weaviate

import (
	"errors"
	"fmt"
	"regexp"
	"time"

	pb "github.com/weaviate/weaviate/grpc/generated/protocol/v1"
)

// Config says which cluster holds the knowledge graphs, and how. Start from
// DefaultConfig.
type Config struct {
	// GRPC are host:port of the nodes, or one name of which DNS knows them all.
	GRPC []string `koanf:"grpc"`
	// HTTP are their base URLs, for the schema: "http://weaviate:8080".
	HTTP []string `koanf:"http"`
	// APIKey is sent with every call; empty sends none.
	APIKey string `koanf:"api_key"`
	// TLS secures gRPC. HTTP is secured by its URLs.
	TLS bool `koanf:"tls"`
	// Prefix begins the names of all collections, so that a cluster can be
	// shared: a capital and up to 20 letters and digits.
	Prefix string `koanf:"prefix"`
	// Dir is a directory of this machine. Loads put together there what they
	// then send, and the name indexes of open snapshots lie there.
	Dir string `koanf:"dir"`
	// Shards is into how many parts a collection is divided, 0 takes one per
	// node. Replicas is how many nodes hold each part.
	Shards   int `koanf:"shards"`
	Replicas int `koanf:"replicas"`
	// Consistency is how many replicas a read asks: "ONE", "QUORUM" or "ALL". An
	// answer that does not add up is asked for again at the next level.
	Consistency string `koanf:"consistency"`
	// Timeout bounds one attempt of a read, Attempts how many there are. A
	// batch of a load has ten times as long.
	Timeout  time.Duration `koanf:"timeout"`
	Attempts int           `koanf:"attempts"`
	// Exact is up to how many triples a snapshot has an index that compares
	// every vector. A greater one has HNSW, whose search looks at EF candidates
	// and whose graph has Connections links a node, built with EFConstruction.
	Exact          int `koanf:"exact"`
	EF             int `koanf:"ef"`
	EFConstruction int `koanf:"ef_construction"`
	Connections    int `koanf:"connections"`
	// Batch is how many rows are sent at a time, InFlight how many batches at
	// most are under way.
	Batch    int `koanf:"batch"`
	InFlight int `koanf:"in_flight"`
	// Grace is how long a dropped snapshot is kept for questions under way.
	Grace time.Duration `koanf:"grace"`
	// CacheBytes is about how much of each open snapshot is remembered.
	CacheBytes int `koanf:"cache_bytes"`
}

// DefaultConfig is for a cluster of which no node is named yet.
func DefaultConfig() Config {
	return Config{
		Prefix: "Triplemesh", Replicas: 1, Consistency: "ONE",
		Timeout: 5 * time.Second, Attempts: 5,
		Exact: 10_000, EF: 256, EFConstruction: 128, Connections: 32,
		Batch: 500, InFlight: 8, Grace: time.Minute, CacheBytes: 256 << 20,
	}
}

var prefixes = regexp.MustCompile(`^[A-Z][A-Za-z0-9]{0,20}$`)

// Check names the first setting that cannot be. It is not called Validate: where
// another kind of store is chosen, nothing here has to be set.
func (c Config) Check() error {
	switch {
	case len(c.GRPC) == 0:
		return errors.New("weaviate.grpc is empty; name host:port of at least one node")
	case len(c.HTTP) == 0:
		return errors.New("weaviate.http is empty; name the URL of at least one node, such as http://weaviate:8080")
	case !prefixes.MatchString(c.Prefix):
		return fmt.Errorf("weaviate.prefix %q: want a capital and up to 20 letters and digits", c.Prefix)
	case c.Dir == "":
		return errors.New("weaviate.dir is empty; name a directory of this machine")
	case c.Shards < 0, c.Replicas < 1:
		return fmt.Errorf("weaviate.shards %d and replicas %d: want 0 or more and 1 or more", c.Shards, c.Replicas)
	case c.Timeout <= 0, c.Attempts < 1:
		return fmt.Errorf("weaviate.timeout %v and attempts %d: want more than 0", c.Timeout, c.Attempts)
	case c.EF < 1, c.EFConstruction < 4, c.Connections < 4:
		return fmt.Errorf("weaviate.ef %d, ef_construction %d and connections %d: want at least 1, 4 and 4", c.EF, c.EFConstruction, c.Connections)
	case c.Batch < 1, c.InFlight < 1:
		return fmt.Errorf("weaviate.batch %d and in_flight %d: want more than 0", c.Batch, c.InFlight)
	}
	if _, ok := levels[c.Consistency]; !ok {
		return fmt.Errorf("weaviate.consistency %q: want ONE, QUORUM or ALL", c.Consistency)
	}
	return nil
}

var levels = map[string]pb.ConsistencyLevel{
	"ONE":    pb.ConsistencyLevel_CONSISTENCY_LEVEL_ONE,
	"QUORUM": pb.ConsistencyLevel_CONSISTENCY_LEVEL_QUORUM,
	"ALL":    pb.ConsistencyLevel_CONSISTENCY_LEVEL_ALL,
}
