package retriever

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/triplemesh/triplemesh/internal/server"
	"github.com/triplemesh/triplemesh/internal/telemetry"
	"github.com/triplemesh/triplemesh/services/retriever/rank"
)

// Config is the configuration of the retriever.
type Config struct {
	Server    server.Config    `koanf:"server"`
	Telemetry telemetry.Config `koanf:"telemetry"`
	// Store configures the store of the knowledge graphs.
	Store StoreConfig `koanf:"store"`
	// Encoder configures the encoder.
	Encoder EncoderConfig `koanf:"encoder"`
	// Grounding holds the grounding options by knowledge graph; "*" applies to all others.
	Grounding map[string]GroundingConfig `koanf:"grounding"`
	// Ranker is auto, or off: then no ranker ranks relation paths, and none can be stored.
	Ranker string `koanf:"ranker"`
}

// Values of Config.Ranker.
const autoRanker, noRanker = "auto", "off"

// DefaultConfig serves on port 9092 and uses the directories of a checkout.
func DefaultConfig() Config {
	return Config{
		Server:    server.DefaultConfig("127.0.0.1:9092"),
		Telemetry: telemetry.DefaultConfig(),
		Store:     defaultStore(),
		Encoder:   defaultEncoder(),
		Ranker:    autoRanker,
	}
}

// Validate returns an error that names the first invalid setting.
func (c Config) Validate() error {
	if err := c.Store.validate(); err != nil {
		return err
	}
	if _, err := newGroundingDefaults(c.Grounding); err != nil {
		return err
	}
	if c.Ranker != autoRanker && c.Ranker != noRanker {
		return fmt.Errorf("ranker: got %q, want %s or %s", c.Ranker, autoRanker, noRanker)
	}
	return c.Encoder.validate()
}

// Run serves until ctx is done.
func Run(ctx context.Context, cfg Config) (err error) {
	var open closers
	// The stage closes them if it started to serve; closing twice does nothing.
	defer func() { err = errors.Join(err, open.Close()) }()
	return server.Run(ctx, "retriever", cfg.Telemetry, cfg.Server, func(tel *telemetry.Telemetry) (_ server.Service,
		err error) {
		enc, closeEncoder, err := newEncoder(ctx, cfg.Encoder, tel.Logger())
		if err != nil {
			return nil, err
		}
		open.add(closeEncoder)
		stored, err := openBackend(cfg.Store, tel)
		if err != nil {
			return nil, err
		}
		open.add(stored.Close)
		graphs, err := cfg.Store.wrapShared(stored)
		if err != nil {
			return nil, err
		}
		service, err := New(graphs, enc, cfg.Grounding, tel)
		if err != nil {
			return nil, err
		}
		knowledgeGraphs := NewKnowledgeGraphs(graphs, enc, cfg.Store.scratchDir())
		if service.rankers.sharedBy, err = cfg.Store.sharedTenant(); err != nil {
			return nil, err
		}
		if cfg.Ranker == autoRanker {
			shipped, err := rank.Shipped()
			if err != nil {
				return nil, err
			}
			service.SetRanker(shipped)
			service.rankers.stored = newRankerStore(cfg.Store.rankerDir())
			knowledgeGraphs.rankers = &service.rankers
		}
		services := server.Services{service, knowledgeGraphs}
		return struct {
			server.Services
			*closers
		}{services, &open}, nil
	})
}

// closers close resources in reverse order, each once.
type closers []func() error

func (c *closers) add(close func() error) { *c = append(*c, close) }

func (c *closers) Close() error {
	var errs []error
	for _, close := range slices.Backward(*c) {
		errs = append(errs, close())
	}
	*c = nil
	return errors.Join(errs...)
}
